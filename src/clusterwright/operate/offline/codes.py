"""What each code of this package means: `clusterwright explain CW8021`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8021": Meaning(
        "There is no key that signs the bundle",
        "Nodes take packages only from a repository whose key their operator gave them.",
        "bundle lab.yaml --offline --out site --key nobody@example.com",
    ),
    "CW8022": Meaning(
        "The vendor has no signed apt repository",
        "Some publish files on a page only. What somebody fetched by hand goes into the folder `added`.",
        "versions: {apptainer: 1.4.5}",
    ),
    "CW8025": Meaning(
        "A package is in no repository that could be read",
        "The bundle is made without it; its nodes cannot be installed before it is there.",
        "a release that the vendor took back",
    ),
    "CW8026": Meaning(
        "Packages cannot be installed together",
        "apt's own words name what is missing, or what is in the way.",
        "a locked package that needs a newer library than the distribution has",
    ),
    "CW8027": Meaning(
        "Python's wheels could not be fetched",
        "They are what clusterwright itself is installed from, by the hashes of its lock file.",
        "bundle lab.yaml --offline --out site, where no package index is reached",
    ),
    "CW8028": Meaning(
        "A package could not be fetched",
        "It is checked against the index that its repository signed.",
        "a connection that broke",
    ),
    "CW8029": Meaning(
        "The output folder cannot be used",
        "It cannot be written to, or another bundle is being collected there.",
        "bundle lab.yaml --offline --out /proc/site",
    ),
    "CW8030": Meaning(
        "This distribution's packages are not collected",
        "A bundle is an apt repository. A site of Red Hat's family has tools of its own for mirrors.",
        "bundle cluster.yaml --offline --out site, with software: {distribution: rocky-9}",
    ),
    "CW8031": Meaning(
        "A container image could not be fetched",
        "skopeo's own words are in the finding. It compares what the registry sends with the digest.",
        "images: ['registry.example.org/team/tool:1.0@sha256:…'], where the registry asks for a login",
    ),
    "CW8140": Meaning(
        "The digest of a container image is not known",
        "Some components come as images. The bundle is made without those that nothing but a tag names.",
        "bundle gcp-a3-mega.yaml --offline --out site",
    ),
}

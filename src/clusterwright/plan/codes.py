"""What each code of this package means: `clusterwright explain CW1351`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW1200": Meaning(
        "The description cannot be planned",
        "A program planned a description that it had not checked. The checks say what is wrong and where.",
        "plan(spec) without check(spec)",
    ),
    "CW1351": Meaning(
        "A rehearsal cannot have these nodes",
        "A rehearsal is the same cluster with fewer nodes, so it has the same pools and none is larger.",
        "up --lab cluster.yaml --nodes gpu=64",
    ),
    "CW1352": Meaning(
        "A rehearsal differs here",
        "The lab boots one distribution and has no servers outside; what differs is listed (a note).",
        "up --lab cluster.yaml, with software: {distribution: ubuntu-24.04}",
    ),
    "CW1361": Meaning(
        "An unknown component",
        "The catalog of software has no component of this name.",
        "versions: {drivre: 580}",
    ),
    "CW1362": Meaning(
        "Not a version", "A wish is a version or a range of versions.", "versions: {cuda: ~=13}"
    ),
    "CW1363": Meaning(
        "A version that nobody released",
        "No release in the catalog is what was asked for, on whichever distribution.",
        "versions: {driver: 999}",
    ),
    "CW1364": Meaning(
        "A component that no pool is for",
        "Machines without NVIDIA GPUs have no use for its driver, nor for what stands on it.",
        "versions: {driver: 580}, on machines with AMD GPUs",
    ),
    "CW1365": Meaning(
        "Wishes and facts that cannot be true together",
        "The finding names the smallest set of them: take any away, and there is an answer.",
        "versions: {driver: 580, fabric_manager: 570}",
    ),
    "CW1366": Meaning("The lock cannot be read", "`clusterwright lock` writes it; nobody edits it.", ""),
    "CW1367": Meaning(
        "Packages that nobody named",
        "The release is known to fit, but not how it is packaged there (a note).",
        "",
    ),
    "CW1368": Meaning(
        "A package version that no source tells",
        "The version of the component is known, but not the exact one of its package (a note).",
        "",
    ),
    "CW1369": Meaning(
        "A wish for what comes from elsewhere",
        "Versions can be chosen only of what the catalog of software has.",
        "software: {slurm_repository: …, versions: {slurm: 25.11}}",
    ),
    "CW1370": Meaning(
        "A package without a repository",
        "It is locked and will be asked for, and no row of the catalog tells where it comes from, or its "
        "vendor hands it out as an archive or as files, which no package manager reads.",
        "lock, of a machine that needs GDRCopy: a site builds its packages itself",
    ),
    "CW1388": Meaning(
        "An image without a digest",
        "A part of it is a container image whose digest no source tells: its tag is believed (a note).",
        "lock, of a3-megagpu-8g",
    ),
    "CW1389": Meaning(
        "A release that lacks an image",
        "A part of it is a container image, and no source tells which one goes with the release.",
        "",
    ),
}

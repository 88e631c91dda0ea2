"""What each code of this package means: `clusterwright explain CW8001`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8001": Meaning(
        "Somebody works on this cluster",
        "One writer at a time: two would undo each other's work. The finding names the process.",
        "two `up` at the same moment",
    ),
    "CW8002": Meaning(
        "There is no such cluster",
        "A name is that of a cluster that was brought up from here; `list` shows them.",
        "status lba",
    ),
    "CW8003": Meaning(
        "`up` does not build on this provider yet",
        "It builds labs. `plan`, `diff` and `render` work for every provider, and so does `up --lab`.",
        "up aws-p5.yaml",
    ),
    "CW8004": Meaning(
        "A file that the description names cannot be read",
        "Hooks, certificates and secrets of file systems are named relative to the description.",
        "hooks: [{at: before-configure, script: absent.sh}]",
    ),
    "CW8005": Meaning(
        "The image could not be installed",
        "A task failed on the builder; the finding names it, and the run's folder has everything it said.",
        "a package that the mirror does not have",
    ),
    "CW8006": Meaning(
        "Running jobs would be lost",
        "A node is never taken from its jobs unless --disturb says so. --roll waits for them, node by node.",
        "node replace lab gpu-001, while a job runs there",
    ),
    "CW8007": Meaning(
        "The cluster is half-made",
        "No `up` of it has finished, so there is nothing to look at yet. `up` goes on where it stopped.",
        "status lab, after `up` was killed",
    ),
    "CW8008": Meaning(
        "The description is not recorded",
        "The record of where the cluster came from is damaged or gone; name the file once.",
        "up lab, with source.json removed",
    ),
    "CW8009": Meaning(
        "There is no controller to ask",
        "Slurm's state lives there.",
        "status lab, with its controller removed",
    ),
    "CW8010": Meaning(
        "Slurm refused a change of a node",
        "Slurm's own words are in the finding.",
        "node resume, of a dead node",
    ),
    "CW8011": Meaning(
        "Not a node set", "Nodes are written as Slurm writes them: gpu-001, gpu-[001-004].", "gpu-[001"
    ),
    "CW8012": Meaning(
        "Not a node of this cluster",
        "Only what the description names can be worked on; raise the pool's count to have more.",
        "node add lab gpu-099",
    ),
    "CW8013": Meaning(
        "The node does not exist now",
        "It is described, and its machine is not there.",
        "ssh lab gpu-003, before `up`",
    ),
    "CW8014": Meaning(
        "The lock is out of date",
        "The description or the catalog changed since `clusterwright lock` wrote it.",
        "versions: {cuda: 13}, with a lock that has CUDA 12",
    ),
    "CW8015": Meaning(
        "Only simulated hardware can be broken",
        "`node break` is for finding out that a fault is found.",
        "node break prod gpu-001 ecc",
    ),
    "CW8016": Meaning(
        "No such fault",
        "`clusterwright node break CLUSTER` lists every fault.",
        "node break lab gpu-001 eccc",
    ),
    "CW8017": Meaning(
        "Software would go down in place",
        "A package that is downgraded may not read what the newer one left. Keep the newer one, or let "
        "--rebuild make the nodes anew from an image.",
        "versions: {driver: 580}, while the nodes run 595",
    ),
    "CW8018": Meaning(
        "A node did not come through a change",
        "Its gates failed after it was changed; it stays drained, and when it is the first of its pool no "
        "other is touched. The same command goes on once it is mended.",
        "up lab --roll, where the first node's NVLink is down afterwards",
    ),
    "CW8019": Meaning(
        "Jobs outlasted the wait",
        "No job is ended for a rolling change. The nodes take jobs again; run it later, or wait longer.",
        "up lab --roll --wait 1h, with a job that runs for a day",
    ),
    "CW8040": Meaning(
        "What runs stays",
        "Without a lock beside the description nobody reviewed another version, so a cluster keeps those "
        "that it has, as far as they fit.",
        "up cluster.yaml, after a release was added to the catalog",
    ),
    "CW8020": Meaning(
        "A program that collects packages is not installed, or failed",
        "apt resolves and fetches, apt-ftparchive makes the index, gpg signs it.",
        "bundle lab.yaml --offline --out site, on a machine without apt",
    ),
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
    "CW8023": Meaning(
        "A vendor's key is not the one that is known",
        "Nothing is taken from a repository whose key nobody could compare with a published fingerprint.",
        "a vendor that exchanged its key",
    ),
    "CW8024": Meaning(
        "A repository does not answer, or is not signed as it should be",
        "apt's own words are in the finding. Of the other repositories everything was taken.",
        "a proxy that does not let the vendor's host through",
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
    "CW8051": Meaning(
        "The bundle's pointer could not be signed",
        "ssh-keygen signs it with the cluster's own key, which never leaves the operator's machine.",
        "a signing key that only another user may read",
    ),
    "CW8052": Meaning(
        "The nodes' Python packages could not be fetched",
        "Nodes that pull run the roles themselves. Their wheels are fetched once, by the lock's hashes.",
        "converge: pull, where no package index is reached",
    ),
    "CW8053": Meaning(
        "A node's secrets could not be encrypted",
        "Each node's are encrypted to its SSH host key with age: the store never has them in the clear.",
        "converge: pull, without the package age",
    ),
    "CW8054": Meaning(
        "The image could not be given the Python that runs the roles",
        "It is made on the builder from the wheels, by the program that would make it on a node.",
        "a builder whose disk is full",
    ),
    "CW8055": Meaning(
        "Nodes that pull are not rolled",
        "Each waits for its own jobs before it changes, and a canary of its pool goes first.",
        "up lab-pull --roll",
    ),
    "CW8056": Meaning(
        "A machine did not show its host key",
        "Its reports are trusted, and its secrets encrypted, by the key that the cloud saw it print at boot.",
        "a machine that did not boot, or an image without cloud-init",
    ),
    "CW8057": Meaning(
        "Another key signs here than the one that machines trust",
        "User data names the public key that the stack is configured with; this machine signs with its own.",
        "pulumi up on a machine without the cluster's keys",
    ),
    "CW8060": Meaning(
        "A locked build is in no repository any more",
        "A distribution's archive keeps the newest build of a kernel and drops the one before.",
        "versions: {kernel: 6.12.107}, after the next update for security",
    ),
    "CW8061": Meaning(
        "The key that signs kernel modules cannot be used",
        "`software.module_signing` names a private key and its certificate, which are looked at first.",
        "software: {module_signing: {key: mok.key, certificate: other.pem}}",
    ),
}

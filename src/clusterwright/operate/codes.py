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
        "Hooks and certificates are named relative to the description.",
        "hooks: [{at: before-configure, script: absent.sh}]",
    ),
    "CW8005": Meaning(
        "The image could not be installed",
        "A task failed on the builder; the finding names it, and the run's folder has everything it said.",
        "a package that the mirror does not have",
    ),
    "CW8006": Meaning(
        "Running jobs would be lost",
        "A node is never taken from its jobs unless --disturb says so. Drain it first.",
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
    "CW8015": Meaning(
        "Only simulated hardware can be broken",
        "`node break` is for finding out that a fault is found.",
        "node break prod gpu-001 ecc",
    ),
    "CW8014": Meaning(
        "The lock is out of date",
        "The description or the catalog changed since `clusterwright lock` wrote it.",
        "versions: {cuda: 13}, with a lock that has CUDA 12",
    ),
}

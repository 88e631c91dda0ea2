"""What each code of this package means: `clusterwright explain CW8260`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8260": Meaning(
        "The controller waits for its state",
        "Its disk has none, and a backup has. With an empty queue slurmctld would end every job that nodes "
        "still run, so it does not start before you say what it starts with.",
        "node replace lab controller, with `scheduler.backup`",
    ),
    "CW8261": Meaning(
        "This cluster takes no backups",
        "`scheduler.backup` says where to, and `up` brings the controller what it needs for it.",
        "backup now lab, without `scheduler.backup`",
    ),
    "CW8262": Meaning(
        "There is no such backup",
        "Only one that is whole can be restored; `backup list` shows them, and what is wrong with others.",
        "backup restore lab 20260101T000000Z",
    ),
    "CW8263": Meaning(
        "The backup was not restored",
        "It is of another cluster, of a newer Slurm or damaged, or a step failed: the finding has the words "
        "of the controller. A restore that was interrupted is done again from its beginning.",
        "backup restore lab, after Slurm was taken back to an older release",
    ),
    "CW8264": Meaning(
        "No backup was taken",
        "What is there already stays as it is.",
        "backup now lab, while the share is full",
    ),
    "CW8265": Meaning(
        "The controller cannot be asked about backups",
        "They are taken, listed and restored there.",
        "backup list lab, while the controller is down",
    ),
    "CW8306": Meaning(
        "Another controller would take over during a restore",
        "Jobs and node states lie on a share that all controllers have. While they are exchanged no "
        "slurmctld may run, and this one answers Slurm but not SSH.",
        "backup restore superpod, while the second controller refuses SSH",
    ),
}

"""Backups of the controller's state."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import mounted_shares, share_of
from clusterwright.spec.pool import Role
from clusterwright.spec.storage import ExistingNfs, Served

_FIELD = "scheduler.backup.folder"
_ELSEWHERE = "Name a folder within a share that another machine serves"
_SHORT_LIVED = ("/tmp", "/run", "/dev", "/proc", "/sys", "/var/tmp", "/var/run")
_SAVED = ("/var/spool/slurmctld", "/var/lib/mysql")


@rule(
    "CW1730",
    "Backups on the disk that they are of",
    source="a disk that fails takes both; a share of the controller's own lies on the same machine",
    example="scheduler: {backup: {folder: /var/backups/slurm}}",
    severity=Severity.WARNING,
)
def same_disk(outline: Outline) -> Iterator[Problem]:
    """They help against a mistake, and not against the loss of the controller."""
    share = _share(outline)
    if share is None and _folder(outline) and not _lost(outline):
        yield Problem(_FIELD, f"{_folder(outline)} is on the controller's own disk", _ELSEWHERE)
    elif share and isinstance(mounted_shares(outline.spec)[share], Served) and controller_serves(outline):
        what = f"{share} is served by the controller itself"
        yield Problem(_FIELD, what, "Add a pool with the role `storage`, or name an NFS server")


@rule(
    "CW1731",
    "Backups on a share that the controller does not mount",
    source="parallel file systems and buckets are for where people and jobs are: compute and login nodes",
    example="storage: {shares: {/scratch: {kind: lustre, …}}}, scheduler: {backup: {folder: /scratch/slurm}}",
)
def not_mounted(outline: Outline) -> Iterator[Problem]:
    """The folder would be one on the controller's own disk, under a name that says otherwise."""
    share = _share(outline)
    if share and not isinstance(mounted_shares(outline.spec)[share], Served | ExistingNfs):
        what = f"{share} is mounted on compute and login nodes only"
        yield Problem(_FIELD, what, "Name a folder within a share of kind `nfs` or `served`")


@rule(
    "CW1732",
    "Backups where nothing stays",
    source="Filesystem Hierarchy Standard 3.0; slurm.conf(5) StateSaveLocation",
    example="scheduler: {backup: {folder: /tmp/slurm}}",
)
def lost(outline: Outline) -> Iterator[Problem]:
    """A reboot empties these folders, or a restore does, which clears the folder that it fills."""
    if _lost(outline):
        what = f"what lies in {_folder(outline)} does not stay there"
        yield Problem(_FIELD, what, _ELSEWHERE)


@rule(
    "CW1733",
    "Backups in the middle of a share",
    source="each cluster makes a folder of its name there, which root alone may read",
    example="scheduler: {backup: {folder: /home}}",
    severity=Severity.WARNING,
)
def top_of_share(outline: Outline) -> Iterator[Problem]:
    """The folder of the cluster's name would lie among people's own."""
    folder = _folder(outline)
    if folder in outline.spec.storage.shares and not _lost(outline):
        yield Problem(_FIELD, f"{folder} is a whole share", f"Write {folder}/backups, say")


def _folder(outline: Outline) -> str:
    backup = outline.spec.scheduler.backup
    return backup.folder if backup else ""


def _share(outline: Outline) -> str | None:
    """The share that the folder is in."""
    return share_of(outline.spec, _folder(outline))


def _lost(outline: Outline) -> bool:
    return f"{_folder(outline)}/".startswith(tuple(f"{path}/" for path in (*_SHORT_LIVED, *_SAVED)))


def controller_serves(outline: Outline) -> bool:
    """Whether no other machine serves what the cluster serves itself."""
    return all(Role.CONTROLLER in pool.roles for _, pool in outline.pools_with(Role.STORAGE))

"""Several controllers, and where they keep the state that they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from clusterwright.checks.backup import controller_serves
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import mounted_shares, seen_from, share_of
from clusterwright.spec.pool import Role
from clusterwright.spec.storage import ExistingNfs, Served

_FIELD = "scheduler.state"
_ELSEWHERE = "Name a folder within a share of kind `nfs`, or of kind `served` beside a storage node"


def _controllers(outline: Outline) -> int:
    return sum(outline.count(name) for name, _ in outline.pools_with(Role.CONTROLLER))


@rule(
    "CW1232",
    "Several controllers without a state that they share",
    source="slurm.conf(5) SlurmctldHost, StateSaveLocation: who takes over reads what the other wrote",
    example="pools: {controller: {roles: controller, count: 2}}, without `scheduler.state`",
)
def no_shared_state(outline: Outline) -> Iterator[Problem]:
    """The second one would take over with an empty queue, and end every job that nodes still run."""
    before = 0
    for name, _ in outline.pools_with(Role.CONTROLLER):
        before += outline.count(name)
        if before > 1 and not outline.spec.scheduler.state:
            remedy = (
                "Say in `scheduler.state` where both find it, or keep one controller: see docs/controllers.md"
            )
            yield Problem(f"pools.{name}", f"{before} controllers, and no `scheduler.state`", remedy)


@rule(
    "CW1790",
    "State on a share, of nodes that are made anew",
    source="clusterwright: a cloud keeps a controller's state on a volume, and makes the machine anew",
    example="site: {provider: aws, …}, scheduler: {state: /home/slurm}",
)
def not_for_clouds(outline: Outline) -> Iterator[Problem]:
    """It is for own machines, and for the lab where it is tried: controllers stay, and are pushed to."""
    sites = {outline.site_names[name] for name, _ in outline.pools_with(Role.CONTROLLER)}
    clouds = sorted({outline.sites[site].provider for site in sites if site} - {"onprem", "lab"})
    pulls = outline.spec.converge == "pull"
    if outline.spec.scheduler.state and (clouds or pulls):
        what = f"a controller is on {clouds[0]}" if clouds else "nodes pull"
        remedy = "Remove it, and keep one controller" + ("" if clouds else ", or write `converge: push`")
        yield Problem(_FIELD, f"{what}, and controllers share their state only where neither is so", remedy)


@rule(
    "CW1791",
    "State that dies with a controller",
    source="slurm.conf(5) StateSaveLocation: both controllers must have it, whichever of them is dead",
    example="scheduler: {state: /var/spool/slurmctld}",
)
def not_served_elsewhere(outline: Outline) -> Iterator[Problem]:
    """What the other one is to take over would be gone, or not mounted there."""
    folder = outline.spec.scheduler.state
    if folder is None:
        return
    sites = [outline.site_names[name] for name, _ in outline.pools_with(Role.CONTROLLER)]
    spec = seen_from(outline.spec, next(iter(sites), None) or "")
    share = share_of(spec, folder)
    kind = mounted_shares(spec)[share] if share else None
    if share is None:
        yield Problem(_FIELD, f"{folder} is on a controller's own disk", _ELSEWHERE)
    elif not isinstance(kind, Served | ExistingNfs):
        yield Problem(_FIELD, f"{share} is mounted on compute and login nodes only", _ELSEWHERE)
    elif isinstance(kind, Served) and controller_serves(outline) and not _played(outline):
        yield Problem(_FIELD, f"{share} is served by a controller itself", _ELSEWHERE)


def _played(outline: Outline) -> bool:
    """The machine that a lab runs on has its shares, and no node serves any."""
    return all(site.provider == "lab" for site in outline.sites.values())


@rule(
    "CW1792",
    "Controllers that stand in one rack",
    source="a rack's PDUs, its switch and its cooling fail as one",
    example="pools: {controller: {count: 2, racks: {names: r1, nodes_per_rack: 2}}}",
    severity=Severity.WARNING,
)
def one_rack(outline: Outline) -> Iterator[Problem]:
    """The second one is there for when the first is lost, and would be lost with it."""
    pools = {name for name, _ in outline.pools_with(Role.CONTROLLER)}
    for floor in outline.floors:
        stand: dict[str, list[str]] = defaultdict(list)
        for rack in floor.racks.values():
            for one in rack.placed:
                if one.kind.sort == "node" and one.kind.group in pools:
                    stand[rack.name].append(one.name)
        for rack_name, names in stand.items():
            if len(names) == _controllers(outline) > 1:
                what = f"{' and '.join(sorted(names))} stand in the rack '{rack_name}'"
                yield Problem(_racks(outline), what, "Put them into two racks, on two feeds where there are")


def _racks(outline: Outline) -> str:
    first, _ = next(outline.pools_with(Role.CONTROLLER))
    return f"pools.{first}.racks"


@rule(
    "CW1793",
    "Accounting on the disk of the first controller alone",
    source="clusterwright: slurmdbd and MariaDB run on the first one; slurm.conf(5) AccountingStorageHost",
    example="pools: {controller: {roles: controller, count: 2}}, without `scheduler.backup`",
    severity=Severity.WARNING,
)
def database_unsaved(outline: Outline) -> Iterator[Problem]:
    """Another controller goes on with the queue; what ended before is lost with the first one's disk."""
    scheduler = outline.spec.scheduler
    if _controllers(outline) > 1 and scheduler.state and scheduler.accounting and not scheduler.backup:
        what = "the accounting database is on one disk, and no backup is taken of it"
        yield Problem(_FIELD, what, "Say in `scheduler.backup` where to, on the same share for instance")


@rule(
    "CW1794",
    "State among other things",
    source="clusterwright: a folder of the cluster's name is made there, which slurmctld alone has",
    example="scheduler: {state: /home}",
)
def among_others(outline: Outline) -> Iterator[Problem]:
    """A restore clears it, and a backup inside would save itself."""
    folder, backup = outline.spec.scheduler.state, outline.spec.scheduler.backup
    if folder is None:
        return
    if folder in outline.spec.storage.shares:
        yield Problem(_FIELD, f"{folder} is a whole share", f"Write {folder}/slurm, say")
    elif backup and _overlap(folder, backup.folder):
        yield Problem(
            _FIELD, f"{folder} and the backups' {backup.folder} lie in each other", "Name two folders"
        )


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")

"""Several controllers: what they share is never left behind, and they are not all away at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff

_FIELD = "scheduler.state"


def refuse_to_leave_state(before: Handoff, now: Handoff) -> None:
    """Raises Refused where slurmctld would start without the state or the database that it had."""
    old, new = before.with_role("controller"), now.with_role("controller")
    several = len(old) > 1 or len(new) > 1
    if several and old and new and old[0].name != new[0].name:
        what = f"{new[0].name} would be the first controller, and {old[0].name} has the database"
        raise refuse("CW8307", Where(path="pools"), what, f"Let {old[0].name} stand before {new[0].name}")
    was, wanted = before.scheduler.get("state"), now.scheduler.get("state")
    if not was or was == wanted:
        return
    what = f"Slurm's state is in {was}"
    if several:
        remedy = "Keep one controller first: run `up` with the others removed, then change it"
        raise refuse("CW8305", Where(path=_FIELD), f"{what}, where several controllers have it", remedy)
    if not wanted and not now.scheduler.get("backup"):
        remedy = "Keep it, or switch on `scheduler.backup`, take one, and restore it afterwards"
        raise refuse("CW8305", Where(path=_FIELD), f"{what}, and no backup would bring it back", remedy)


def apart(handoff: Handoff, nodes: Collection[str]) -> Iterator[list[str]]:
    """Nodes that are away together: of several controllers, one after the other."""
    controllers = [node.name for node in handoff.with_role("controller") if node.name in nodes]
    one_by_one = controllers if len(handoff.with_role("controller")) > 1 else []
    if others := sorted({*nodes} - {*one_by_one}):
        yield others
    yield from ([name] for name in reversed(one_by_one))

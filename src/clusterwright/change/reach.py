"""Which nodes a change of the whole cluster's properties touches."""

from __future__ import annotations

from clusterwright.handoff import Handoff

_ROLE_OF_UNIT = {
    "slurmctld": "controller",
    "slurmdbd": "controller",
    "slurmrestd": "controller",
    "mariadb": "controller",
    "prometheus": "controller",
    "slurmd": "compute",
    "sackd": "login",
}
_OF_THE_FIRST = {"slurmdbd", "mariadb"}
"""Of several controllers, the first has the database."""
BY_POOL = {
    "scheduler.mig": "compute",
    "scheduler.mps": "compute",
    "scheduler.shards": "compute",
    "software.treatments": "",
}
"""Properties by pool, and the role of the nodes that they are for; nothing is for all of a pool."""
BY_SITE = {"storage.sites"}
"""Properties by site."""
_ON_THE_CONTROLLER = ("fabric.", "scheduler.")


def running(handoff: Handoff, unit: str) -> tuple[str, ...]:
    """Nodes that run a daemon; every node, when it belongs to no role."""
    role = _ROLE_OF_UNIT.get(unit)
    nodes = handoff.with_role(role) if role else handoff.nodes
    return tuple(node.name for node in (nodes[:1] if unit in _OF_THE_FIRST else nodes))


def reach(handoff: Handoff, path: str, name: str, units: tuple[str, ...]) -> tuple[str, ...]:
    """Nodes that a property touches: those of the daemons that restart, else where it is read."""
    if path in BY_POOL:
        role = BY_POOL[path]
        return tuple(n.name for n in handoff.nodes if n.pool == name and (not role or role in n.roles))
    if path in BY_SITE:
        return tuple(node.name for node in handoff.nodes if node.site == name)
    if units:
        touched = {name for unit in units for name in running(handoff, unit)}
        return tuple(node.name for node in handoff.nodes if node.name in touched)
    if path.startswith(_ON_THE_CONTROLLER):
        return running(handoff, "slurmctld")
    return tuple(node.name for node in handoff.nodes)

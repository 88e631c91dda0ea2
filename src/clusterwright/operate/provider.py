"""Which provider makes a cluster's machines."""

from __future__ import annotations

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.machines import Machines
from clusterwright.spec.cluster import ClusterSpec


def machines_of(spec: ClusterSpec) -> Machines:
    """The machines of a description. Raises Refused for a provider that `up` does not build on."""
    sites = {**({"main": spec.site} if spec.site else {}), **spec.sites}
    return _machines(spec.cluster, {name: site.provider for name, site in sites.items()})


def machines_of_cluster(handoff: Handoff) -> Machines:
    """The machines of a cluster that was brought up."""
    return _machines(handoff.name, {name: str(site["provider"]) for name, site in handoff.site.items()})


def machines_by_name(name: str) -> Machines:
    """The machines of a cluster that has no hand-off yet: only a lab can be half-made here."""
    return _machines(name, {"main": "lab"})


def _machines(name: str, providers: dict[str, str]) -> Machines:
    others = sorted({provider for provider in providers.values() if provider != "lab"})
    if others:
        raise refuse(
            "CW8003",
            Where(path="site.provider"),
            f"`clusterwright up` does not build on {', '.join(others)} yet",
            "Rehearse it in the lab with `clusterwright up --lab`; `plan` and `render` work as they are",
        )
    from clusterwright.operate.lab import LabMachines

    return LabMachines(name, tuple(providers))

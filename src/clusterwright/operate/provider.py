"""Which provider makes or holds a cluster's machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.machines import Machines

if TYPE_CHECKING:
    from clusterwright.spec.cluster import ClusterSpec


def machines_of(spec: ClusterSpec) -> Machines:
    """The machines of a description. Raises Refused for a provider that `up` does not build on."""
    return _machines(spec.cluster, providers_of(spec))


def providers_of(spec: ClusterSpec) -> dict[str, str]:
    """Site → provider."""
    sites = {**({"main": spec.site} if spec.site else {}), **spec.sites}
    return {name: site.provider for name, site in sites.items()}


def machines_of_cluster(handoff: Handoff) -> Machines:
    """The machines of a cluster that was brought up."""
    return _machines(handoff.name, {name: str(site["provider"]) for name, site in handoff.site.items()})


def machines_by_name(name: str) -> Machines:
    """The machines of a cluster that has no hand-off yet: what is half-made here is a lab, or one's own."""
    from clusterwright.operate.own.record import Record

    own = Record(ClusterHome.of(name)).read()
    return _machines(name, {"main": "onprem" if own else "lab"})


def _machines(name: str, providers: dict[str, str]) -> Machines:
    kinds = {*providers.values()}
    # Beside own machines, those of a linked site are reached as they are; a stack makes them.
    others = sorted(kinds - {"lab", "onprem", *(("aws",) if "onprem" in kinds else ())})
    if others or kinds > {"lab"}:
        raise refuse(
            "CW8003",
            Where(path="site.provider"),
            f"machines on {', '.join(others or sorted(kinds))} are not made and reached from here",
            "Rehearse it in the lab with `clusterwright up --lab`; `plan`, `render` and `pulumi up` work as "
            "they are",
        )
    if "onprem" in kinds:
        from clusterwright.operate.own.machines import OwnMachines

        return OwnMachines(ClusterHome.of(name), tuple(providers))
    from clusterwright.operate.lab.machines import LabMachines

    return LabMachines(name, tuple(providers))

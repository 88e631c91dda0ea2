"""A description as a Pulumi stack: what its provider makes, and the outputs that are the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pulumi

from clusterwright.finding import refuse
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.providers.lab.resource import Cluster
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import load

Outputs = Mapping[str, pulumi.Input[str]]


def build(file: Path) -> Outputs:
    """Declare the cluster's resources. Raises Refused with every finding before it declares any."""
    loaded = load(file)
    spec = loaded.spec
    providers = {site.provider for site in (spec.site, *spec.sites.values()) if site}
    if providers == {"lab"}:
        return _lab(spec, file)
    if providers == {"onprem"}:
        return _onprem(spec)
    wanted = " and ".join(sorted(providers))
    what = f"a stack cannot build {wanted} yet: it builds a lab, or describes your own machines (onprem)"
    remedy = f"Rehearse it on this machine with `clusterwright up --lab {file.name}`"
    raise refuse("CW7100", loaded.where("site" if spec.site else "sites"), what, remedy)


def _lab(spec: ClusterSpec, file: Path) -> Outputs:
    plan(spec)
    cluster = Cluster(spec.cluster, file)
    return {
        "cluster": cluster.handoff,
        "login_address": cluster.login,
        "ssh_command": f"clusterwright ssh {spec.cluster}",
    }


def _onprem(spec: ClusterSpec) -> Outputs:
    """The machines exist already: nothing is made, and the hand-off follows from the description alone."""
    handoff = from_plan(plan(spec))
    entry = (*handoff.with_role("login"), *handoff.with_role("controller"))[0]
    return {
        "cluster": handoff.dumps(),
        "login_address": entry.address,
        "ssh_command": f"ssh {entry.address}",
    }

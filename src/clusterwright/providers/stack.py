"""A description as a Pulumi stack: what its provider makes, and the outputs that are the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pulumi

from clusterwright.checks import check
from clusterwright.finding import Refused, Severity, refuse
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.providers.lab.resource import Cluster
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import LoadedSpec, load

Outputs = Mapping[str, pulumi.Input[str]]


def build(file: Path) -> Outputs:
    """Declare the cluster's resources. Raises Refused with every finding before it declares any."""
    loaded = load(file)
    providers = {site.provider for site in (loaded.spec.site, *loaded.spec.sites.values()) if site}
    if providers not in ({"lab"}, {"onprem"}):
        raise _not_built(loaded, " and ".join(sorted(providers)))
    findings = check(loaded.spec, where=loaded.where)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    for finding in findings:
        pulumi.warn(str(finding))
    return _lab(loaded.spec, file) if providers == {"lab"} else _onprem(loaded.spec)


def _not_built(loaded: LoadedSpec, providers: str) -> Refused:
    return refuse(
        "CW7100",
        loaded.where("site" if loaded.spec.site else "sites"),
        f"a stack cannot make a cluster on {providers} yet: it makes a lab, or describes your own machines",
        f"Rehearse it on this machine with `clusterwright up --lab {Path(loaded.file).name}`",
    )


def _lab(spec: ClusterSpec, file: Path) -> Outputs:
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

"""A description as a Pulumi stack: what its provider makes, and the outputs that are the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from clusterwright.finding import Finding, Refused, Severity, refuse
from clusterwright.handoff import from_plan
from clusterwright.plan.model import ClusterPlan
from clusterwright.plan.software.asked import Place
from clusterwright.providers.acceptance import Acceptance
from clusterwright.providers.lab.resource import Cluster as LabCluster
from clusterwright.spec.cluster import ClusterSpec

if TYPE_CHECKING:
    from clusterwright.providers.aws import Cluster as AwsCluster
    from clusterwright.providers.gcp import Cluster as GcpCluster

Outputs = Mapping[str, pulumi.Input[str]]
_CLOUDS = {"aws": "pulumi_aws", "gcp": "pulumi_gcp"}
"""Providers whose SDK is an extra of this package, and its module."""


def build(file: Path, planned: ClusterPlan, where: Place) -> Outputs:
    """Declare the resources of a plan; `where` tells the line of a path of its description, `file`."""
    providers = [site.provider for site in planned.sites]
    if len(providers) > 1 and set(providers) != {"lab"} and set(providers) != {"onprem"}:
        raise _several(file, where)
    match providers[0]:
        case "lab":
            return _lab(planned.spec, file)
        case "onprem":
            return _onprem(planned)
        case cloud:
            return _cloud(file, planned, where, cloud)


def _several(file: Path, where: Place) -> Refused:
    return refuse(
        "CW7100",
        where("sites"),
        "a stack makes the machines of one cloud, and nothing joins the networks of two",
        f"Rehearse it on this machine with `clusterwright up --lab {file.name}`",
    )


def _cloud(file: Path, planned: ClusterPlan, where: Place, provider: str) -> Outputs:
    if find_spec(_CLOUDS[provider]) is None:
        remedy = f"Run `pip install 'clusterwright[{provider}]'`"
        what = f"Pulumi's SDK for {provider} is not installed"
        raise refuse("CW7101", where("site"), what, remedy)
    pulls = planned.spec.converge == "pull"
    if not pulls:
        what = "the stack makes machines that wait for somebody who logs in and converges them"
        remedy = "Write `converge: pull` where the distribution can, or run the playbooks on the hand-off"
        pulumi.warn(str(Finding("CW7103", where("converge"), what, remedy, Severity.WARNING)))
    signer = _signer(where)
    cluster = _made(provider)(planned.spec.cluster, planned, signer=signer)
    if pulls and pulumi.Config("clusterwright").get_bool("accept") is not False:
        Acceptance(
            planned.spec.cluster,
            file=file,
            handoff=cluster.handoff,
            provider=provider,
            region=cluster.region,
            bucket=cluster.store,
            url=cluster.url,
            signer=signer,
            machines=cluster.machines,
            # What nodes need on their way and nothing else names: routes, endpoints, file systems.
            opts=pulumi.ResourceOptions(depends_on=[cluster]),
        )
    return _outputs(cluster)


def _made(provider: str) -> type[AwsCluster] | type[GcpCluster]:
    """Each SDK takes its time to import, and a stack needs one of them."""
    if provider == "aws":
        from clusterwright.providers.aws import Cluster as AwsCluster

        return AwsCluster
    from clusterwright.providers.gcp import Cluster as GcpCluster

    return GcpCluster


def _outputs(cluster: AwsCluster | GcpCluster) -> Outputs:
    return {
        "cluster": cluster.handoff,
        "login_address": cluster.login_address,
        "ssh_command": cluster.ssh_command,
    }


def _signer(where: Place) -> str:
    """The public key that signs bundles: the stack names it, because its private half is the operator's."""
    signer = pulumi.Config("clusterwright").get("signer")
    if not signer or not signer.startswith("ssh-"):
        raise refuse(
            "CW7102",
            where("site"),
            "the stack does not name the public key whose signature nodes are to trust",
            'Run `pulumi config set clusterwright:signer "$(cat …/signing_ed25519.pub)"`, see docs/pulumi.md',
        )
    return " ".join(signer.split()[:2])


def _lab(spec: ClusterSpec, file: Path) -> Outputs:
    cluster = LabCluster(spec.cluster, file)
    return {
        "cluster": cluster.handoff,
        "login_address": cluster.login,
        "ssh_command": f"clusterwright ssh {spec.cluster}",
    }


def _onprem(planned: ClusterPlan) -> Outputs:
    """The machines exist already: nothing is made, and the hand-off follows from the description alone."""
    handoff = from_plan(planned)
    entry = (*handoff.with_role("login"), *handoff.with_role("controller"))[0]
    return {
        "cluster": handoff.dumps(),
        "login_address": entry.address,
        "ssh_command": f"ssh {entry.address}",
    }

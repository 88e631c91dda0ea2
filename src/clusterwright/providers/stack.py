"""A description as a Pulumi stack: what its provider makes, and the outputs that are the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from clusterwright.checks import check
from clusterwright.finding import Refused, Severity, refuse
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.providers.lab.resource import Cluster as LabCluster
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import LoadedSpec, load

if TYPE_CHECKING:
    from clusterwright.providers.aws import Cluster as AwsCluster
    from clusterwright.providers.gcp import Cluster as GcpCluster

Outputs = Mapping[str, pulumi.Input[str]]
_CLOUDS = {"aws": "pulumi_aws", "gcp": "pulumi_gcp"}
"""Providers whose SDK is an extra of this package, and its module."""


def build(file: Path) -> Outputs:
    """Declare the cluster's resources. Raises Refused with every finding before it declares any."""
    loaded = load(file)
    providers = [site.provider for site in (loaded.spec.site, *loaded.spec.sites.values()) if site]
    if len(providers) > 1 and set(providers) != {"lab"} and set(providers) != {"onprem"}:
        raise _several(loaded)
    findings = check(loaded.spec, where=loaded.where)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    for finding in findings:
        pulumi.warn(str(finding))
    match providers[0]:
        case "lab":
            return _lab(loaded.spec, file)
        case "onprem":
            return _onprem(loaded.spec)
        case cloud:
            return _cloud(loaded, cloud)


def _several(loaded: LoadedSpec) -> Refused:
    return refuse(
        "CW7100",
        loaded.where("sites"),
        "a stack makes the machines of one cloud, and nothing joins the networks of two",
        f"Rehearse it on this machine with `clusterwright up --lab {Path(loaded.file).name}`",
    )


def _cloud(loaded: LoadedSpec, provider: str) -> Outputs:
    if find_spec(_CLOUDS[provider]) is None:
        remedy = f"Run `pip install 'clusterwright[{provider}]'`"
        what = f"Pulumi's SDK for {provider} is not installed"
        raise refuse("CW7101", loaded.where("site"), what, remedy)
    planned = plan(loaded.spec)
    cluster = _made(provider)(planned.spec.cluster, planned, signer=_signer(loaded))
    return {
        "cluster": cluster.handoff,
        "login_address": cluster.login_address,
        "ssh_command": cluster.ssh_command,
    }


def _made(provider: str) -> type[AwsCluster] | type[GcpCluster]:
    """Each SDK takes its time to import, and what one stack needs is one of them."""
    if provider == "aws":
        from clusterwright.providers.aws import Cluster as AwsCluster

        return AwsCluster
    from clusterwright.providers.gcp import Cluster as GcpCluster

    return GcpCluster


def _signer(loaded: LoadedSpec) -> str:
    """The public key that signs bundles: the stack names it, because its private half is the operator's."""
    signer = pulumi.Config("clusterwright").get("signer")
    if not signer or not signer.startswith("ssh-"):
        raise refuse(
            "CW7102",
            loaded.where("site"),
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


def _onprem(spec: ClusterSpec) -> Outputs:
    """The machines exist already: nothing is made, and the hand-off follows from the description alone."""
    handoff = from_plan(plan(spec))
    entry = (*handoff.with_role("login"), *handoff.with_role("controller"))[0]
    return {
        "cluster": handoff.dumps(),
        "login_address": entry.address,
        "ssh_command": f"ssh {entry.address}",
    }

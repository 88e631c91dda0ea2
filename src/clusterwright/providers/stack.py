"""A description as a Pulumi stack: what its provider makes, and the outputs that are the same for all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from clusterwright.finding import Finding, Refused, Severity, refuse
from clusterwright.handoff import from_plan, loads
from clusterwright.plan.builders import Recipe, builders
from clusterwright.plan.linked import linked
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


@contextmanager
def refused_as_error() -> Iterator[None]:
    """A program that is refused ends the stack with every finding, and no trace."""
    try:
        yield
    except Refused as refused:
        raise pulumi.RunError("\n".join(map(str, refused.findings))) from None


def declare(
    file: Path, planned: ClusterPlan, findings: Iterable[Finding], where: Place, recipes: Sequence[Recipe]
) -> None:
    """The whole program: resources, warnings and outputs."""
    outputs = build(file, planned, where, recipes)
    for finding in findings:
        pulumi.warn(str(finding))
    for name, value in outputs.items():
        pulumi.export(name, value)


def build(file: Path, planned: ClusterPlan, where: Place, recipes: Sequence[Recipe] = ()) -> Outputs:
    """Declare the resources of a plan; `where` tells the line of a path of its description, `file`.

    With `recipes`, not its machines but those that become their images."""
    providers = [site.provider for site in planned.sites]
    if len({*providers}) > 1 or (len(providers) > 1 and providers[0] in _CLOUDS):
        return _beside_own(file, planned, where, recipes)
    match providers[0]:
        case "lab" | "onprem" if recipes:
            raise _no_images(where)
        case "lab":
            return _lab(planned.spec, file)
        case "onprem":
            return _onprem(planned)
        case cloud:
            return _cloud(file, planned, where, cloud, recipes)


def _beside_own(file: Path, planned: ClusterPlan, where: Place, recipes: Sequence[Recipe]) -> Outputs:
    """Of own machines and one cloud: the machines of that, which wait to be pushed to as all the others."""
    part = linked(planned.spec)
    if part is None:
        raise refuse(
            "CW7100",
            where("sites"),
            "a stack makes the machines of one cloud, and nothing joins the networks of two",
            f"Rehearse it on this machine with `clusterwright up --lab {file.name}`",
        )
    if recipes:
        raise _no_images(where)
    _refuse_without_sdk(part.provider, where)
    from clusterwright.providers.aws import Cluster as AwsCluster

    return _outputs(AwsCluster(planned.spec.cluster, planned, operator=_operator(where)))


def _operator(where: Place) -> str:
    """The public key of who pushes: its private half is kept with the cluster's other keys."""
    key = pulumi.Config("clusterwright").get("operator")
    if not key or not key.startswith("ssh-"):
        raise refuse(
            "CW7106",
            where("sites"),
            "the stack does not name the public key that is to open the machines of its cloud",
            'Run `pulumi config set clusterwright:operator "$(cat …/machines_ed25519.pub)"`, docs/hybrid.md',
        )
    return " ".join(key.split()[:2])


def _no_images(where: Place) -> Refused:
    what = "images are built in clouds, and in a lab by `clusterwright up` itself"
    return refuse("CW7104", where("site.provider"), what, "Take `clusterwright:image` out of the stack file")


def _cloud(
    file: Path, planned: ClusterPlan, where: Place, provider: str, recipes: Sequence[Recipe]
) -> Outputs:
    _refuse_without_sdk(provider, where)
    pulls = planned.spec.converge == "pull"
    if not pulls:
        what = "the stack makes machines that wait for somebody who logs in and converges them"
        remedy = "Write `converge: pull` where the distribution can, or run the playbooks on the hand-off"
        pulumi.warn(str(Finding("CW7103", where("converge"), what, remedy, Severity.WARNING)))
    if recipes and not pulls:
        what = "a builder installs what it pulls, and these machines are pushed to"
        raise refuse("CW7104", where("converge"), what, "Write `converge: pull`")
    signer, roll = _signer(where), _roll(where)
    made = builders(planned, tuple(recipes)) if recipes else planned
    cluster = _made(provider)(made.spec.cluster, made, signer=signer, builds=planned if recipes else None)
    if pulls and pulumi.Config("clusterwright").get_bool("accept") is not False:
        accepted = Acceptance(
            made.spec.cluster,
            file=file,
            handoff=cluster.handoff,
            provider=provider,
            region=cluster.region,
            bucket=cluster.store,
            url=cluster.url,
            signer=signer,
            machines=cluster.machines,
            groups=pulumi.Output.all(**cluster.groups) if cluster.groups else None,
            becomes="image" if recipes else None,
            roll=None if recipes else roll,
            # What nodes need on their way and nothing else names: routes, endpoints, file systems.
            opts=pulumi.ResourceOptions(depends_on=[cluster]),
        )
        if recipes:
            made_of = pulumi.Output.all(**cluster.images(recipes, accepted).ids)
            return {"images": made_of.apply(lambda ids: json.dumps(ids, sort_keys=True))}
        if cluster.groups:
            return {**_outputs(cluster), "cluster": _addressed(cluster.handoff, accepted.addresses)}
    return _outputs(cluster)


def _refuse_without_sdk(provider: str, where: Place) -> None:
    if find_spec(_CLOUDS[provider]) is None:
        remedy = f"Run `pip install 'clusterwright[{provider}]'`"
        what = f"Pulumi's SDK for {provider} is not installed"
        raise refuse("CW7101", where("site"), what, remedy)


def _addressed(handoff: pulumi.Output[str], found: pulumi.Output[dict[str, str]]) -> pulumi.Output[str]:
    """With the addresses of members of groups, which are known once they have names."""
    return pulumi.Output.all(handoff, found).apply(lambda known: loads(known[0]).at(known[1]).dumps())


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


def _roll(where: Place) -> int | None:
    """How many nodes of a pool at a time take up what disturbs jobs; None for all of them."""
    asked = pulumi.Config("clusterwright").get("roll")
    if asked is None or (asked.isdecimal() and int(asked)):
        return int(asked) if asked else None
    what = f"`clusterwright:roll` of the stack is '{asked}', and no number of nodes"
    raise refuse("CW7105", where("site"), what, "Run `pulumi config set clusterwright:roll 1`, or remove it")


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

"""AWS: a network without a way out, and what must be inside then."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.images import with_session_manager
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.aws.identity import is_door
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import AwsSite


def _sites(outline: Outline) -> Iterator[tuple[str, AwsSite]]:
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, AwsSite))


def _closed(outline: Outline) -> Iterator[str]:
    """Sites that nodes cannot leave, not through a proxy either."""
    if outline.spec.surroundings.http_proxy is None:
        yield from (name for name, site in _sites(outline) if not site.nat)


@rule(
    "CW1216",
    "No way out, and no packages inside",
    source="a node installs packages of its distribution, and of vendors where it has GPUs or a fabric",
    example="site: {provider: aws, nat: false, …}, without `surroundings.package_mirror`",
)
def nothing_to_install_from(outline: Outline) -> Iterator[Problem]:
    """Nodes would come up, wait for package servers that they cannot reach, and never be accepted."""
    for name in _closed(outline):
        field = site_field(name, "nat")
        if outline.spec.surroundings.package_mirror is None:
            remedy = "Set `surroundings.package_mirror`, or leave `nat` out"
            yield Problem(field, "nodes reach no package server of the distribution", remedy)
        if outline.spec.software.mirror is None and any(
            kind and (kind.hardware.gpus or kind.fabric_gbps) for kind in outline.types.values()
        ):
            remedy = "Set `software.mirror` (`clusterwright bundle --offline` makes one), or leave `nat` out"
            yield Problem(field, "nodes reach no package server of a vendor", remedy)


@rule(
    "CW1217",
    "No way out, and nobody who knows the time",
    source="Amazon EC2 User Guide, Amazon Time Sync Service: 169.254.169.123 inside every VPC",
    example="site: {provider: aws, nat: false, …}, without `surroundings.time_servers`",
    severity=Severity.WARNING,
)
def no_time(outline: Outline) -> Iterator[Problem]:
    """Clocks of nodes drift apart, and the gate takes them out of the queue one by one."""
    for name in _closed(outline):
        if not outline.spec.surroundings.time_servers:
            what = "the distribution's time servers are outside"
            yield Problem(site_field(name, "nat"), what, "Set `surroundings.time_servers: [169.254.169.123]`")


@rule(
    "CW1218",
    "Ways of a network that is somebody else's",
    source="nothing is made in a VPC that exists: it has the ways out and the endpoints that it has",
    example="site: {provider: aws, vpc: {…}, endpoints: [logs], …}",
)
def somebody_elses_network(outline: Outline) -> Iterator[Problem]:
    """They would not be made, and who reads the description would think that they are."""
    for name, site in _sites(outline):
        if site.vpc is not None:
            for key in ("nat", "endpoints"):
                if key in site.model_fields_set:
                    remedy = f"Leave `{key}` out, and see to it in that network"
                    yield Problem(
                        site_field(name, key), f"'{key}' is for a network that is made here", remedy
                    )


@rule(
    "CW1219",
    "Session Manager without its agent",
    source="AWS Systems Manager User Guide, Find AMIs with the SSM Agent preinstalled",
    example="site: {provider: aws, session_manager: true, …}, software: {distribution: debian-13}",
)
def no_agent(outline: Outline) -> Iterator[Problem]:
    """Nobody comes in: sessions end in an agent on the machine, and the images of few have it."""
    distribution = outline.spec.software.distribution
    if distribution in with_session_manager():
        return
    for name, site in _sites(outline):
        bare = [
            pool
            for pool, spec in outline.spec.pools.items()
            if outline.site_names[pool] == name and is_door(outline.spec, spec.roles) and not spec.image
        ]
        if site.session_manager and bare:
            what = f"the image of {distribution} has no agent, and people come in at pool '{bare[0]}'"
            remedy = f"Name one that has it (`image: ami-…`), or take {', '.join(with_session_manager())}"
            yield Problem(site_field(name, "session_manager"), what, remedy)

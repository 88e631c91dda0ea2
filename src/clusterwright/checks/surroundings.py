"""Proxy, certificates, time and a site's own steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import OnpremSite


@rule(
    "CW1321",
    "A path that leaves the description's folder",
    source="what a cluster is made from stands beside its description: reviewed and bundled with it",
    example="hooks: [{at: after-configure, run: ../other/setup.sh}]",
)
def path_leaves_folder(outline: Outline) -> Iterator[Problem]:
    """A file elsewhere is not in the repository, and is another one on another machine."""
    surroundings, repository = outline.spec.surroundings, outline.spec.software.slurm_repository
    paths = {f"hooks.{index}.run": hook.run for index, hook in enumerate(outline.spec.hooks)}
    for index, path in enumerate(surroundings.certificate_authorities):
        paths[f"surroundings.certificate_authorities.{index}"] = path
    if repository is not None:
        paths["software.slurm_repository.key"] = repository.key
    for name, site in outline.sites.items():
        if isinstance(site, OnpremSite) and site.bmc.authority:
            paths[site_field(name, "bmc.authority")] = site.bmc.authority
    for mount, share in outline.spec.storage.shares.items():
        for name in ("keyring", "connection_auth"):
            if secret := getattr(share, name, None):
                paths[f"storage.shares.{mount}.{name}"] = secret
    if surroundings.directory and surroundings.directory.bind:
        paths["surroundings.directory.bind.password"] = surroundings.directory.bind.password
    for field, path in paths.items():
        if path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts:
            what = f"'{path}' is not in the folder of the description"
            yield Problem(field, what, "Put the file beside the description")


@rule(
    "CW1322",
    "A step twice at one point",
    source="a step runs once at its point on each of its pools",
    example="hooks: [{at: after-configure, run: a.sh}, {at: after-configure, run: a.sh}]",
    severity=Severity.WARNING,
)
def hook_twice(outline: Outline) -> Iterator[Problem]:
    """The same script would run twice on the same nodes: a slip in nearly all cases."""
    seen: set[tuple[str, str, str]] = set()
    for index, hook in enumerate(outline.spec.hooks):
        places = {(hook.at, hook.run, pool) for pool in hook.pools or outline.spec.pools}
        if places & seen:
            what = f"'{hook.run}' runs {hook.at} on these nodes already"
            yield Problem(f"hooks.{index}.run", what, "Keep one of them")
        seen |= places


@rule(
    "CW1323",
    "Exceptions from a proxy that is not there",
    source="no_proxy only says where http_proxy does not apply",
    example="surroundings: {no_proxy: [.example.org]}",
    severity=Severity.WARNING,
)
def no_proxy_without_proxy(outline: Outline) -> Iterator[Problem]:
    """Without `http_proxy` everything is reached directly; the list has no effect."""
    surroundings = outline.spec.surroundings
    if surroundings.no_proxy and surroundings.http_proxy is None:
        what = "'no_proxy' without 'http_proxy' has no effect"
        yield Problem("surroundings.no_proxy", what, "Add `http_proxy`, or remove it")


@rule(
    "CW1324",
    "The package mirror is reached through the proxy",
    source="a mirror stands in the same network as a rule, and a proxy does not",
    example="surroundings: {http_proxy: 'http://proxy:3128', package_mirror: 'http://mirror/debian'}",
    severity=Severity.NOTE,
)
def mirror_through_proxy(outline: Outline) -> Iterator[Problem]:
    """Every node would load every package through the proxy, which is slower and may be refused."""
    surroundings = outline.spec.surroundings
    mirrors = {"package_mirror": surroundings.package_mirror, "security_mirror": surroundings.security_mirror}
    for field, url in mirrors.items():
        if surroundings.http_proxy is None or url is None:
            continue
        host = url.partition("//")[2].partition("/")[0].partition(":")[0]
        direct = any(host == name or host.endswith(f".{name.lstrip('*.')}") for name in surroundings.no_proxy)
        if not direct:
            what = f"packages of '{host}' go through the proxy"
            yield Problem(f"surroundings.{field}", what, f"Add '{host}' to 'no_proxy' if it is near")


@rule(
    "CW1326",
    "A mirror of security updates only",
    source="a node's list of package servers is replaced as a whole, or not at all",
    example="surroundings: {security_mirror: 'http://mirror/debian-security'}",
    severity=Severity.WARNING,
)
def security_mirror_alone(outline: Outline) -> Iterator[Problem]:
    """Without `package_mirror` nodes keep the distribution's own servers, that of security updates too."""
    surroundings = outline.spec.surroundings
    if surroundings.security_mirror and surroundings.package_mirror is None:
        what = "'security_mirror' without 'package_mirror' has no effect"
        yield Problem("surroundings.security_mirror", what, "Add `package_mirror`, or remove it")


@rule(
    "CW1325",
    "Two time servers",
    source="RFC 8633 §3.2: with two sources there is no majority; use one, or four and more",
    example="surroundings: {time_servers: [ntp1, ntp2]}",
    severity=Severity.WARNING,
)
def two_time_servers(outline: Outline) -> Iterator[Problem]:
    """When the two disagree nobody can tell which is wrong; Slurm's credentials fail on skewed clocks."""
    if len(set(outline.spec.surroundings.time_servers)) == 2:
        what = "two time servers cannot outvote a wrong one"
        yield Problem("surroundings.time_servers", what, "Give one, or four")


@rule(
    "CW1298",
    "A signing key that is lent to nodes that pull",
    source="a key that is in a bundle or a secret of each node is on each node for good",
    example="converge: pull, software: {module_signing: {key: mok.key, certificate: mok.pem}}",
)
def signing_key_and_pull(outline: Outline) -> Iterator[Problem]:
    """The key is placed in a node's memory while packages are installed, and taken away: only push can."""
    if outline.spec.converge == "pull" and outline.spec.software.module_signing:
        what = "nodes that pull install packages by themselves, and would have to keep the signing key"
        yield Problem(
            "software.module_signing", what, "Write `converge: push`, or leave signing to DKMS's own key"
        )

"""WEKA: where its client runs, what it is installed from, and the cores that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog import weka
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.parallel import Weka


def _shares(outline: Outline) -> Mapping[str, Weka]:
    return {
        f"storage.shares.{mount}": share
        for mount, share in outline.spec.storage.shares.items()
        if isinstance(share, Weka)
    }


@rule(
    "CW1289",
    "WEKA's client is not for this distribution",
    source="catalog/data/weka_clients.csv",
    example="software: {distribution: debian-12}, storage: {shares: {/scratch: {kind: weka, …}}}",
)
def not_for_this_distribution(outline: Outline) -> Iterator[Problem]:
    """Its driver is built for kernels that its vendor names; elsewhere the mount fails. A lab plays it."""
    distribution = outline.spec.software.distribution
    if weka.suits(distribution) or any(site.provider == "lab" for site in outline.sites.values()):
        return
    others = ", ".join(sorted(name for name in weka.why_not() if weka.suits(name)))
    reason = weka.why_not().get(distribution) or "its vendor does not list it"
    for field in _shares(outline):
        yield Problem(f"{field}.kind", f"{distribution}: {reason}", f"Take one of: {others}")


@rule(
    "CW1290",
    "An installer that nothing vouches for",
    source="WEKA documentation, add clients: a script that a backend hands out over HTTP installs the agent",
    example="/scratch: {kind: weka, backends: [weka1], file_system: scratch}",
    severity=Severity.WARNING,
)
def installer_without_digest(outline: Outline) -> Iterator[Problem]:
    """Every node runs it as root. With its SHA-256, what somebody else in the network answers is not run."""
    for field, share in _shares(outline).items():
        if share.installer_sha256 is None:
            what = "the backends' installer is run without a check"
            yield Problem(field, what, "State `installer_sha256`, taken on a machine that you trust")


@rule(
    "CW1291",
    "Two WEKA clusters for one client",
    source="WEKA documentation, mount filesystems from multiple clusters on a single client",
    example="/a: {kind: weka, backends: [weka1], …}, /b: {kind: weka, backends: [other1], …}",
)
def two_clusters(outline: Outline) -> Iterator[Problem]:
    """A client's container joins one cluster: the second mount fails. Each needs a container of its own."""
    seen: dict[str, tuple[str, list[str]]] = {}
    for field, share in _shares(outline).items():
        named = [word for word in share.options.split(",") if word.startswith("container_name=")]
        container = named[0] if named else ""
        first, backends = seen.setdefault(container, (field, sorted(share.backends)))
        if backends != sorted(share.backends):
            what = f"'{first.removeprefix('storage.shares.')}' has other backends, and the same container"
            remedy = (
                "Give each cluster a container: `options: container_name=NAME`, or write the same backends"
            )
            yield Problem(f"{field}.backends", what, remedy)


@rule(
    "CW1292",
    "Cores that Slurm gives away as well",
    source="WEKA documentation, mount command options (dedicated_mode); WEKA and Slurm integration",
    example="/scratch: {kind: weka, interfaces: [ib0], options: dedicated_mode=full, …}",
    severity=Severity.WARNING,
)
def cores_taken_twice(outline: Outline) -> Iterator[Problem]:
    """A dedicated core is polled without a pause, and Slurm, which does not know, puts tasks on it."""
    for field, share in _shares(outline).items():
        if "dedicated_mode=full" in share.options.split(","):
            what = "the client keeps its cores busy, and jobs are put on them too"
            yield Problem(f"{field}.options", what, "Leave `dedicated_mode` out: cores are shared then")

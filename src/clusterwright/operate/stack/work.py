"""A stack that is being worked on: what it is to become, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.own.trust import Trust
from clusterwright.operate.prepare import Described, Prepared, described, prepare
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.source import Source
from clusterwright.operate.stack.beside import stack_name
from clusterwright.operate.stack.changes import title
from clusterwright.operate.stack.failures import ACCEPTANCE, refused
from clusterwright.operate.stack.folder import StackFolder
from clusterwright.operate.stack.left import as_findings, left
from clusterwright.operate.stack.locks import unlocked
from clusterwright.plan.linked import linked
from clusterwright.providers.engine.executable import lacks
from clusterwright.spec.cluster import ClusterSpec

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept
    from clusterwright.providers.engine.stack import Stack

CLOUDS = ("aws", "gcp")


@dataclass(frozen=True)
class StackWork:
    """One cluster on a cloud; the lock of its stack is held."""

    home: ClusterHome
    source: Source
    prepared: Prepared
    stack: Stack
    before: Kept
    """What the state holds as the work begins."""

    unsure: tuple[Finding, ...] = ()
    """What an earlier run was killed over, where nobody could look whether it is there."""

    @property
    def name(self) -> str:
        return self.home.name


def cloud_of(spec: ClusterSpec) -> str | None:
    """The cloud that a stack makes the whole cluster on; None for labs, own machines and a mixture."""
    sites = [spec.site] if spec.site else list(spec.sites.values())
    providers = {site.provider for site in sites}
    return next(iter(providers)) if len(sites) == 1 and providers <= {*CLOUDS} else None


@contextmanager
def begun(source: Source, report: Report, *, accept: bool, roll: int = 0) -> Iterator[StackWork]:
    """Everything that is refused without asking a cloud is refused here, before anything is made.

    `roll`: so many nodes of a pool at a time take up what disturbs jobs; 0 leaves it as it was published."""
    description = described(source)
    home = ClusterHome.of(stack_name(description.spec))
    prepared = _prepared(description, home)
    with home.locked("stack"):
        stack = StackFolder(home).stack(report)
        source.record(home)
        stack.configure(_config(source, home, description.spec, accept=accept, roll=roll))
        report(Event("stack", "started", "the state of the cluster is read"))
        with refused(home.name):
            stack.open()
            before = stack.kept()
        if linked(description.spec) is None:
            refuse_another_signer(before, Signing.of(home))
        unsure = _settle_pending(prepared.plan.spec, stack, before) if before.pending else ()
        yield StackWork(home, source, prepared, stack, before, unsure)


def _prepared(description: Described, home: ClusterHome) -> Prepared:
    spec = description.spec
    part = linked(spec)
    provider = part.provider if part else cloud_of(spec)
    assert provider is not None, "asked for before"
    _refuse_another_kind(home)
    prepared = prepare(description)
    if lacking := list(lacks(provider, description.loaded.where("site"))):
        raise Refused(lacking)
    return prepared


def _refuse_another_kind(home: ClusterHome) -> None:
    if home.exists() and home.handoff_file.exists() and not StackFolder(home).exists():
        handoff = home.handoff()
        providers = {str(site["provider"]) for site in handoff.site.values()} if handoff else set()
        if others := sorted(providers - {*CLOUDS}):
            what = f"a cluster of this name is there already, on {', '.join(others)}"
            remedy = f"Run `clusterwright destroy {home.name}` first, or write another `cluster:` name"
            raise refuse("CW8081", Where(path=home.name), what, remedy)


def refuse_another_signer(kept: Kept, signing: Signing) -> None:
    """The machines trust one key. A change of it says so: the old one is revoked."""
    for acceptance in kept.of_type(ACCEPTANCE):
        trusted = str(acceptance.outputs.get("signer") or "")
        if trusted and trusted not in (signing.public, *signing.revoked):
            raise refuse(
                "CW8057",
                Where(str(signing.key)),
                "this is not the key whose signature the cluster's machines trust",
                f"Put the cluster's folder `keys` there, with the private half of `{trusted}`",
            )


def _settle_pending(spec: ClusterSpec, stack: Stack, kept: Kept) -> tuple[Finding, ...]:
    """What was being made when a run was killed. Raises Refused with what the cloud has of it.

    A second machine of the same node would be paid for beside the first."""
    begun = [title(one.type, one.name) for one in kept.pending if one.op == "creating"]
    try:
        found = as_findings(left(spec, kept), spec)
    except Refused:
        what = "was being made when an earlier run was killed, and the cloud may not be asked for it"
        remedy = f"Look with `clusterwright leaks {spec.cluster}`, once these credentials may"
        return tuple(Finding("CW8093", Where(path=one), what, remedy, Severity.WARNING) for one in begun)
    if found and begun:
        raise Refused(replace(one, severity=Severity.ERROR) for one in found)
    with refused(spec.cluster):
        unlocked(stack, stack.forget_pending)
    return ()


def _config(
    source: Source, home: ClusterHome, spec: ClusterSpec, *, accept: bool, roll: int
) -> Mapping[str, str]:
    if linked(spec):
        opens = Trust(ClusterHome.of(spec.cluster)).key.with_suffix(".pub").read_text()
        return {"cluster": str(source.file.resolve()), "operator": opens.strip()}
    return {
        **({"roll": str(roll)} if roll else {}),
        "cluster": str(source.file.resolve()),
        "signer": Signing.of(home).public,
        "accept": "true" if accept else "false",
    }

"""A cluster whose nodes nobody logs in to: publish what they should be, and wait for their reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.catalog.changes import Impact
from clusterwright.change import diff
from clusterwright.converge.result import NodeResult
from clusterwright.event import Report
from clusterwright.finding import Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.need import needs
from clusterwright.operate.pull.converge import Pulling
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.reports import NodeReport, Reports
from clusterwright.operate.pull.secrets import unmet
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.render import NodeFile, render

SILENCE_SECONDS = 3600.0
"""A machine that installs everything at its first boot builds its driver for long without a word."""


@dataclass(frozen=True, slots=True)
class Far:
    """Machines of a cloud, and the store between them and this one."""

    store: Store
    machines: Mapping[str, str]
    """Node → ID of its machine."""
    introduction: Introduction
    signer: str
    """The public key that the machines trust."""
    host_keys: Mapping[str, str] = field(default_factory=dict)
    """Of nodes whose machines introduced themselves before."""
    silence: float = SILENCE_SECONDS


@dataclass(frozen=True, slots=True)
class Settled:
    """How each node came out, and the host key that it showed."""

    nodes: Mapping[str, NodeResult]
    host_keys: Mapping[str, str]


def settle(far: Far, before: Handoff | None, handoff: Handoff, folder: Path, report: Report) -> Settled:
    """Publish and wait. `before` is what was applied last, `folder` the description's.

    Raises Refused before anything is published."""
    if findings := unmet():
        raise Refused(findings)
    home = ClusterHome.of(handoff.name)
    with home.locked():
        _refuse_another_signer(home, far.signer)
        keys = far.introduction.host_keys(far.machines, far.host_keys, report)
        files = render(handoff)
        desired = Desired(home, handoff, files, folder)
        impacts = _impacts(before or home.handoff(), handoff, files)
        pulling = Pulling(far.store, desired, keys, {}, report, lambda: None, far.silence)
        results = pulling.run(sorted(keys), {}, impacts, full=False)
        if all(result.status in ("ok", "changed") for result in results.values()):
            home.record_applied(handoff, files)
    return Settled(results, keys)


def _impacts(before: Handoff | None, handoff: Handoff, files: tuple[NodeFile, ...]) -> Mapping[str, Impact]:
    """What a change costs each node. Where nobody knows what they are now, they give up their jobs first."""
    if before is None:
        return dict.fromkeys(handoff.by_name, Impact.DRAIN)
    changes = diff(before, handoff, render(before), files)
    return {name: need.impact for name, need in needs(before, handoff, changes, {}).items()}


def _refuse_another_signer(home: ClusterHome, signer: str) -> None:
    own = Signing.of(home)
    if own.public.split()[:2] != signer.split()[:2]:
        raise refuse(
            "CW8057",
            Where(str(own.key)),
            "this is not the key whose signature the stack's machines trust",
            f"Put the private half of `{signer}` there, or set `clusterwright:signer` to its .pub and make "
            "the machines anew",
        )


def reports_of(far: Far) -> Mapping[str, NodeReport]:
    """What nodes said last, of those whose host key is known."""
    return Reports(far.store, far.host_keys).now()

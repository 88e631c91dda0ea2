"""A cluster whose nodes nobody logs in to: publish what they should be, and wait for their reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.accept.result import Acceptance
from clusterwright.bundle.turns import InTurn
from clusterwright.catalog.changes import Impact
from clusterwright.change import diff
from clusterwright.converge.result import NodeResult
from clusterwright.event import Report
from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.need import needs
from clusterwright.operate.prove import prove_within
from clusterwright.operate.pull.converge import Pulling
from clusterwright.operate.pull.crowds import Groups
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.members import name_members
from clusterwright.operate.pull.proof import Proof, Waiting, proof_in
from clusterwright.operate.pull.reports import NodeReport, Reports
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
    groups: Groups | None = None
    """Of machines that are not in `machines`, because nobody made them one by one."""
    members: Mapping[str, str] = field(default_factory=dict)
    """Node → ID of the machine of a group that had its name last."""
    roll: int = 0
    """So many of a pool at a time give up their jobs; 0 leaves it as it was published."""
    silence: float = SILENCE_SECONDS


@dataclass(frozen=True, slots=True)
class Settled:
    """How each node came out, and the host key that it showed."""

    nodes: Mapping[str, NodeResult]
    host_keys: Mapping[str, str]
    acceptance: Acceptance | None = None
    """What the gates of the cluster found; None where not every node was accepted by itself."""
    members: Mapping[str, str] = field(default_factory=dict)
    """Node → ID of the machine of a group that has its name."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Of these machines, by node."""


def settle(far: Far, before: Handoff | None, handoff: Handoff, folder: Path, report: Report) -> Settled:
    """Publish and wait. `before` is what was applied last, `folder` the description's.

    Raises Refused before anything is published."""
    home = ClusterHome.of(handoff.name)
    with home.locked():
        refuse_another_signer(home, far.signer)
        named = name_members(far.groups, handoff, far.store, Signing.of(home), report)
        handoff = handoff.at(named.addresses)
        machines = {**far.machines, **named.machines}
        known = {
            node: key
            for node, key in far.host_keys.items()
            if node in far.machines or named.machines.get(node) == far.members.get(node)
        }
        keys = far.introduction.host_keys(machines, known, report)
        files = render(handoff)
        desired = Desired(home, handoff, files, folder)
        impacts = _impacts(before or home.handoff(), handoff, files)
        stale = proof_in(far.store, handoff, keys)
        pulling = Pulling(far.store, desired, keys, {}, report, lambda: None, far.silence)
        results = pulling.run(sorted(keys), {}, impacts, full=False, roll=_in_turn(far, keys, impacts))
        if any(result.status not in ("ok", "changed") for result in results.values()):
            return Settled(results, keys, None, named.machines, named.addresses)
        home.record_applied(handoff, files)
        waiting = Waiting(far.store, handoff, keys, report, silence=far.silence)
        refused = stale if stale and stale.state == "failed" else None
        proof = prove_within(desired, {}, waiting, refused)
        return Settled(results, keys, proof, named.machines, named.addresses)


def _in_turn(far: Far, keys: Mapping[str, str], impacts: Mapping[str, Impact]) -> InTurn | None:
    """Who is not accepted comes last, so that no other waits for it. Where nobody is, no job is disturbed."""
    said = Reports(far.store, keys).now()
    sick = tuple(node for node in sorted(keys) if node not in said or said[node].state != "accepted")
    disturbs = any(impacts[node].disturbs_jobs for node in keys if node in impacts and node not in sick)
    return InTurn(far.roll, sick) if far.roll and disturbs else None


def _impacts(before: Handoff | None, handoff: Handoff, files: tuple[NodeFile, ...]) -> Mapping[str, Impact]:
    """What a change costs each node. Where nobody knows what they are now, they give up their jobs first."""
    if before is None:
        return dict.fromkeys(handoff.by_name, Impact.DRAIN)
    changes = diff(before, handoff, render(before), files)
    return {name: need.impact for name, need in needs(before, handoff, changes, {}).items()}


def refuse_another_signer(home: ClusterHome, signer: str) -> None:
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


def proof_of(far: Far, handoff: Handoff) -> Proof | None:
    """What the cluster's own gates said last."""
    return proof_in(far.store, handoff, far.host_keys)


def gone(far: Far) -> Mapping[str, str]:
    """Nodes whose machine is no member of its group any more, and that in words."""
    if far.groups is None:
        return {}
    there = {machine for key in far.groups.by_nodes for machine in far.groups.members(key)}
    words = "its machine is gone; the next `up` gives its name to another"
    return {node: f"gone: {words}" for node, machine in far.members.items() if machine not in there}

"""`accept` of a cluster on a cloud: one of its own nodes proves it again, and nobody logs in."""

from __future__ import annotations

from clusterwright.accept.result import Acceptance
from clusterwright.event import Report
from clusterwright.finding import Refused, Where, refuse
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.desired import Desired
from clusterwright.operate.prove import prove_within
from clusterwright.operate.pull.proof import Waiting
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.stack.heard import store_in
from clusterwright.operate.stack.known import Known
from clusterwright.operate.stack.told import host_keys_of
from clusterwright.operate.stack.work import refuse_another_signer
from clusterwright.render import render


def accept(cluster: Cluster, found: Known, report: Report) -> Acceptance:
    """Run every gate. Changes nothing but the question in the signed pointer."""
    store = store_in(found.kept)
    if store is None:
        raise _nobody_asks(found)
    home, handoff = cluster.home, found.handoff
    refuse_another_signer(found.kept, Signing.of(home))
    with home.locked():
        waiting = Waiting(store, handoff, host_keys_of(found.kept), report)
        desired = Desired(home, handoff, render(handoff), home.root)
        return prove_within(desired, {}, waiting, waiting.now())


def _nobody_asks(found: Known) -> Refused:
    pulls = found.handoff.cluster["converge"] == "pull"
    way = "without --no-accept" if pulls else "with `converge: pull` in the description"
    return refuse(
        "CW8163",
        Where(path=found.name),
        "its nodes report to nobody, so there is nobody to ask for the gates",
        f"Run `clusterwright up {found.name}` {way}, or the gates by hand: docs/acceptance.md",
    )

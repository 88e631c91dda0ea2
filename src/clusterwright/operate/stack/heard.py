"""What nodes of a stack say: in their store, which is read without any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clusterwright.finding import Finding, Refused, Severity
from clusterwright.operate.pull.clouds import store_of
from clusterwright.operate.pull.proof import Proof, proof_in
from clusterwright.operate.pull.reports import NodeReport, Reports
from clusterwright.operate.pull.store import Store
from clusterwright.operate.stack.failures import ACCEPTANCE
from clusterwright.operate.stack.told import host_keys_of

if TYPE_CHECKING:
    from clusterwright.operate.stack.known import Known
    from clusterwright.providers.engine.kept import Kept

Heard = tuple[Mapping[str, NodeReport], Proof | None, tuple[Finding, ...]]
"""By node, of the cluster as a whole, and why nothing was heard."""


def store_in(kept: Kept) -> Store | None:
    """None where nobody asked nodes for anything."""
    rows = kept.of_type(ACCEPTANCE)
    if not rows:
        return None
    return store_of(*(str(rows[0].outputs[key]) for key in ("provider", "region", "bucket", "url")))


def heard(found: Known) -> Heard:
    """Where the store may not be read, that is a warning: what the state has counts."""
    try:
        store = store_in(found.kept)
        if store is None:
            return {}, None, ()
        keys = host_keys_of(found.kept)
        return Reports(store, keys).now(), proof_in(store, found.handoff, keys), ()
    except Refused as refusal:
        one = refusal.findings[0]
        what = f"nodes are told as they were at the last `up`: {one.what}"
        return {}, None, (Finding("CW8086", one.where, what, one.remedy, Severity.WARNING),)

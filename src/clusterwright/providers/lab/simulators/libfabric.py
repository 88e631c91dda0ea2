"""fi_info of libfabric: the EFA endpoints of the node's cards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .node import Answer, Node
from .rdma import devices

_NO_DATA = 61  # ENODATA, as fi_info exits
_ENDPOINTS = (("rdm", "FI_EP_RDM"), ("dgrm", "FI_EP_DGRAM"))


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """`fi_info -p efa -t FI_EP_RDM`: one entry a card and endpoint type."""
    if {"--version", "-v"} & set(arguments) and "-p" not in arguments:
        return Answer(f"fi_info: {node.installed or 'unknown'} (simulated by clusterwright)\n")
    words = dict(pairwise(arguments))
    wanted = words.get("-t") or words.get("--type") or ""
    provider = words.get("-p") or words.get("--provider") or "efa"
    cards = [name for name, nic in devices(node.hardware) if nic.kind == "efa" and nic.state == "active"]
    if provider != "efa" or not cards or node.module("efa") is None:
        return Answer(error="fi_getinfo: -61 (No data available)\n", status=_NO_DATA)
    version = ".".join(node.installed.split(".")[:2]) or "unknown"
    entries = (
        f"provider: efa\n    fabric: efa\n    domain: {name}-{suffix}\n    version: {version}\n"
        f"    type: {kind}\n    protocol: FI_PROTO_EFA\n"
        for name in cards
        for suffix, kind in _ENDPOINTS
        if wanted in ("", kind)
    )
    return Answer("".join(entries))

"""fi_info and fi_pingpong of libfabric: the EFA endpoints of the node's cards, and two that meet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .node import Answer, Node
from .perftest import agree, rate
from .rdma import devices

_NO_DATA = 61  # ENODATA, as fi_info exits
_REFUSED = 111  # ECONNREFUSED, as fi_pingpong exits
_CONTROL_PORT = "47592"
_ONE_AT_A_TIME = 0.175
"""Of the line rate: 2185.67 MB/s of 1 MiB on a card of 100 Gb/s (ComputeCanada/puppet-magic_castle 331)."""
_ENDPOINTS = (("efa", "rdm", "FI_EP_RDM"), ("efa", "dgrm", "FI_EP_DGRAM"))
_DIRECT = ("efa-direct", "rdm", "FI_EP_RDM")
_DIRECT_SINCE = (2, 1)
"""From this libfabric on a card without libfabric's own protocol comes first (ofiwg/libfabric pull 10735)."""


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
    release = tuple(int(part) for part in node.installed.split(".")[:2] if part.isdigit())
    endpoints = (_DIRECT, *_ENDPOINTS) if release >= _DIRECT_SINCE else _ENDPOINTS
    entries = (
        f"provider: efa\n    fabric: {fabric}\n    domain: {name}-{suffix}\n"
        f"    version: {_provider(release)}\n    type: {kind}\n    protocol: FI_PROTO_EFA\n"
        for name in cards
        for fabric, suffix, kind in endpoints
        if wanted in ("", kind)
    )
    return Answer("".join(entries))


def _provider(release: tuple[int, ...]) -> str:
    """The provider's own number: 121.0 of libfabric 1.21, 201.0 of 2.1, 111.0 of 1.11."""
    return f"{release[0] * 100 + release[1]}.0" if len(release) == 2 else "unknown"


def pingpong(node: Node, arguments: Sequence[str]) -> Answer:
    """`fi_pingpong -e rdm -p efa -d DOMAIN -S SIZE -I COUNT`, with `-B PORT` or with `-P PORT HOST`."""
    words = dict(pairwise(arguments))
    host = arguments[-1] if len(arguments) % 2 else ""
    cards = {f"{name}-rdm": nic for name, nic in devices(node.hardware) if nic.kind == "efa"}
    nic = cards.get(words.get("-d", ""))
    if node.module("efa") is None or nic is None or nic.state != "active":
        return Answer(error="fi_getinfo(): ret=-61 (No data available)\n", status=_NO_DATA)
    port = int(words.get("-P" if host else "-B", _CONTROL_PORT))
    try:
        slower = agree(host, port, rate(node.hardware, nic))
    except OSError:
        refused = "[error] util/pingpong.c:408 : failed to connect: Connection refused\n"
        return Answer(error=refused, status=_REFUSED)
    size, count = int(words.get("-S", "1048576")), int(words.get("-I", "10"))
    megabytes = slower / 8 * 1000 * _ONE_AT_A_TIME
    spent = 2 * count * size / 1e6 / megabytes
    table = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
    table += f"{_short(size):<8}{count:<8}{f'={count}':<9}{_short(2 * count * size):<12}{f'{spent:.2f}s':<9}"
    return Answer(f"{table}{megabytes:<10.2f}{size / megabytes:<12.2f}{megabytes / size:>6.2f}\n")


def _short(count: int) -> str:
    for unit, factor in (("g", 2**30), ("m", 2**20), ("k", 2**10)):
        if count >= factor:
            return f"{count / factor:.1f}".removesuffix(".0") + unit
    return str(count)

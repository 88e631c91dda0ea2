"""What programs of nccl-tests print, and what NCCL says of the network that it chose (NCCL_DEBUG=INFO)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NETWORK = re.compile(r"NCCL INFO Using network ([^\n]+)")
_PROVIDER = re.compile(r"NET/OFI Selected [Pp]rovider is ([\w;-]+)")
_SOCKET = re.compile(r"NCCL INFO NET/Socket ?: ?Using")
_RANK = re.compile(r"^#\s+Rank\s+\d+ .*?\bon\s+(\S+) device", re.MULTILINE)
_COMPLAINT = re.compile(r"Test (?:NCCL|CUDA) failure|NCCL WARN|error:|failed|FAILED|no end within")
_COLUMNS = 8
"""At a line's end: time, algorithm bandwidth, bus bandwidth, wrong values; out of place, then in place."""


@dataclass(frozen=True, slots=True)
class Table:
    """One run."""

    bus: float | None
    """GB/s at the largest size, the better of out-of-place and in-place; None where nothing was measured."""
    hosts: tuple[str, ...]
    ranks: int
    worlds: int
    """Tables in the output: more than one when every process ran for itself."""
    network: str
    """`IB`, `AWS Libfabric`, `Socket` …; empty where NCCL did not say."""
    provider: str
    """Of libfabric, where NCCL goes through it: `efa`."""
    wrong: bool
    complaint: str


def parse(output: str) -> Table:
    lines = [cells for line in output.splitlines() if (cells := _cells(line))]
    largest = max(lines, key=lambda cells: int(cells[0]), default=None)
    networks = _NETWORK.findall(output)
    network = networks[-1].strip() if networks else "Socket" if _SOCKET.search(output) else ""
    provider = _PROVIDER.search(output)
    hosts = _RANK.findall(output)
    complaints = [line.strip() for line in output.splitlines() if _COMPLAINT.search(line)]
    return Table(
        bus=max(float(largest[-6]), float(largest[-2])) if largest else None,
        hosts=tuple(sorted(set(hosts))),
        ranks=len(hosts),
        worlds=output.count("# nThread"),
        network=network,
        provider=provider[1] if provider else "",
        wrong="FAILED" in output or any(_is_wrong(cells[-1], cells[-5]) for cells in lines),
        complaint=complaints[0] if complaints else "",
    )


def _cells(line: str) -> list[str]:
    """The figures of one size; empty for every other line."""
    cells = line.split()
    if len(cells) < _COLUMNS + 3 or not cells[0].isdigit():
        return []
    try:
        float(cells[-6]), float(cells[-2])
    except ValueError:
        return []
    return cells


def _is_wrong(*counts: str) -> bool:
    """Newer programs count wrong values, older ones print the largest error."""
    return any(count.isdigit() and int(count) > 0 for count in counts)

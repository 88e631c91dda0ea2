"""Ports that nobody has: tests run beside each other."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""From here on the kernel gives ports to whoever connects, and keeps them for a minute after."""


def _candidates() -> Iterator[int]:
    """In an order of this process' own: between the look and the use nobody else takes one."""
    first = 10_000
    count = int(_RANGE.read_text().split()[0]) - first
    for number in range(count):
        yield first + (os.getpid() * 16 + number) % count


_ports = _candidates()


def free(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    for port in _ports:
        with socket.socket(socket.AF_INET, kind) as one:
            try:
                one.bind(("0.0.0.0", port))
            except OSError:
                continue
            return port
    raise AssertionError("every port is taken")

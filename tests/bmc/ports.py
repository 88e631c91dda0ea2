"""Ports that nobody has: tests run beside each other."""

from __future__ import annotations

import socket


def free(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("0.0.0.0", 0))
        return int(one.getsockname()[1])

"""mokutil: whether the firmware asks for signed modules, and which certificates it knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .node import Answer, Node


def mokutil(node: Node, arguments: Sequence[str]) -> Answer:
    """`--sb-state` and `--test-key FILE`, as the real one words them."""
    asked = node.hardware.secure_boot != "off"
    if list(arguments) == ["--sb-state"]:
        return Answer(f"SecureBoot {'enabled' if asked else 'disabled'}\n")
    if arguments[:1] == ["--test-key"] and len(arguments) == 2:
        if not Path(arguments[1]).is_file():
            return Answer(error=f"Failed to open {arguments[1]}\n", status=255)
        if node.hardware.secure_boot == "stranger":
            return Answer(f"{arguments[1]} is not enrolled\n", 0)
        return Answer(f"{arguments[1]} is already enrolled\n", 1)
    return Answer(
        error="Usage: mokutil --sb-state | --test-key FILE (simulated by clusterwright)\n", status=255
    )

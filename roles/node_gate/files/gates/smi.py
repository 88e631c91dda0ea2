"""nvidia-smi, asked once for everything that gates want to know of the GPUs."""

from __future__ import annotations

import re

from gates.node import Node, Unseen

FIELDS = (
    "index",
    "name",
    "memory.total",
    "pci.bus_id",
    "persistence_mode",
    "ecc.errors.uncorrected.volatile.total",
    "remapped_rows.pending",
    "remapped_rows.failure",
    "clocks_event_reasons.hw_slowdown",
    "clocks_event_reasons.hw_thermal_slowdown",
    "clocks_event_reasons.hw_power_brake_slowdown",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "fabric.state",
    "mig.mode.current",
)
UNKNOWN_FIELD = re.compile(r'Field "([^"]+)" is not a valid field to query')
NO_DEVICE = 6  # nvidia-smi's status when the driver answers and has no GPU


def ask(node: Node) -> tuple[int, str]:
    """Exit status, and what it printed. A field that this driver's nvidia-smi does not know is left out."""
    if "smi" not in node.known:
        node.known["smi"] = _query(node, FIELDS)
    return node.known["smi"][:2]


def rows(node: Node) -> list[dict]:
    """One row of each GPU, by field."""
    status, output = ask(node)
    if status:
        raise Unseen("nvidia-smi does not tell, see user-driver and gpus")
    return _table(output, node.known["smi"][2])


def again(node: Node) -> list[dict]:
    """The same, asked anew: for what may last only a moment."""
    status, output, fields = _query(node, FIELDS)
    return [] if status else _table(output, fields)


def _query(node: Node, fields: tuple) -> tuple[int, str, tuple]:
    status, output = node.run(
        "nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"
    )
    unknown = UNKNOWN_FIELD.search(output)
    if status and unknown and unknown[1] in fields:
        return _query(node, tuple(field for field in fields if field != unknown[1]))
    return status, output, fields


def _table(output: str, fields: tuple) -> list[dict]:
    lines = [[cell.strip() for cell in line.split(",")] for line in output.splitlines()]
    return [dict(zip(fields, cells)) for cells in lines if len(cells) == len(fields)]  # noqa: B905 (Python 3.9)

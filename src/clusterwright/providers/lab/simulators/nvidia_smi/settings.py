"""What nvidia-smi changes: kept in the node, and gone when its power is."""

from __future__ import annotations

import os
from typing import Any

from ..node import Answer, Node
from ..reading import Reading
from .options import Options

_TRUE = ("1", "ENABLED")
_FALSE = ("0", "DISABLED")


def change(node: Node, readings: list[Reading], options: Options) -> Answer:
    """Each change in the order it was given, on the GPUs that were chosen."""
    if os.geteuid() != 0:
        return Answer(
            f"Unable to change the settings of GPU {readings[0].bus_id}: Insufficient Permissions\n", 4
        )
    text = ""
    for name, value in options.changes:
        done = _one(node, readings, name, value)
        if done is None:
            return Answer(f"Invalid value for {name}: {value}\n", 2)
        text += done
    return Answer(f"{text}All done.\n")


def _one(node: Node, readings: list[Reading], name: str, value: str) -> str | None:
    if name in ("persistence_mode", "mig_mode"):
        if value.upper() not in (*_TRUE, *_FALSE):
            return None
        on = value.upper() in _TRUE
        if name == "persistence_mode":
            node.remember(name, on)
            return _each(readings, f"{'Enabled' if on else 'Disabled'} persistence mode")
        return _mig_mode(node, readings, on)
    if name == "gpu_reset":
        for reading in readings:
            _remember_per_gpu(node, [reading], "mig_mode", reading.mig_pending)
    _remember_per_gpu(node, readings, name, value)
    return _each(readings, f"Set {name.replace('_', ' ')}{f' to {value}' if value else ''}")


def _mig_mode(node: Node, readings: list[Reading], on: bool) -> str:
    text = ""
    able = []
    for reading in readings:
        if reading.model.mig is None:
            text += f"Unable to enable MIG Mode for GPU {reading.bus_id}: Not Supported\n"
            continue
        able.append(reading)
        if reading.model.architecture == "Ampere" and reading.mig_mode != on:
            text += f"Warning: MIG mode is in pending {'enable' if on else 'disable'} state "
            text += f"for GPU {reading.bus_id}:Reset Required\n"
            continue
        text += f"{'Enabled' if on else 'Disabled'} MIG Mode for GPU {reading.bus_id}\n"
    _remember_per_gpu(node, able, "mig_pending", on)
    able = [reading for reading in able if reading.model.architecture != "Ampere"]
    _remember_per_gpu(node, able, "mig_mode", on)
    if not on:
        kept: dict[str, Any] = dict(node.setting("mig_instances") or {})
        for reading in able:
            kept.pop(reading.gpu.uuid, None)
        node.remember("mig_instances", kept)
    return text


def _remember_per_gpu(node: Node, readings: list[Reading], name: str, value: object) -> None:
    known: dict[str, Any] = dict(node.setting(name) or {})
    known.update({reading.gpu.uuid: value for reading in readings})
    node.remember(name, known)


def _each(readings: list[Reading], done: str) -> str:
    return "".join(f"{done} for GPU {reading.bus_id}.\n" for reading in readings)

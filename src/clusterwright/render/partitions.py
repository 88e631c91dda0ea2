"""Partitions as slurm.conf writes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff import Handoff
from clusterwright.render.machines import memory_for_jobs


@dataclass(frozen=True, slots=True)
class Line:
    """One PartitionName line: its settings in order, without the name."""

    name: str
    settings: str


def lines(handoff: Handoff, *, accounting: bool) -> tuple[Line, ...]:
    machines: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for node in handoff.with_role("compute"):
        for name in node.partitions:
            machines[name].add((node.machine, node.gpus))
    partitions: Mapping[str, Mapping[str, Any]] = handoff.scheduler["partitions"]
    return tuple(
        Line(
            name,
            _settings(
                partition, [(handoff.hardware[m], gpus) for m, gpus in sorted(machines[name])], accounting
            ),
        )
        for name, partition in sorted(partitions.items())
    )


def _settings(partition: Mapping[str, Any], hardware: list[tuple[Hardware, int]], accounting: bool) -> str:
    settings: dict[str, object] = {
        "Nodes": partition["nodes"],
        "Default": "YES" if partition["default"] else "NO",
        "MaxTime": minutes(partition["max_time"]),
    }
    if partition["default_time"] is not None:
        settings["DefaultTime"] = minutes(partition["default_time"])
    settings["PriorityTier"] = partition["priority"]
    if partition["exclusive"]:
        settings["OverSubscribe"] = "EXCLUSIVE"
    settings |= _shares(hardware, accounting)
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _shares(hardware: Iterable[tuple[Hardware, int]], accounting: bool) -> dict[str, object]:
    """What a job gets that asks only for GPUs, or only for CPUs: its part of the machine.

    Machines come with their GPUs as jobs count them.

    Where a partition has several machine types, the smallest part fits everywhere.
    """
    machines = list(hardware)
    with_gpus = [(machine, gpus) for machine, gpus in machines if gpus]
    shares: dict[str, object] = {}
    if machines:
        shares["DefMemPerCPU"] = min(memory_for_jobs(machine) // machine.cpus for machine, _ in machines)
    if with_gpus:
        cpus = max(1, min(machine.cpus // gpus for machine, gpus in with_gpus))
        shares["DefCpuPerGPU"] = cpus
        shares["DefMemPerGPU"] = min(memory_for_jobs(machine) // gpus for machine, gpus in with_gpus)
        if accounting:
            shares["TRESBillingWeights"] = f"CPU=1,GRES/gpu={cpus}"
    return shares


def minutes(seconds: int | None) -> str:
    """Slurm counts a partition's times in minutes; a started minute counts."""
    return "UNLIMITED" if seconds is None else str(-(-seconds // 60))

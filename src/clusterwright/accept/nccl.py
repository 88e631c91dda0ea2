"""NCCL's all_reduce on idle GPU nodes, started as jobs are: within each node, and between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clusterwright.accept import jobs
from clusterwright.accept.home import Token
from clusterwright.accept.nccl_text import Table, parse
from clusterwright.accept.session import Ran, Session, program
from clusterwright.bundle.facts import treatments
from clusterwright.catalog.fabrics import fabric_of
from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff import Handoff, Node
from clusterwright.plan.software.traits import traits
from clusterwright.spec.nodeset import fold

SECONDS = 150
_LIBRARIES = ("nccl", "rccl")
_LEAST = "1G"
_SHARE = 8
"""The largest message is this part of a GPU's memory: two buffers and NCCL's own must fit beside it."""
_MOST = 8 << 30
"""Bus bandwidth no longer grows beyond it (NCCL's PERFORMANCE.md; public runs on H100 and B200)."""


@dataclass(frozen=True, slots=True)
class Squad:
    """Idle nodes of one machine type and partition, whose pools have NCCL."""

    partition: str
    nodes: tuple[Node, ...]
    hardware: Hardware
    network: str
    """NCCL's name of the fabric, as jobs are told it; empty where sockets are the fabric."""
    builds: bool = False
    """Whether the lock has nccl-tests for them."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Alone:
    """What a node did by itself."""

    program: str
    """Where it has all_reduce_perf; empty where it has none."""
    table: Table
    job: str


@dataclass(frozen=True, slots=True)
class Together:
    """What nodes did with each other."""

    nodes: tuple[str, ...]
    ran: Ran
    table: Table


def squads(handoff: Handoff, groups: Iterable[jobs.Group]) -> list[Squad]:
    """What of these groups can run NCCL, parted by machine type: what is unlike has no common threshold.

    GPUs that are cut into instances (MIG) reach no other, so NCCL has nothing to say of their nodes.
    """
    parted: dict[tuple[str, str, str, bool], list[Node]] = {}
    for group in groups:
        for node in group.nodes:
            stack = handoff.software["stacks"].get(node.pool, {})
            if group.kind == "gpu" and node.gpus and any(name in stack for name in _LIBRARIES):
                network = fabric_of(traits(handoff.hardware[node.machine]), stack).nccl_net
                key = group.partition, node.machine, network, _builds(handoff, node, stack)
                parted.setdefault(key, []).append(node)
    return [
        Squad(partition, tuple(nodes), handoff.hardware[machine], network, builds)
        for (partition, machine, network, builds), nodes in sorted(parted.items())
    ]


def _builds(handoff: Handoff, node: Node, stack: Mapping[str, Any]) -> bool:
    return "nccl_tests" in stack and treatments(handoff, node).get("nccl_tests") is None


def whole(
    session: Session, handoff: Handoff, squad: Squad, token: Token
) -> tuple[Ran, Mapping[str, Alone], Together | None]:
    """In one allocation: every node for itself, by node; then all of them together, where they can."""
    count = len(squad.nodes)
    shape = _shape(squad, squad.names, count)
    steps = {
        "shape": shape,
        "alone": ["/usr/bin/python3", "-c", program("nccl_node"), *_sizes(squad, gpus=True)],
        "arguments": _arguments(squad),
        "environment": _environment(handoff, squad.nodes),
    }
    command = ["/usr/bin/python3", "-c", program("nccl_squad"), json.dumps(steps)]
    ran = jobs.within(session, squad.partition, token, shape, command, {}, 2 * SECONDS)
    rows = jobs.json_lines(ran.output)
    said: dict[str, list[str]] = {}
    for row in rows:
        if "said" in row:
            said.setdefault(str(row["node"]), []).append(str(row["said"]))
    heads = {str(row["node"]): row for row in rows if "program" in row}
    spent = next((float(row["alone"]) for row in rows if "alone" in row), ran.seconds)
    found = {node: _alone(row, said.get(node, ())) for node, row in heads.items()}
    return replace(ran, seconds=spent), found, _together(squad, rows)


def _together(squad: Squad, rows: Iterable[Mapping[str, Any]]) -> Together | None:
    for row in rows:
        if "together" in row:
            text = str(row["together"])
            ran = Ran(int(row["code"]), text, "", float(row["seconds"]))
            return Together(squad.names, ran, parse(text))
    return None


def together(
    session: Session, handoff: Handoff, squad: Squad, names: Sequence[str], path: str, token: Token
) -> Together:
    """These nodes of the squad in one world, one process a node, in a job of their own."""
    chosen = [node for node in squad.nodes if node.name in names]
    shape = [*_shape(squad, names, len(names)), "--cpu-bind=none"]
    command, env = [path, *_arguments(squad)], _environment(handoff, chosen)
    ran = jobs.start(session, squad.partition, token, shape, command, env, SECONDS)
    return Together(tuple(names), ran, parse(f"{ran.output}\n{ran.error}"))


def _arguments(squad: Squad) -> list[str]:
    least, most = _sizes(squad, gpus=False)
    sizes = ["-b", least, "-e", most, "-f", "2", "-n", "5", "-w", "1", "-c", "0"]
    return [*sizes, "-g", str(len(squad.hardware.gpus))]


def _environment(handoff: Handoff, nodes: Sequence[Node]) -> dict[str, str]:
    return {**jobs.transport(handoff, nodes), "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}


def _alone(head: Mapping[str, Any], said: Iterable[str]) -> Alone:
    return Alone(str(head["program"]), parse("\n".join(said)), str(head["job"]))


def _shape(squad: Squad, names: Sequence[str], count: int) -> list[str]:
    """Whole nodes: processors and memory follow the GPUs (DefCpuPerGPU, DefMemPerGPU)."""
    where = [f"--nodelist={fold(names)}", f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1"]
    return [*where, f"--gres=gpu:{len(squad.hardware.gpus)}"]


def _sizes(squad: Squad, *, gpus: bool) -> list[str]:
    memory = (squad.hardware.gpu_memory_mib or 0) << 20
    most = min(_MOST, 1 << max(30, (memory // _SHARE).bit_length() - 1))
    return [*([str(len(squad.hardware.gpus))] if gpus else []), _LEAST, f"{most >> 20}M"]

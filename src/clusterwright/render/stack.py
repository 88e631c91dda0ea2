"""What Slurm and the nodes of a cluster are told of the software for GPUs that its pools have."""

from __future__ import annotations

from collections import defaultdict

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.render.templates import fill

COLLECTIVES = ("nccl", "rccl", "rocm")
_DOMAINS = "/etc/clusterwright/imex-domains"


def has(handoff: Handoff, *components: str) -> bool:
    """Whether any pool has any of these components."""
    return any(
        component in stack for stack in handoff.software["stacks"].values() for component in components
    )


def has_task_prolog(handoff: Handoff) -> bool:
    return has(handoff, *COLLECTIVES) or bool(handoff.scheduler.get("mps"))


def files(handoff: Handoff) -> tuple[NodeFile, ...]:
    made = []
    if has_task_prolog(handoff):
        prolog = fill("node/task-prolog.j2", mps=bool(handoff.scheduler.get("mps")))
        made.append(_compute("/etc/slurm/task-prolog", prolog, mode=0o755))
    if has(handoff, "imex"):
        domains = fill("node/imex-domains.j2", domains=_imex_domains(handoff))
        made.append(_compute(_DOMAINS, domains, affects=("nvidia-imex:restart",)))
    return tuple(made)


def _compute(path: str, content: str, *, mode: int = 0o644, affects: tuple[str, ...] = ()) -> NodeFile:
    return NodeFile(path, content, ("compute",), mode=mode, affects=affects)


def _imex_domains(handoff: Handoff) -> dict[str, list[tuple[str, str]]]:
    """Name and address of the nodes of each NVLink domain; a node that is in none shares with nobody."""
    domains: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for node in handoff.with_role("compute"):
        if "imex" in handoff.software["stacks"].get(node.pool, {}):
            domains[node.block or node.name].append((node.name, node.address))
    return dict(sorted(domains.items()))

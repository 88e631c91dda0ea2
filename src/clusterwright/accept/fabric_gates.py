"""Gates on what NCCL did: its bandwidth within nodes and between them, and over which network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clusterwright.accept import blame
from clusterwright.accept.nccl import Alone, Squad, Together
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Ran
from clusterwright.catalog.gpu_health import RDMA_KINDS, Threshold, threshold
from clusterwright.spec.nodeset import fold

NODE, FABRIC = "nccl-node", "nccl-fabric"
REHEARSAL = "a rehearsal on simulated hardware, no performance result"
_WITHIN = "Look at `nvidia-smi topo -m` and `nvidia-smi nvlink -s`, and whether another program uses the GPUs"
_BUILD = "Run `clusterwright up --full`: it builds nccl-tests into /opt/nccl-tests/build"
_BETWEEN = "Look at its cards (`ibstat`, `fi_info -p efa`), its cables and its switch ports"


def within(squad: Squad, ran: Ran, found: Mapping[str, Alone], *, simulated: bool) -> list[GateResult]:
    """Of each node: all_reduce over its own GPUs reaches what this machine type reaches."""
    bound = threshold(squad.hardware, "node")
    return [_within(squad, name, ran, found.get(name), bound, simulated) for name in squad.names]


def _within(
    squad: Squad, name: str, ran: Ran, mine: Alone | None, bound: Threshold | None, simulated: bool
) -> GateResult:
    expected = f"all_reduce over {len(squad.hardware.gpus)} GPUs" + _demand(bound)
    spent = round(ran.seconds, 3)
    if mine is None:
        if ran.taken:
            return GateResult(NODE, name, "skip", expected, "other jobs took the idle nodes")
        remedy = "Run `all_reduce_perf` by hand in a job, and look at slurmctld's and slurmd's logs"
        return GateResult(NODE, name, "fail", expected, ran.complaint, remedy, spent)
    if not mine.program and squad.builds:
        seen = "no all_reduce_perf, which the lock has"
        return GateResult(NODE, name, "fail", expected, seen, _BUILD, spent)
    if not mine.program:
        return GateResult(NODE, name, "skip", expected, "nccl-tests is not installed: no all_reduce_perf")
    if len(squad.hardware.gpus) == 1:
        return GateResult(NODE, name, "skip", expected, "its one GPU has no other to talk to")
    table = mine.table
    if table.bus is None or table.wrong:
        seen = table.complaint or ("wrong sums" if table.wrong else "no figures")
        return GateResult(NODE, name, "fail", expected, seen, _WITHIN, spent)
    return _judged(NODE, name, expected, table.bus, bound, _WITHIN, spent, simulated)


def between(
    squad: Squad, whole: Together, ask: Callable[[Sequence[str]], Together], *, simulated: bool
) -> list[GateResult]:
    """All nodes together reach the bound over the fabric; where they do not, the nodes that spoil it."""
    bound = threshold(squad.hardware, "fabric")
    where = fold(squad.names)
    expected = f"all_reduce over {len(squad.names)} nodes" + _demand(bound) + f" {_network(squad)}".rstrip()
    spent = round(whole.ran.seconds, 3)
    if whole.ran.taken and whole.table.bus is None:
        return [GateResult(FABRIC, where, "skip", expected, "other jobs took the idle nodes")]
    if whole.table.worlds > 1:
        seen = (
            "every process ran for itself: nccl-tests without MPI, or Slurm without PMIx (`srun --mpi=list`)"
        )
        return [GateResult(FABRIC, where, "skip", expected, seen, seconds=spent)]
    fault = complaint(squad, whole, bound)
    if not fault:
        bus = whole.table.bus or 0.0
        result = _judged(FABRIC, where, expected, bus, bound, _BETWEEN, spent, simulated)
        return [result]
    bad = blame.find(squad.names, lambda names: not complaint(squad, ask(names), bound))
    if not bad:
        remedy = "Every half works: look at what joins them, the switches between racks or blocks"
        return [GateResult(FABRIC, where, "fail", expected, fault, remedy, spent)]
    if len(bad) < len(squad.names):
        fault += f" with all {len(squad.names)} nodes; so is every group with this one in it"
    if simulated:
        fault += f" ({REHEARSAL})"
    return [GateResult(FABRIC, name, "fail", expected, fault, _BETWEEN, spent) for name in bad]


def complaint(squad: Squad, run: Together, bound: Threshold | None) -> str:
    """What is wrong with a run; empty when nothing is."""
    table = run.table
    if table.bus is None:
        return table.complaint or run.ran.complaint
    if table.wrong:
        return "wrong sums"
    if len(table.hosts) != len(run.nodes):
        return f"ranks on {len(table.hosts)} of {len(run.nodes)} nodes"
    told = table.network.endswith(squad.network)  # older plug-ins for EFA say AWS before their name
    if not told or (_network(squad) and table.network in ("", "Socket")):
        used = table.network or "a network that it does not name"
        wanted = f" ({squad.network})" if squad.network else ""
        return f"NCCL uses {used} and not the fabric{wanted}"
    if squad.network == "Libfabric" and table.provider and table.provider != "efa":
        return f"libfabric's provider is {table.provider} and not efa"
    if bound and table.bus < bound.fail:
        return f"{table.bus:.0f} GB/s"
    return ""


def _judged(
    gate: str,
    where: str,
    expected: str,
    bus: float,
    bound: Threshold | None,
    remedy: str,
    spent: float,
    simulated: bool,
) -> GateResult:
    bad = bound is not None and bus < bound.fail
    seen = f"{bus:.0f} GB/s"
    if bound is None:
        seen += ", no threshold is known"
    elif bound.expect and bound.fail <= bus < bound.expect:
        seen += f", below the usual {bound.expect:.0f}"
    if simulated:
        seen += f" ({REHEARSAL})"
    figures = {f"{gate.replace('-', '_')}_gb_s": round(bus, 2)}
    return GateResult(
        gate, where, "fail" if bad else "pass", expected, seen, remedy if bad else "", spent, figures
    )


def _demand(bound: Threshold | None) -> str:
    return f" at {bound.fail:.0f} GB/s or more" if bound else ""


def _network(squad: Squad) -> str:
    kinds = sorted({nic.kind for nic in squad.hardware.nics} & set(RDMA_KINDS))
    return f"over {', '.join(kinds)}" if kinds else ""

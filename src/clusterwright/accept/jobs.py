"""Real jobs as an ordinary user on idle nodes: what is run, and what came of it.

Nodes with jobs are left alone: `--immediate` takes only what is free now, and the jobs last seconds.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clusterwright.accept.session import Ran, Session, program
from clusterwright.accept.slurm_text import SlurmNode
from clusterwright.handoff import Handoff, Node
from clusterwright.spec.nodeset import fold

NAME = "clusterwright-accept"
WAIT_SECONDS = 20
"""How long an allocation may wait on nodes that were idle a moment ago."""
STEP_SECONDS = 90
BATCH_SCRIPT = "#!/bin/sh\nid -un\nuname -n\n"


@dataclass(frozen=True, slots=True)
class Group:
    """Idle nodes that one job can take: of one partition, and all with GPUs or all without."""

    partition: str
    nodes: tuple[Node, ...]
    gpus: bool

    @property
    def names(self) -> str:
        return fold(node.name for node in self.nodes)

    @property
    def pair(self) -> tuple[Node, ...]:
        """The two nodes that talk to each other, or the only one."""
        return self.nodes[:2]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a group's job did: its number and what each program reported."""

    group: Group
    ran: Ran
    job: str = ""
    reports: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def taken(self) -> bool:
        """Another job was faster: nothing is wrong."""
        return not self.job and ("are busy" in self.ran.error or "immediate" in self.ran.error.lower())

    def of(self, gate: str) -> list[Mapping[str, Any]]:
        return [report for report in self.reports if report.get("gate") == gate]


def groups(planned: Iterable[Node], seen: Mapping[str, SlurmNode]) -> list[Group]:
    """Idle nodes, parted by what one job can ask for; ordered by name."""
    parted: dict[tuple[str, bool], list[Node]] = {}
    for node in planned:
        if node.name in seen and seen[node.name].idle and node.partitions:
            parted.setdefault((node.partitions[0], node.gpus > 0), []).append(node)
    return [Group(partition, tuple(nodes), gpus) for (partition, gpus), nodes in sorted(parted.items())]


def attempt(session: Session, handoff: Handoff, group: Group, user: str) -> Trial:
    """One allocation of the whole group, and in it one step per program."""
    count = len(group.nodes)
    wanted = [
        f"--job-name={NAME}",
        f"--partition={group.partition}",
        f"--nodelist={group.names}",
        f"--nodes={count}",
        f"--ntasks-per-node={2 if count == 1 else 1}",
        "--cpus-per-task=1",
        "--mem=1G",
        "--time=5",
        f"--immediate={WAIT_SECONDS}",
        *(["--gres=gpu:1"] if group.gpus else []),
    ]
    timeout = WAIT_SECONDS + 2 * STEP_SECONDS
    argv = ["salloc", *wanted, "sh", "-c", _steps(group)]
    ran = session.run(*argv, user=user, env=_transport(handoff, group), timeout=timeout)
    reports = _json_lines(ran.output)
    job = next((str(report["job"]) for report in reports if "job" in report), "")
    return Trial(group, ran, job, reports)


def _steps(group: Group) -> str:
    python = ["/usr/bin/python3", "-c"]
    isolation = ["srun", f"--nodes={len(group.nodes)}", f"--ntasks={len(group.nodes)}", "--ntasks-per-node=1"]
    isolation += ["--gres=gpu:1", *python, program("gpu_isolation")]
    pair = len(group.pair)
    reduce = ["srun", f"--nodes={pair}", "--ntasks=2", f"--ntasks-per-node={3 - pair}"]
    reduce += [*python, program("allreduce")]
    steps = [*([isolation] if group.gpus else []), reduce]
    return "\n".join(['echo "{\\"job\\": $SLURM_JOB_ID}"', *map(shlex.join, steps)])


def _transport(handoff: Handoff, group: Group) -> dict[str, str]:
    """Open MPI on TCP over the nodes' own network: the figure means the same on every cluster."""
    networks = sorted({str(handoff.site[node.site]["network"]) for node in group.pair})
    return {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,tcp",
        "OMPI_MCA_btl_tcp_if_include": ",".join(networks),
    }


def submit_batch(session: Session, partition: str, user: str, output: str) -> Ran:
    """A batch job as users submit them; its output lands in the shared home."""
    return session.run(
        "sbatch",
        "--parsable",
        f"--job-name={NAME}",
        f"--partition={partition}",
        "--nodes=1",
        "--ntasks=1",
        "--mem=64M",
        "--time=2",
        f"--output={output}",
        user=user,
        stdin=BATCH_SCRIPT,
    )


def _json_lines(text: str) -> list[Mapping[str, Any]]:
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found

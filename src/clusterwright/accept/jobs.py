"""Real jobs as an ordinary user on idle nodes: what is run, and what came of it.

Nodes with jobs are left alone: `--immediate` takes only what is free now, and the jobs last seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterwright.accept.home import Token
from clusterwright.accept.session import Ran, Session, program
from clusterwright.catalog.gpu_files import files_of
from clusterwright.handoff import Handoff, Node
from clusterwright.render.machines import INSTANCES, cut_of, instance_type
from clusterwright.spec.nodeset import fold

WAIT_SECONDS = 20
"""How long an allocation may wait on nodes that were idle a moment ago."""
JOB_SECONDS = 60
JOB_MINUTES = 5
BATCH_SCRIPT = "#!/bin/sh\nid -un\nuname -n\n"


@dataclass(frozen=True, slots=True)
class Group:
    """Idle nodes that one job can take: of one partition, and all with GPUs or all without."""

    partition: str
    nodes: tuple[Node, ...]
    gpus: bool
    kind: str = "gpu"
    """What a job of one GPU asks for: an instance, where GPUs are cut into some."""

    @property
    def names(self) -> str:
        return fold(node.name for node in self.nodes)

    @property
    def pair(self) -> tuple[Node, ...]:
        """The two nodes that talk to each other, or the only one."""
        return self.nodes[:2]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one program did in a job of its own on a group: its reports, one or one per node."""

    group: Group
    ran: Ran
    reports: Sequence[Mapping[str, Any]]

    @property
    def job(self) -> str:
        """The job's number; empty when no program got far enough to say it."""
        return str(self.reports[0]["job"]) if self.reports else ""

    @property
    def taken(self) -> bool:
        """Another job was faster: nothing is wrong."""
        return not self.reports and self.ran.taken


def groups(handoff: Handoff, planned: Iterable[Node]) -> list[Group]:
    """Nodes parted by what one job can ask for."""
    parted: dict[tuple[str, bool, str], list[Node]] = {}
    for node in planned:
        if node.partitions:
            key = node.partitions[0], node.gpus > 0, _kind(handoff, node)
            parted.setdefault(key, []).append(node)
    return [Group(key[0], tuple(nodes), *key[1:]) for key, nodes in sorted(parted.items())]


def _kind(handoff: Handoff, node: Node) -> str:
    profiles = sorted(each["profile"] for parts in cut_of(handoff, node).values() for each in parts)
    return f"gpu:{instance_type(handoff.hardware[node.machine], profiles[0])}" if profiles else "gpu"


def isolate(session: Session, handoff: Handoff, group: Group, token: Token) -> Trial:
    """On every node of the group: a task with one GPU tries to open all of them."""
    count = len(group.nodes)
    shape = [f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1", f"--gres={group.kind}:1"]
    kinds = {files_of(handoff.hardware[node.machine]) for node in group.nodes}
    patterns = [f"{kind.pattern} {kind.control}" for kind in kinds]
    env = {"CLUSTERWRIGHT_GPU_FILES": " ".join([*sorted(patterns), f"{INSTANCES}/[0-9]*"])}
    return _step(session, group, token, [f"--nodelist={group.names}", *shape], "gpu_isolation", env)


def contain(session: Session, group: Group, token: Token) -> Trial:
    """On every node of the group: a container in a task with one GPU looks for GPUs."""
    count = len(group.nodes)
    shape = [f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1", "--gres=gpu:1"]
    return _step(session, group, token, [f"--nodelist={group.names}", *shape], "container", {})


def reduce(session: Session, handoff: Handoff, group: Group, token: Token) -> Trial:
    """Two ranks, on two nodes of the group where it has two."""
    pair = group.pair
    shape = [f"--nodes={len(pair)}", "--ntasks=2", f"--ntasks-per-node={3 - len(pair)}"]
    where = f"--nodelist={fold(node.name for node in pair)}"
    return _step(session, group, token, [where, *shape], "allreduce", transport(handoff, pair))


def _step(
    session: Session, group: Group, token: Token, shape: Sequence[str], name: str, env: Mapping[str, str]
) -> Trial:
    shape = [*shape, "--cpus-per-task=1", "--mem=1G"]
    command = ["srun", *shape, "/usr/bin/python3", "-c", program(name)]
    ran = within(session, group.partition, token, shape, command, env)
    return Trial(group, ran, json_lines(ran.output))


def start(
    session: Session,
    partition: str,
    token: Token,
    shape: Sequence[str],
    command: Sequence[str],
    env: Mapping[str, str],
    seconds: float = JOB_SECONDS,
) -> Ran:
    """A job step of this shape, if its nodes are free now."""
    limits = [f"--time={JOB_MINUTES}", f"--immediate={WAIT_SECONDS}"]
    argv = ["srun", f"--job-name={token.name}", f"--partition={partition}", *shape, *limits, *command]
    return session.run(*argv, user=token.user, env=env, timeout=WAIT_SECONDS + seconds)


def within(
    session: Session,
    partition: str,
    token: Token,
    shape: Sequence[str],
    command: Sequence[str],
    env: Mapping[str, str],
    seconds: float = JOB_SECONDS,
) -> Ran:
    """A program that starts steps in an allocation of this shape, if its nodes are free now.

    Its first step begins as soon as the prolog has ended, which srun by itself sees a second later."""
    limits = [f"--time={JOB_MINUTES}", f"--immediate={WAIT_SECONDS}"]
    options = [f"--job-name={token.name}", f"--partition={partition}", *shape, *limits]
    asked = json.dumps({"options": options, "command": command})
    argv = ["/usr/bin/python3", "-c", program("allocation"), asked]
    return session.run(*argv, user=token.user, env=env, timeout=WAIT_SECONDS + seconds)


def transport(handoff: Handoff, pair: Sequence[Node]) -> dict[str, str]:
    """Open MPI on TCP over the nodes' own network: the figure means the same on every cluster."""
    networks = sorted({str(handoff.site[node.site]["network"]) for node in pair})
    return {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,tcp",
        "OMPI_MCA_btl_tcp_if_include": ",".join(networks),
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }


def whole(session: Session, group: Group, token: Token) -> Ran:
    """Ask, without running anything, whether one job could have every GPU of the group."""
    gpus = min(node.gpus for node in group.nodes)
    where = [f"--partition={group.partition}", f"--nodelist={group.names}", f"--nodes={len(group.nodes)}"]
    return session.run("srun", "--test-only", *where, f"--gres=gpu:{gpus}", "true", user=token.user)


def submit_batch(session: Session, partition: str, token: Token) -> Ran:
    """A batch job as users submit them; its output lands in the shared home."""
    return session.run(
        "sbatch",
        "--parsable",
        f"--job-name={token.name}",
        f"--partition={partition}",
        "--nodes=1",
        "--ntasks=1",
        "--mem=64M",
        "--time=2",
        f"--output={token.folder}/batch.out",
        user=token.user,
        stdin=BATCH_SCRIPT,
    )


def begun(session: Session, token: Token) -> int:
    """How many jobs of this run have nodes now."""
    queue = session.run("squeue", "--noheader", f"--name={token.name}", "--format=%T").output
    return sum(state != "PENDING" for state in queue.split())


def left(session: Session, token: Token) -> bool:
    """Whether a job of this run has not ended yet, or its epilog."""
    return bool(session.run("squeue", "--noheader", f"--name={token.name}", "--format=%A").output.strip())


def cancel(session: Session, token: Token) -> None:
    """Whatever this run left in the queue; other runs have other names."""
    session.run("scancel", f"--user={token.user}", f"--jobname={token.name}")


def json_lines(text: str) -> list[Mapping[str, Any]]:
    """What the programs of a job reported, one object a line."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found

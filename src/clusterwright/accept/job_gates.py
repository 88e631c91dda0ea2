"""Gates on what the jobs did: GPUs apart, an exact all-reduce, a batch job, and all of it accounted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

from clusterwright.accept.jobs import Group, Trial
from clusterwright.accept.result import GateResult, judged
from clusterwright.accept.session import Ran
from clusterwright.accept.slurm_text import JobRecord
from clusterwright.catalog.gpu_files import GpuFiles, files_of
from clusterwright.handoff import Handoff, Node
from clusterwright.render.machines import INSTANCES, files_by_index
from clusterwright.spec.nodeset import fold

REFUSED = "EPERM"
"""What the device cgroup answers; EACCES is the file mode's answer and proves no isolation."""
_NOT_OPENED = (REFUSED, "EACCES", "ENOENT")


def gpu_isolation(handoff: Handoff, trial: Trial, refused: Collection[str] = ()) -> list[GateResult]:
    """Of each node: a job with one GPU can open that one and none besides.

    `refused` are nodes that Slurm drained meanwhile: a job does not start on the others then, and that is no
    fault of theirs.
    """
    reports = {str(report["node"]): report for report in trial.reports}
    guilty = set(refused) & {node.name for node in trial.group.nodes}
    return [
        _isolation(handoff, node, reports.get(node.name), trial)
        if node.name in reports or not guilty or node.name in guilty
        else GateResult("gpu-isolation", node.name, "skip", "a job", f"{fold(guilty)} refused the job of all")
        for node in trial.group.nodes
    ]


def _isolation(handoff: Handoff, node: Node, report: Mapping[str, Any] | None, trial: Trial) -> GateResult:
    expected = f"a job with 1 of {node.gpus} GPUs opens that one and is refused the others"
    if report is None:
        return _not_run("gpu-isolation", node.name, expected, trial)
    kind, planned = files_of(handoff.hardware[node.machine]), files_by_index(handoff, node)
    said: Mapping[str, str] = report["attempts"]
    attempts = {file: answer for file, answer in said.items() if _is_gpu(file, kind)}
    # Slurm counts GPUs from 0, in the order of gres.conf.
    given = {file for index in report["given"] if index < len(planned) for file in planned[index]}
    reached = {file for file, answer in attempts.items() if answer not in _NOT_OPENED}
    faults = []
    if len(report["given"]) != 1:
        faults.append(f"Slurm gave {len(report['given'])} GPUs")
    if leaked := reached - given:
        faults.append(f"could open {fold(leaked)} without having been given it")
    if locked := given - reached:
        faults.append(f"could not open its own {fold(locked)}")
    if absent := set(chain.from_iterable(planned)) - set(attempts):
        faults.append(f"{fold(absent)} is not there")
    if modes := {file for file, answer in attempts.items() if answer == "EACCES"}:
        faults.append(f"the file mode and not the cgroup refuses {fold(modes)}")
    if said.get(kind.control, "ENOENT") in _NOT_OPENED:
        faults.append(f"could not open {kind.control}, which every GPU needs")
    seen = "; ".join(faults) or f"{fold(given)} open, {len(attempts) - len(reached)} refused ({REFUSED})"
    remedy = "Compare gres.conf with /dev, and look for ConstrainDevices=yes in cgroup.conf"
    return judged("gpu-isolation", node.name, not faults, expected=expected, seen=seen, remedy=remedy)


def _is_gpu(file: str, kind: GpuFiles) -> bool:
    of_instance = file.startswith(f"{INSTANCES}/")
    return of_instance or (file.startswith(kind.file) and file[len(kind.file) :].isdigit())


def container(trial: Trial) -> list[GateResult]:
    """Of each node: a container that is given the job's GPU has that one and none besides."""
    reports = {str(report["node"]): report for report in trial.reports}
    return [_container(node, reports.get(node.name), trial) for node in trial.group.nodes]


def _container(node: Node, report: Mapping[str, Any] | None, trial: Trial) -> GateResult:
    expected = "a container that is given the job's GPU has that one"
    if report is None:
        return _not_run("container", node.name, expected, trial)
    given, devices = str(report["given"]), [str(minor) for minor in report["devices"]]
    said = str(report["output"]).strip().splitlines()
    if report["code"]:
        seen = said[-1] if said else f"podman: exit status {report['code']}"
    elif devices != [given]:
        seen = f"{_devices(set(devices)) or 'no GPU'} instead of {_devices({given})}"
    elif report["refused"]:
        seen = f"{_devices({given})} is there and cannot be opened"
    else:
        seen = ""
    remedy = (
        "Look at `nvidia-ctk cdi list`, at clusterwright-cdi.service, and run `podman run --device` in a job"
    )
    return judged("container", node.name, not seen, expected=expected, seen=seen or expected, remedy=remedy)


def whole_nodes(group: Group, ran: Ran) -> GateResult:
    """Slurm would give one job every GPU: processors, memory and GPU affinity of the plan fit together."""
    expected = f"Slurm would give one job all {sum(node.gpus for node in group.nodes)} GPUs"
    return judged(
        "whole-nodes",
        group.names,
        ran.code == 0,
        expected=expected,
        seen=expected if ran.code == 0 else ran.complaint,
        remedy="Compare DefCpuPerGPU, DefMemPerGPU and gres.conf with `scontrol show node --details`",
    )


def all_reduce(trial: Trial) -> GateResult:
    """Two ranks started by srun sum exactly; the figures are of TCP, never of a fabric."""
    pair = trial.group.pair
    where = fold(node.name for node in pair)
    expected = "an exact sum over 2 ranks on " + ("2 nodes" if len(pair) == 2 else "the only node")
    reports = trial.reports
    if not reports:
        return _not_run("all-reduce", where, expected, trial)
    report = reports[0]
    bandwidth = report["large_bytes"] / report["large_seconds"] / 1e9
    faults = []
    if report["ranks"] != 2 or len(reports) != 1:
        faults.append(f"{len(reports)} separate worlds of {report['ranks']} ranks: srun and MPI share no PMI")
    elif len(report["nodes"]) != len(pair):
        faults.append(f"both ranks ran on {report['nodes'][0]}")
    if not report["exact"]:
        faults.append("the sum is wrong")
    seen = (
        f"exact; {report['latency_us']:.0f} µs for 8 B, {bandwidth:.2f} GB/s for 16 MiB "
        f"({report['library']}, TCP over the nodes' network, not the fabric)"
    )
    return GateResult(
        name="all-reduce",
        node=where,
        status="fail" if faults else "pass",
        expected=expected,
        seen="; ".join(faults) or seen,
        remedy="Look at `srun --mpi=list` and MpiDefault in slurm.conf" if faults else "",
        seconds=round(trial.ran.seconds, 3),
        figures={"latency_us": report["latency_us"], "bandwidth_gb_s": round(bandwidth, 3)},
    )


def _not_run(gate: str, where: str, expected: str, trial: Trial) -> GateResult:
    if trial.taken:
        return GateResult(gate, where, "skip", expected, "other jobs took the idle nodes")
    remedy = "Run the job by hand (`srun`) and look at slurmctld's and slurmd's logs"
    if "libmpi" in trial.ran.error:
        remedy = "Install Open MPI on the compute nodes: openmpi-bin, or openmpi in Red Hat's family"
    return GateResult(gate, where, "fail", expected, trial.ran.complaint, remedy, round(trial.ran.seconds, 3))


def batch_job(submitted: Ran, job: str, state: str, reason: str, output: str, user: str) -> GateResult:
    """A job through sbatch ran as its user, and its output is in the shared home."""
    expected = f"a batch job of {user} completes and leaves its output in the shared home"
    if not job:
        remedy = "Look at the message; accounts and limits are shown by `sacctmgr show associations`"
        return GateResult("batch-job", "", "fail", expected, submitted.complaint, remedy)
    if state in ("PENDING", "CANCELLED") and reason in ("Resources", "Priority"):
        return GateResult(
            "batch-job", "", "skip", expected, f"job {job} found no free node and was cancelled"
        )
    said = output.split()
    passed = state == "COMPLETED" and said[:1] == [user]
    seen = f"job {job} {state}" + (f" ({reason})" if reason not in ("", "None") else "")
    seen += f" on {said[1]}" if passed and len(said) > 1 else "" if passed else f", output {output.strip()!r}"
    remedy = "Look at slurmctld's log and at slurmd's on the job's node"
    return judged("batch-job", "", passed, expected=expected, seen=seen, remedy=remedy)


def accounting(
    trials: Sequence[Trial], batch: str, records: Mapping[str, JobRecord], user: str
) -> GateResult:
    """Every job of this run is in the database: completed, of its user, with what it used."""
    wanted = {trial.job: trial for trial in trials if trial.job}
    faults = []
    for job in [*wanted, *([batch] if batch else [])]:
        record = records.get(job)
        if record is None:
            faults.append(f"job {job} has no record")
        elif record.state not in ("COMPLETED", "FAILED") or record.user != user:
            faults.append(f"job {job} is {record.state or 'without a state'} of {record.user or 'nobody'}")
        elif (short := _short_of(record, wanted.get(job))) is not None:
            faults.append(f"job {job} lacks {short} in its TRES")
    used = sorted(f"{job}: {_tres(record)}" for job, record in records.items())
    return judged(
        "accounting",
        "",
        not faults,
        expected=f"{len(wanted) + bool(batch)} job records with their TRES",
        seen="; ".join(faults or used),
        remedy="Look at slurmdbd's log, `sacctmgr show cluster`, and AccountingStorageTRES=gres/gpu",
    )


def _short_of(record: JobRecord, trial: Trial | None) -> str | None:
    isolation = trial is not None and trial.reports[0]["gate"] == "gpu-isolation"
    nodes = len({str(report["node"]) for report in trial.reports}) if trial and isolation else 1
    needed = {"cpu": 1, "node": nodes, **({"gres/gpu": nodes} if isolation else {})}
    for name, least in needed.items():
        value = record.tres.get(name, "0")
        if not value.isdigit() or int(value) < least:
            return f"{name}={least}"
    return None


def _tres(record: JobRecord) -> str:
    return ",".join(
        f"{key}={record.tres[key]}" for key in ("cpu", "mem", "node", "gres/gpu") if key in record.tres
    )


def _devices(minors: set[str]) -> str:
    return ", ".join(f"/dev/nvidia{minor}" for minor in sorted(minors, key=int))

"""NCCL's gates: what its programs print, what is demanded of them, and who is to blame."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from clusterwright.accept import blame, fabric_gates, jobs, nccl
from clusterwright.accept.nccl import Alone, Squad, Together
from clusterwright.accept.nccl_text import parse
from clusterwright.accept.session import Ran, program
from clusterwright.catalog.machines import machine, machines
from clusterwright.handoff import Handoff
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedGpu
from clusterwright.providers.lab.simulators.nccl_tests import answer
from clusterwright.providers.lab.simulators.node import Node as SimulatedNode

OUTPUTS = Path(__file__).parent / "captured" / "nccl"
CLUSTERS = Path(__file__).parents[2] / "clusters"

SALLOC_IN_VAIN = """\
salloc: Pending job allocation 76
salloc: job 76 queued and waiting for resources
salloc: error: Unable to allocate resources: Connection timed out
salloc: Job allocation 76 has been revoked.
"""


def read(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text()


def test_a_run_within_a_node() -> None:
    table = parse(read("h100-node"))
    assert (table.bus, table.ranks, table.hosts, table.worlds) == (470.73, 2, ("host",), 1)
    assert not table.wrong and not table.complaint and not table.network


def test_an_older_table_and_the_words_of_efa() -> None:
    table = parse(read("efa-two-nodes"))
    assert (table.bus, table.network, table.provider) == (57.2, "AWS Libfabric", "efa")
    assert len(table.hosts) == 2 and not table.wrong


def test_what_fell_back_to_sockets() -> None:
    assert parse(read("socket")).network == "Socket"


def test_a_failure_is_named() -> None:
    table = parse(read("failure"))
    assert table.bus is None
    assert "ibv_modify_qp failed" in table.complaint


def test_wrong_sums() -> None:
    text = read("h100-node").replace("470.73      0", "470.73     12")
    assert parse(text).wrong
    assert parse(read("h100-node").replace("0 OK", "3 FAILED")).wrong


def test_the_simulated_program_is_read_alike() -> None:
    gpus = tuple(SimulatedGpu(n, "NVIDIA H100 80GB HBM3", f"0000:{n}0:00.0", f"GPU-{n}") for n in range(8))
    node = SimulatedNode(Hardware(gpus, driver_version="580.95.05", nvlink_domain=8), name="gpu-001")
    words = ["-b", "1G", "-e", "8G", "-f", "2", "-c", "0", "-g", "8"]
    table = parse(answer(node, "all_reduce_perf", words).text)
    assert table.bus == pytest.approx(478, abs=3)
    assert (table.ranks, table.hosts) == (8, ("gpu-001",))


def test_no_line_of_a_task_is_so_long_that_srun_tears_it(tmp_path: Path) -> None:
    """Two tasks that print at once: whole lines of up to 1024 bytes are all that srun keeps together."""
    long = tmp_path / "all_reduce_perf"
    long.write_text(f"#!/bin/sh\ncat {OUTPUTS / 'h100-node.txt'}\nprintf 'x%.0s' $(seq 3000)\n")
    long.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7", "SLURMD_NODENAME": "gpu-001"}
    command = [sys.executable, "-c", program("nccl_node"), "8", "1G", "8G"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    head, *rows = map(json.loads, done.stdout.splitlines())
    assert (head["node"], head["code"], head["program"]) == ("gpu-001", 0, str(long))
    assert max(map(len, done.stdout.splitlines())) < 1024
    assert parse("\n".join(row["said"] for row in rows)).bus == parse(read("h100-node")).bus


@pytest.fixture
def squad(lab: Handoff) -> Squad:
    nodes = lab.with_role("compute")
    return Squad("gpu", tuple(nodes), lab.hardware[nodes[0].machine], "IB")


def ran(output: str = "", error: str = "", code: int = 0) -> Ran:
    return Ran(code, output, error, 2.0)


def text(bus: float, hosts: Sequence[str] = ("gpu-001", "gpu-002"), network: str = "IB") -> str:
    ranks = "".join(
        f"#  Rank {n} Group  0 Pid 1 on {host} device 0 [1b] H100\n" for n, host in enumerate(hosts)
    )
    line = f"8589934592 2147483648 float sum -1 1 1 {bus} N/A 1 1 {bus} N/A"
    return f"# nThread 1 nGpus 8\n{ranks}{hosts[0]}:1:1 [0] NCCL INFO Using network {network}\n{line}\n"


def together(output: str, names: Sequence[str] = ("gpu-001", "gpu-002")) -> Together:
    return Together(tuple(names), ran(output), parse(output))


def test_every_node_reaches_its_bound_or_is_named(squad: Squad) -> None:
    found = {
        "gpu-001": Alone("/usr/bin/all_reduce_perf", parse(text(478.0)), "7"),
        "gpu-002": Alone("/usr/bin/all_reduce_perf", parse(text(239.0)), "7"),
    }
    well, slow = fabric_gates.within(squad, ran(), found, simulated=True)
    assert (well.status, slow.status) == ("pass", "fail")
    assert well.seen == "478 GB/s (a rehearsal on simulated hardware, no performance result)"
    assert slow.node == "gpu-002" and slow.expected.endswith("at 420 GB/s or more") and slow.remedy
    assert well.figures == {"nccl_node_gb_s": 478.0}


def test_a_figure_above_the_bound_and_below_the_usual_passes_with_a_word(squad: Squad) -> None:
    found = dict.fromkeys(squad.names, Alone("/x", parse(text(430.0)), "7"))
    [first, _] = fabric_gates.within(squad, ran(), found, simulated=False)
    assert (first.status, first.seen) == ("pass", "430 GB/s, below the usual 460")


def test_without_nccl_tests_nothing_is_claimed(squad: Squad) -> None:
    found = dict.fromkeys(squad.names, Alone("", parse(""), "7"))
    results = fabric_gates.within(squad, ran(), found, simulated=False)
    assert {result.status for result in results} == {"skip"}
    assert "not installed" in results[0].seen


def test_what_the_lock_has_and_the_node_does_not_is_a_fault(squad: Squad) -> None:
    found = dict.fromkeys(squad.names, Alone("", parse(""), "7"))
    results = fabric_gates.within(replace(squad, builds=True), ran(), found, simulated=False)
    assert {result.status for result in results} == {"fail"}
    assert "up --full" in results[0].remedy


def test_one_gpu_has_no_other_to_talk_to(squad: Squad) -> None:
    workstation = replace(squad, hardware=machines()["rtx4090-workstation"])
    found = {name: Alone("/opt/all_reduce_perf", parse(text(0.0)), "7") for name in squad.names}
    results = fabric_gates.within(workstation, ran(), found, simulated=False)
    assert {result.status for result in results} == {"skip"}


@pytest.mark.parametrize(
    "said", ["srun: error: Unable to allocate resources: Requested nodes are busy", SALLOC_IN_VAIN]
)
def test_nodes_that_are_taken_are_no_fault_and_a_crash_is_one(squad: Squad, said: str) -> None:
    busy = ran(error=said, code=1)
    assert {r.status for r in fabric_gates.within(squad, busy, {}, simulated=False)} == {"skip"}
    crash = ran(error="srun: error: task 0 launch failed", code=1)
    assert {r.status for r in fabric_gates.within(squad, crash, {}, simulated=False)} == {"fail"}
    failed = dict.fromkeys(squad.names, Alone("/x", parse(read("failure")), "7"))
    [first, _] = fabric_gates.within(squad, ran(), failed, simulated=False)
    assert first.status == "fail" and "ibv_modify_qp" in first.seen


def no_more(names: Sequence[str]) -> Together:
    raise AssertionError(f"{names} were asked")


def test_all_nodes_over_the_fabric(squad: Squad) -> None:
    [result] = fabric_gates.between(squad, together(text(388.0)), no_more, simulated=False)
    assert (result.status, result.node) == ("pass", "gpu-[001-002]")
    assert result.expected == "all_reduce over 2 nodes at 300 GB/s or more over infiniband"


@pytest.mark.parametrize(
    ("output", "seen"),
    [
        (text(388.0, network="Socket"), "NCCL uses Socket and not the fabric"),
        (read("failure"), "ibv_modify_qp failed"),
        (text(194.0), "194 GB/s"),
        (text(388.0, hosts=["gpu-001"]), "ranks on 1 of 2 nodes"),
    ],
)
def test_what_spoils_the_fabric_is_said(output: str, seen: str, squad: Squad) -> None:
    bad = together(output)
    results = fabric_gates.between(
        squad, bad, lambda names: replace(bad, nodes=tuple(names)), simulated=False
    )
    assert [result.node for result in results] == ["gpu-001", "gpu-002"], "nobody is known to be well"
    assert all(result.status == "fail" and seen in result.seen and result.remedy for result in results)


def test_a_build_without_mpi_is_a_skip(squad: Squad) -> None:
    each = text(478.0, hosts=["gpu-001"]) + text(478.0, hosts=["gpu-002"])
    [result] = fabric_gates.between(squad, together(each), no_more, simulated=False)
    assert (result.status, "without MPI" in result.seen) == ("skip", True)


def test_efa_goes_through_its_own_provider(squad: Squad) -> None:
    p5 = machine("p5.48xlarge")
    assert p5 is not None
    on_aws = replace(squad, hardware=p5, network="Libfabric")
    output = text(487.0, network="AWS Libfabric") + "NET/OFI Selected provider is {}, fabric is efa-direct\n"
    assert not fabric_gates.complaint(on_aws, together(output.format("efa")), None)
    assert "tcp" in fabric_gates.complaint(on_aws, together(output.format("tcp")), None)


@pytest.mark.parametrize(("used", "well"), [("", False), ("Socket", False), ("AWS Libfabric", True)])
def test_cards_of_the_fabric_are_no_sockets_where_jobs_are_told_nothing(
    used: str, well: bool, squad: Squad
) -> None:
    p5 = machine("p5.48xlarge")
    assert p5 is not None
    untold = replace(squad, hardware=p5, network="")
    fault = fabric_gates.complaint(untold, together(text(487.0, network=used)), None)
    assert (not fault) == well, fault


def test_the_one_bad_node_of_many_is_named(squad: Squad) -> None:
    nodes = tuple(replace(squad.nodes[0], name=f"gpu-{n:03}") for n in range(16))
    many = replace(squad, nodes=nodes)

    def ask(names: Sequence[str]) -> Together:
        return together(text(97.0 if "gpu-011" in names else 388.0, hosts=names), names)

    [result] = fabric_gates.between(many, ask(many.names), ask, simulated=False)
    assert (result.node, result.status) == ("gpu-011", "fail")
    assert "97 GB/s" in result.seen


@pytest.mark.parametrize("count", [3, 4, 5, 8, 13, 16])
@pytest.mark.parametrize("bad_count", [1, 2])
def test_halving_finds_exactly_the_bad_nodes(count: int, bad_count: int) -> None:
    nodes = [f"n{n:02}" for n in range(count)]
    for bad in combinations(nodes, bad_count):
        if count - bad_count < 2:
            continue
        asked: list[tuple[str, ...]] = []

        def works(
            names: Sequence[str], bad: tuple[str, ...] = bad, asked: list[tuple[str, ...]] = asked
        ) -> bool:
            assert len(names) >= 2
            asked.append(tuple(names))
            return not set(bad) & set(names)

        assert blame.find(nodes, works) == bad
        assert len(asked) <= 4 * bad_count * max(2, count.bit_length()) + 12


def test_no_node_is_blamed_for_what_joins_them() -> None:
    assert blame.find(["a", "b", "c", "d"], lambda names: len(names) == 2) == ()


def test_where_nothing_works_all_are_named() -> None:
    assert blame.find(["a", "b", "c", "d", "e"], lambda _: False) == ("a", "b", "c", "d", "e")


@pytest.mark.parametrize(
    ("example", "network"),
    [
        ("aws-p5", "Libfabric"),
        ("gcp-a3-mega", "FasTrak"),
        ("gcp-a4", "gIB"),
        ("gcp-g2", ""),
        ("onprem-hgx-b200", "IB"),
        ("onprem-mi300x-roce", "IB"),
    ],
)
def test_the_network_is_the_one_that_jobs_are_told(example: str, network: str) -> None:
    handoff = prepare(described(Source(CLUSTERS / f"{example}.yaml"))).handoff
    nodes = tuple(node for node in handoff.nodes if node.pool == "gpu")[:2]
    [squad] = nccl.squads(handoff, [jobs.Group("gpu", nodes, gpus=True)])
    assert squad.network == network
    for used in ("", "Socket", "IB", "Libfabric", "FasTrak", "gIB"):
        run = together(text(900.0, squad.names, used), squad.names)
        assert (not fabric_gates.complaint(squad, run, None)) == used.endswith(network)

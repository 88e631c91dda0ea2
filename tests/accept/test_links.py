"""Cards one by one: what ib_write_bw and fi_pingpong print, who meets whom, and whose card is slow."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from clusterwright.accept import links
from clusterwright.accept.links import Floor, Link
from clusterwright.accept.nccl import Squad
from clusterwright.accept.session import Ran, program
from clusterwright.catalog.links import link_threshold, link_thresholds
from clusterwright.catalog.machines import machine, machines
from clusterwright.handoff import Handoff
from clusterwright.providers.lab.simulators import faults
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedGpu, SimulatedNic
from clusterwright.providers.lab.simulators.rdma import tree

REPOSITORY = Path(__file__).parents[2]
CAPTURED = Path(__file__).parent / "captured"
CARDS = Hardware(
    (SimulatedGpu(0, "NVIDIA H100 80GB HBM3", "0000:1b:00.0", "GPU-0"),),
    tuple(SimulatedNic(f"ib{number}", 400) for number in range(3)),
)
WELL, FLOOR = 392.0, Floor(380, 380)
EFA = replace(CARDS, nics=tuple(SimulatedNic(f"efa{number}", 100, kind="efa") for number in range(4)))
EFA_WELL = 17.5


@pytest.fixture(scope="module")
def on_a_node() -> ModuleType:
    module = ModuleType("link_bandwidth")
    exec(compile(program("link_bandwidth"), "link_bandwidth", "exec"), module.__dict__)
    return module


def test_every_bound_has_a_source_and_is_below_its_rate() -> None:
    for row in link_thresholds():
        assert row.source and re.fullmatch(r"\d{4}-\d{2}", row.date)
        assert 0.85 * row.gbps < row.fail < row.gbps
    assert link_threshold(machines()["p5.48xlarge"]) is None


def test_the_average_is_read_and_not_the_peak(on_a_node: ModuleType) -> None:
    rxe = (CAPTURED / "perftest/rxe.txt").read_text()
    assert on_a_node.figure(on_a_node.VERBS, rxe) == {"gbps": 0.48, "said": ""}
    said = " Port number 1 state is Down\n Couldn't set the link layer\n"
    assert on_a_node.figure(on_a_node.VERBS, said) == {"gbps": None, "said": "Couldn't set the link layer"}


def test_fi_pingpong_is_read_as_the_real_one_prints(on_a_node: ModuleType) -> None:
    tcp = (CAPTURED / "libfabric/pingpong-tcp.txt").read_text()
    assert on_a_node.figure(on_a_node.LIBFABRIC, tcp) == {"gbps": 1.11, "said": ""}
    assert on_a_node.LIBFABRIC.nobody in (CAPTURED / "libfabric/pingpong-refused.txt").read_text()


@pytest.mark.parametrize("count", range(1, 9))
def test_every_node_meets_its_neighbours_and_both_agree_who_serves(on_a_node: ModuleType, count: int) -> None:
    nodes = [f"gpu-{number:03d}" for number in range(count)]
    rounds = {node: on_a_node.turns(nodes, node) for node in nodes}
    met = set()
    for node, own in rounds.items():
        assert own[0] == (node, True)
        for turn, (peer, serves) in list(enumerate(own))[1:]:
            if peer:
                assert rounds[peer][turn] == (node, not serves)
                met.add(frozenset((node, peer)))
    assert met >= {frozenset(pair) for pair in pairwise(nodes)}


def run(folder: Path, hardware: Hardware) -> list[Link]:
    """The program as it is on one node with these cards, over the simulated ib_write_bw or fi_pingpong."""
    for path, text in tree(hardware).items():
        (folder / "class" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "class" / path).write_text(f"{text}\n")
    (folder / "hardware.json").write_text(json.dumps(hardware.as_json()))
    (folder / "own/modules").mkdir(parents=True, exist_ok=True)
    (folder / "own/modules/efa").write_text("2.17.2\n")
    package = REPOSITORY / "src/clusterwright/providers/lab"
    for name in ("ib_write_bw", "fi_info", "fi_pingpong"):
        launcher = folder / name
        launcher.write_text(
            f"#!{sys.executable} -S\nimport sys\nfrom pathlib import Path\n"
            f"sys.path.insert(0, {str(package)!r})\nfrom simulators.launch import main\n"
            f"here = Path({str(folder)!r})\nsys.exit(main({name!r}, state=here, own=here / 'own'))\n"
        )
        launcher.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}:/usr/bin:/bin",
        "SLURM_JOB_ID": "7",
        "SLURMD_NODENAME": "gpu-001",
        "CLUSTERWRIGHT_CARDS": str(folder / "class/infiniband"),
        "CLUSTERWRIGHT_EFA": str(folder),
    }
    command = [sys.executable, "-c", program("link_bandwidth"), "gpu-001"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    head, *rows = map(json.loads, done.stdout.splitlines())
    used = "fi_pingpong" if hardware.nics[0].kind == "efa" else "ib_write_bw"
    assert head["program"] == str(folder / used)
    return [Link(**row) for row in rows]


def test_a_slow_card_is_slow_with_itself(tmp_path: Path) -> None:
    found = run(tmp_path, faults.inject(CARDS, "nic-slow", 1))
    assert [(link.card, link.rail, link.gbps) for link in found] == [
        ("mlx5_0", 0, WELL),
        ("mlx5_1", 1, WELL / 4),
        ("mlx5_2", 2, WELL),
    ]


def test_a_slow_card_of_efa_is_slow_with_itself_and_one_that_is_gone_is_no_rail(tmp_path: Path) -> None:
    found = run(tmp_path, faults.inject(faults.inject(EFA, "nic-slow", 1), "nic-down", 3))
    assert [(link.card, link.rail, link.gbps) for link in found] == [
        ("efa_0", 0, EFA_WELL),
        ("efa_1", 1, 4.38),
        ("efa_2", 2, EFA_WELL),
    ]


def test_two_cards_reach_what_the_slower_one_does(
    on_a_node: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client may come first: it asks again until somebody serves."""
    run(tmp_path, faults.inject(CARDS, "nic-slow", 1))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with ThreadPoolExecutor(2) as pool:
        client = pool.submit(on_a_node.meet, on_a_node.VERBS, "mlx5_0", 18700, "gpu-001", "localhost", False)
        time.sleep(0.3)
        server = pool.submit(on_a_node.meet, on_a_node.VERBS, "mlx5_1", 18700, "gpu-002", "gpu-001", True)
        assert on_a_node.figure(on_a_node.VERBS, client.result())["gbps"] == WELL / 4
        assert server.result() is None


def test_a_card_without_a_link_says_so(tmp_path: Path) -> None:
    found = run(tmp_path, faults.inject(CARDS, "nic-down", 2))
    assert [link.gbps for link in found] == [WELL, WELL, None]
    assert "link layer" in found[2].said


def ring(count: int, slow: dict[tuple[str, str], float], alone: dict[str, float] | None = None) -> list[Link]:
    """One card of each of these nodes: with itself, and with its neighbours."""
    names = [f"gpu-{number:03d}" for number in range(1, count + 1)]
    found = [Link(name, "mlx5_0", 0, name, (alone or {}).get(name, WELL), "") for name in names]
    pairs = list(pairwise(names)) + ([(names[-1], names[0])] if count > 2 else [])
    return found + [Link(b, "mlx5_0", 0, a, slow.get((a, b), slow.get((b, a), WELL)), "") for a, b in pairs]


@pytest.mark.parametrize(
    ("found", "blamed"),
    [
        (ring(4, {}), set()),
        (ring(2, {("gpu-001", "gpu-002"): 98.0}, {"gpu-002": 98.0}), {"gpu-002"}),
        (ring(2, {("gpu-001", "gpu-002"): 98.0}), {"gpu-[001-002]"}),
        (ring(4, {("gpu-001", "gpu-002"): 98.0, ("gpu-002", "gpu-003"): 98.0}), {"gpu-002"}),
        (ring(4, {("gpu-002", "gpu-003"): 98.0}), {"gpu-[002-003]"}),
    ],
)
def test_who_is_to_blame(found: list[Link], blamed: set[str]) -> None:
    assert set(links.blame(found, FLOOR)) == blamed


@pytest.fixture
def squad(lab: Handoff) -> Squad:
    nodes = lab.with_role("compute")
    return Squad("gpu", tuple(nodes), lab.hardware[nodes[0].machine], "IB")


RAN = Ran(0, "", "", 2.0)


def test_a_gate_names_node_card_and_rail(squad: Squad) -> None:
    slow = ring(2, {("gpu-001", "gpu-002"): 98.0}, {"gpu-002": 98.0})
    [result] = links.gates(squad, RAN, True, slow, note=" (a rehearsal)")
    assert (result.name, result.status, result.node) == ("fabric-pairs", "fail", "gpu-002")
    assert result.seen.startswith("mlx5_0 (rail 0): 98 Gb/s with itself, 98 Gb/s between gpu-002 and gpu-001")
    assert result.expected.endswith("380 Gb/s or more") and result.seen.endswith("(a rehearsal)")


def test_cards_that_are_slow_alike_are_told_once(squad: Squad) -> None:
    slow = [
        replace(link, card=f"mlx5_{rail}", rail=rail)
        for rail in range(8)
        for link in ring(2, {}, {"gpu-002": 98})
    ]
    [result] = links.gates(squad, RAN, True, slow)
    assert result.seen == "mlx5_[0-7] (8 rails): 98 Gb/s with itself"


def test_healthy_cards_pass_with_their_figures(squad: Squad) -> None:
    [result] = links.gates(squad, RAN, True, ring(2, {}))
    assert (result.status, result.seen) == ("pass", "1 cards of 2 nodes: 392 to 392 Gb/s")


def test_what_cannot_be_measured_claims_nothing(squad: Squad) -> None:
    assert links.gates(squad, RAN, False, ())[0].status == "skip"
    hardware = machine("a3-megagpu-8g")
    assert hardware is not None
    [result] = links.gates(replace(squad, hardware=hardware), RAN, True, ())
    assert result.status == "skip" and "no threshold is known" in result.seen


def rails(slow: Mapping[str, float]) -> list[Link]:
    """Four nodes of four EFA cards, some with this share of the figure, alone and between nodes."""
    names = [f"gpu-{number:03d}" for number in range(1, 5)]
    cards = [f"rdmap{number}s0" for number in (79, 80, 96, 113)]
    own = {(name, card): slow.get(f"{name} {card}", 1.0) for name in names for card in cards}
    alone = [Link(name, card, cards.index(card), name, 40 * share, "") for (name, card), share in own.items()]
    return alone + [
        Link(b, card, rail, a, 30 * min(own[a, card], own[b, card]), "")
        for a, b in [*pairwise(names), (names[-1], names[0])]
        for rail, card in enumerate(cards)
    ]


def all_of(node: str, share: float) -> dict[str, float]:
    return {f"{node} rdmap{number}s0": share for number in (79, 80, 96, 113)}


@pytest.mark.parametrize(
    ("slow", "told"),
    [
        ({}, {}),
        (all_of("gpu-001", 0.9), {}),
        ({"gpu-003 rdmap80s0": 0.5}, {"gpu-003": "rdmap80s0 (rail 1): 20 Gb/s with itself"}),
        (
            all_of("gpu-002", 0.5),
            {"gpu-002": "rdmap113s0,rdmap79s0,rdmap80s0,rdmap96s0 (4 rails): 20 Gb/s with itself"},
        ),
    ],
)
def test_cards_of_efa_are_held_against_the_others(
    squad: Squad, slow: dict[str, float], told: dict[str, str]
) -> None:
    hardware = machine("p5.48xlarge")
    assert hardware is not None
    results = links.gates(replace(squad, hardware=hardware), RAN, True, rails(slow))
    failed = {result.node: result.seen for result in results if result.status == "fail"}
    assert failed.keys() == told.keys() and all(failed[name].startswith(told[name]) for name in told)
    assert (
        results[0].expected == "each card carries what most do: 28 Gb/s or more with itself, 21 between nodes"
    )

"""What the gate program tells Slurm, and what it leaves alone."""

from __future__ import annotations

import time
from itertools import count
from types import SimpleNamespace

import pytest
from gate_node import smi
from gate_tree import Tree, in_process, needs_mknod


class Slurm:
    """A scontrol that shows one node and records what it was told."""

    def __init__(self, tree: Tree, state: str, reason: str = "") -> None:
        self._log = tree.root / "scontrol.log"
        self._log.touch()
        shown = f"NodeName=gpu-001 Arch=x86_64 State={state} ThreadsPerCore=2"
        shown += f" Reason={reason} [root@2026-11-21T13:51:26]" if reason else ""
        tree.program("scontrol", f'echo "$@" >> {self._log}\n[ "$1" = show ] && echo "{shown}"\nexit 0')

    @property
    def told(self) -> list[str]:
        return [line for line in self._log.read_text().splitlines() if line.startswith("update")]

    @property
    def asked(self) -> int:
        return len(self._log.read_text().splitlines())


def test_quick_drains_with_its_own_reason(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    healthy.program("nvidia-smi", smi(7))
    assert healthy.run("--quick")[0] == 1
    expected = "8 x NVIDIA H100 80GB HBM3, seen 7 GPUs by nvidia-smi"
    reason = f"reason=clusterwright: gate gpus: expected {expected}"
    assert slurm.told == [f"update nodename=gpu-001 state=drain {reason}"]


OWN = "clusterwright: gate gpus: expected 8 x NVIDIA H100, seen 7 GPUs by nvidia-smi"


@needs_mknod
@pytest.mark.parametrize("reason", [OWN, "gres/gpu count reported lower than configured (7 < 8)"])
def test_quick_undrains_what_it_drained(healthy: Tree, reason: str) -> None:
    slurm = Slurm(healthy, "IDLE+DRAIN", reason)
    assert healthy.run("--quick")[0] == 0
    assert slurm.told == ["update nodename=gpu-001 state=undrain reason="]


@needs_mknod
@pytest.mark.parametrize("reason", ["fan 3", "clusterwright: replaced by the operator", "Kill task failed"])
def test_quick_never_undoes_the_drain_of_another(healthy: Tree, reason: str) -> None:
    slurm = Slurm(healthy, "IDLE+DRAIN", reason)
    assert healthy.run("--quick")[0] == 0
    healthy.program("nvidia-smi", smi(7))
    assert healthy.run("--quick")[0] == 1
    assert slurm.told == []


@needs_mknod
def test_a_healthy_node_asks_slurm_once_per_boot(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    for _ in range(3):
        healthy.run("--quick")
    assert slurm.asked == 1


def test_the_same_failure_is_told_once(healthy: Tree) -> None:
    healthy.program("nvidia-smi", smi(7))
    slurm = Slurm(healthy, "IDLE+DRAIN", OWN)
    healthy.run("--quick")
    assert slurm.told == []


@needs_mknod
def test_who_looked_last_has_the_last_word(healthy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """slurmd's own run meets a fault, and ends after it was mended and looked at again."""
    slurm, gate = Slurm(healthy, "IDLE"), in_process(healthy, monkeypatch)
    seconds = map(float, count(7))
    monkeypatch.setattr(gate, "time", SimpleNamespace(monotonic=seconds.__next__, time=time.time))
    monkeypatch.setattr("sys.argv", ["gate", "--quick", "--root", str(healthy.root)])
    assert gate.main() == 0
    began = float((healthy.root / "run/clusterwright/told").read_text())
    assert began == 7.0, "before it looks at anything"
    fault = {"name": "gpus", "status": "fail", "expected": "8 GPUs", "seen": "7", "remedy": "Look"}
    report, node = {"node": "gpu-001", "gates": [fault]}, gate.Node(str(healthy.root), 60.0)
    gate.slurm.tell(node, report, began - 1)
    assert slurm.told == []
    gate.slurm.tell(node, report, began + 1)
    assert [words.partition(" reason")[0] for words in slurm.told] == ["update nodename=gpu-001 state=drain"]


@needs_mknod
def test_only_quick_talks_to_slurm(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    healthy.run()
    healthy.run("--boot")
    assert slurm.asked == 0

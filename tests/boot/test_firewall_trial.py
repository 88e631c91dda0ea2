"""The node's own program with the real nft: a trial that nobody confirms leaves what was there before."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .wires import Machine, room

PROGRAM = Path(__file__).parents[2] / "roles/firewall/files/firewall"
RULES = """\
table inet clusterwright
delete table inet clusterwright
table inet clusterwright {
	chain input {
		type filter hook input priority filter; policy drop;
		tcp dport PORT accept
		counter
	}
}
"""
FOREIGN = "table inet another { chain input { type filter hook input priority 0; policy accept; }; }"
WRAPPED = ("cp", "mv", "rm", "chmod", "sync", "nft", "systemctl")
# Runs the real program, or notes it where it would reach the machine of the test; then, at the call that was
# named, kills its caller.
WRAPPER = """\
#!/bin/sh
echo "NAME $*" >>FOLDER/calls
case NAME in systemctl | sync) ;; *) false ;; esac || REAL "$@" || exit
if [ -e FOLDER/kill ] && [ "$(wc -l <FOLDER/calls)" -eq "$(cat FOLDER/kill)" ]; then kill -9 $PPID; fi
"""


@dataclass
class Node:
    """A machine of the test's, with a tree of its own."""

    machine: Machine
    folder: Path

    @property
    def rules(self) -> Path:
        return self.folder / "root/etc/clusterwright/firewall/work.nft"

    def place(self, port: int) -> None:
        self.rules.parent.mkdir(parents=True, exist_ok=True)
        self.rules.write_text(RULES.replace("PORT", str(port)))

    def says(self, verb: str, kill: int = 0) -> tuple[int, str]:
        """Exit status and words of the program; killed after so many calls of others."""
        (self.folder / "calls").write_text("")
        (self.folder / "kill").unlink(missing_ok=True)
        if kill:
            (self.folder / "kill").write_text(str(kill))
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        words = self.machine.words("sh", str(PROGRAM), verb, str(self.folder / "root"))
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=60)
        return done.returncode, done.stdout.strip()

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    def nft(self, *words: str) -> str:
        return self.machine.run("nft", *words)

    @property
    def open(self) -> set[int]:
        """Ports of the loaded rules; without a table, nothing is kept out."""
        shown = self.nft("list", "ruleset")
        return {port for port in (1, 2, 3) if f"dport {port} accept" in shown}

    def keeps(self, port: int) -> None:
        self.place(port)
        if self.says("try") == (0, "trial"):
            assert self.says("confirm") == (0, "confirmed")
        assert self.open == {port}

    def snapshot(self) -> None:
        shutil.copytree(self.folder / "root", self.folder / "saved")
        (self.folder / "ruleset").write_text(f"flush ruleset\n{self.nft('list', 'ruleset')}")

    def back(self) -> None:
        shutil.rmtree(self.folder / "root")
        shutil.copytree(self.folder / "saved", self.folder / "root")
        self.nft("--file", str(self.folder / "ruleset"))

    def boots(self) -> None:
        self.nft("flush", "ruleset")
        assert self.says("boot")[0] == 0


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    (tmp_path / "bin").mkdir()
    for name in WRAPPED:
        text = WRAPPER.replace("NAME", name).replace("FOLDER", str(tmp_path))
        (tmp_path / "bin" / name).write_text(text.replace("REAL", shutil.which(name) or "false"))
        (tmp_path / "bin" / name).chmod(0o755)
    with room({"work": "10.74.0.11/24"}) as machines:
        yield Node(machines["work"], tmp_path)


def test_kept_when_confirmed_and_then_left_alone(node: Node) -> None:
    node.place(1)
    assert node.says("try") == (0, "trial")
    assert node.calls().index("systemctl restart clusterwright-nftables-undo.timer") < node.calls().index(
        f"nft --file {node.folder}/root/var/lib/clusterwright/firewall/trial.nft"
    )
    assert node.says("check")[0] == 1
    assert node.says("confirm") == (0, "confirmed")
    assert node.calls()[-1] == "systemctl stop clusterwright-nftables-undo.timer"
    assert node.says("check") == (0, "work.nft is loaded")
    assert node.says("try") == (0, "same")
    assert not [call for call in node.calls() if call.startswith(("nft --file", "systemctl"))]
    assert node.open == {1}


def test_unconfirmed_rules_go_and_so_does_the_file(node: Node) -> None:
    node.keeps(1)
    node.place(2)
    node.says("try")
    assert node.open == {2}
    node.says("undo")
    assert node.open == {1}
    assert "dport 1" in node.rules.read_text()
    status, said = node.says("confirm")
    assert status == 1 and "the trial ended" in said
    assert node.open == {1}


def test_first_rules_that_nobody_confirms_leave_none(node: Node) -> None:
    node.place(1)
    node.says("try")
    node.says("undo")
    assert "clusterwright" not in node.nft("list", "ruleset")
    assert not node.rules.exists()


def test_a_boot_loads_what_was_confirmed(node: Node) -> None:
    node.keeps(1)
    node.place(2)
    node.says("try")
    node.boots()
    assert node.open == {1}
    assert node.says("check") == (0, "work.nft is loaded")


def test_what_nft_does_not_take_is_not_tried(node: Node) -> None:
    node.keeps(1)
    node.rules.write_text("no rule\n")
    assert node.says("try")[0] == 1
    assert node.open == {1}
    assert not [call for call in node.calls() if call.startswith("systemctl")]


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (("flush", "ruleset"), "is gone"),
        (("insert", "rule", "inet", "clusterwright", "input", "accept"), "somebody changed"),
    ],
)
def test_what_somebody_did_is_told_and_mended(node: Node, done: tuple[str, ...], told: str) -> None:
    node.keeps(1)
    node.nft(*done)
    status, said = node.says("check")
    assert status == 1 and told in said
    node.keeps(1)
    assert node.says("check")[0] == 0


def test_nobody_elses_table_is_touched(node: Node) -> None:
    node.nft(FOREIGN)
    node.keeps(1)
    node.place(2)
    node.says("try")
    node.says("undo")
    node.says("off")
    assert node.nft("list", "tables").splitlines() == ["table inet another"]


@pytest.mark.parametrize("verb", ["try", "confirm", "undo"])
def test_killed_anywhere_the_node_gets_back_to_rules_that_were_confirmed(node: Node, verb: str) -> None:
    node.keeps(1)
    node.place(2)
    if verb != "try":
        node.says("try")
    node.snapshot()
    for kill in range(1, 100):
        node.back()
        status, _ = node.says(verb, kill)
        if len(node.calls()) < kill:  # it ended before
            assert kill > 2
            return
        assert status == -9
        armed = verb == "undo" or any("restart clusterwright-nftables-undo" in call for call in node.calls())
        assert verb == "confirm" or armed or node.open == {1}
        node.says("undo")  # the timer's
        confirmed = 2 if verb == "confirm" and node.open == {2} else 1
        assert node.open == {confirmed}
        assert f"dport {confirmed}" in node.rules.read_text() or verb == "try"
        node.boots()
        assert node.open == {confirmed}
    raise AssertionError

"""Nodes are asked over SSH; one that is off, mute or without lldpd breaks nothing for the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from clusterwright.finding import Refused
from clusterwright.operate.lldp.collect import ASK, from_files, over_ssh
from clusterwright.operate.lldp.verify import hold
from clusterwright.operate.source import Source
from clusterwright.operate.wired import cables
from clusterwright.plan.wiring import Wiring

from .told import Told

FABRIC = Path(__file__).parent / "fabrics" / "rails.yaml"


@dataclass(frozen=True)
class Answering:
    """A node in whose place a shell here runs a script."""

    name: str
    script: str

    def argv(self, command: str) -> list[str]:
        assert command == ASK
        return ["sh", "-c", self.script]


@pytest.fixture
def wiring(tmp_path: Path) -> Wiring:
    file = tmp_path / "roce.yaml"
    file.write_text(FABRIC.read_text())
    return cables(Source(file))[0]


def test_what_three_do_not_tell_leaves_the_fourth_verified(wiring: Wiring, tmp_path: Path) -> None:
    told = Told(wiring, "json0")
    told.pull("gpu-004 eth3")
    (tmp_path / "told").write_text(told.text_of("gpu-004"))
    scripts = {
        "gpu-001": "echo 'ssh: connect to host 10.1.0.1 port 22: No route to host' >&2; exit 255",
        "gpu-002": "exit 127",
        "gpu-003": "echo '[WARN/control] unable to connect to socket' >&2; exit 1",
        "gpu-004": f"cat {tmp_path / 'told'}",
    }
    collected = over_ssh(wiring, {name: Answering(name, script) for name, script in scripts.items()})
    found = hold(wiring, collected)
    assert [f"{one.code} {one.where.path}: {one.what}" for one in found.findings] == [
        "CW8230 gpu-001: no answer over SSH: ssh: connect to host 10.1.0.1 port 22: No route to host",
        "CW8232 gpu-002: lldpd is not installed there",
        "CW8232 gpu-003: lldpcli failed: [WARN/control] unable to connect to socket",
        "CW6102 gpu-004 eth3: there is no link from gpu-004 eth3 (rack a2, unit 13) to "
        "gpu-leaf-01/16 (swp16, rack n1, unit 1)",
    ]
    assert (found.links, found.unseen, found.ok) == (7, 152, False)


def test_nodes_that_fail_alike_are_told_once(wiring: Wiring) -> None:
    collected = over_ssh(wiring, {name: Answering(name, "exit 127") for name in wiring.nodes})
    assert [(one.code, one.where.path) for one in collected.findings] == [("CW8232", "gpu-[001-004]")]


def test_the_question_is_one_that_a_shell_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without lldpd, with one that is not running, and with one that answers."""
    from clusterwright.operate.remote import run_on

    def asked() -> tuple[int, str]:
        answer = run_on(Plain(), ASK)
        return answer.code, answer.output.partition("\n")[0]

    class Plain:
        name = "gpu-001"

        def argv(self, command: str) -> list[str]:
            return ["/bin/sh", "-c", command]

    monkeypatch.setenv("PATH", str(tmp_path))
    assert asked() == (127, "")
    tool = tmp_path / "lldpcli"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o755)
    assert asked() == (1, "")
    tool.write_text('#!/bin/sh\necho "{} $*"\n')
    assert asked() == (0, "{} -f json0 show neighbors")


def test_a_folder_that_is_not_there_is_refused(wiring: Wiring, tmp_path: Path) -> None:
    with pytest.raises(Refused) as told:
        from_files(wiring, [tmp_path / "nowhere"])
    assert [finding.code for finding in told.value.findings] == ["CW8238"]

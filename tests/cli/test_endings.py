"""However a verb ends, there is an exit code and a line for a person, and never a raw traceback."""

from __future__ import annotations

import json
import os
import subprocess
from argparse import Namespace
from pathlib import Path

import pytest
from command import BIN, clusterwright, environment

from clusterwright import cli
from clusterwright.cli.verb import validate


def _ending(monkeypatch: pytest.MonkeyPatch, error: BaseException, *words: str) -> int:
    def run(_: Namespace) -> int:
        raise error

    monkeypatch.setattr(validate, "run", run)
    return cli.main(["validate", "x.yaml", *words])


def test_a_bug_is_one_line_and_a_saved_trace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert _ending(monkeypatch, ZeroDivisionError("never\nmind")) == 1
    line = capsys.readouterr().err
    assert line.startswith(
        "clusterwright: a bug in clusterwright: ZeroDivisionError: never (the trace is in "
    )
    assert line.count("\n") == 1
    [trace] = (tmp_path / "clusterwright" / "crashes").iterdir()
    assert "Traceback (most recent call last)" in trace.read_text()
    assert "clusterwright validate x.yaml" in trace.read_text()
    assert trace.stat().st_mode & 0o077 == 0


def test_a_bug_is_told_in_json_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert _ending(monkeypatch, KeyError("gpu"), "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"] == "a bug in clusterwright: KeyError: 'gpu'"


def test_a_full_disk_is_named_and_the_trace_goes_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder can be made below a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert _ending(monkeypatch, OSError(28, "No space left on device", "/var/lib/x")) == 1
    line = capsys.readouterr().err
    assert line.startswith("clusterwright: /var/lib/x: No space left on device (the trace is in ")
    assert str(tmp_path) in line


def test_an_interrupt_gives_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ending(monkeypatch, KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "\ninterrupted\n"


def test_a_reader_that_left_is_no_error(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [BIN / "clusterwright", "init", "-"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "xterm"}])
def test_colour_only_on_a_terminal_that_wants_it(tmp_path: Path, variable: dict[str, str]) -> None:
    command = f"{BIN}/clusterwright validate absent.yaml"
    env = environment(tmp_path, **variable)
    seen = subprocess.run(
        ["script", "-qefc", command, "/dev/null"], env=env, cwd=tmp_path, capture_output=True, check=False
    )
    assert (b"\x1b[" in seen.stdout) == (variable == {"TERM": "xterm"})
    assert b"CW1001" in seen.stdout
    assert "\x1b" not in clusterwright("validate", "absent.yaml", home=tmp_path, **variable).stderr

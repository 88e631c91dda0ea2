"""Module `node`, run as Ansible runs it, against a folder instead of a machine."""

from __future__ import annotations

import base64
import grp
import json
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

ME = {"owner": pwd.getpwuid(os.getuid()).pw_name, "group": grp.getgrgid(os.getgid()).gr_name}
Call = Callable[..., dict[str, Any]]
Plugin = Callable[[str], Any]


@pytest.fixture
def node(plugin: Plugin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    module = plugin("modules.node")

    def call(**arguments: Any) -> dict[str, Any]:
        given = {"state_folder": str(tmp_path / "state"), **arguments}
        with patch_module_args(given), pytest.raises(SystemExit):
            module.main()
        return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]

    return call


def a_file(path: Path, content: str | None = "one\n", **more: Any) -> dict[str, Any]:
    row = {"path": str(path), **ME, **more}
    return row if content is None else {**row, "content": content}


def pending(tmp_path: Path) -> dict[str, str]:
    return json.loads((tmp_path / "state" / "pending.json").read_text())  # type: ignore[no-any-return]


def test_places_a_file_once(node: Call, tmp_path: Path) -> None:
    path = tmp_path / "etc" / "slurm" / "slurm.conf"
    first = node(files=[a_file(path, mode="0640")])
    assert (first["changed"], first["paths"]) == (True, [str(path)])
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("one\n", 0o640)
    assert node(files=[a_file(path, mode="0640")])["changed"] is False


@pytest.mark.parametrize("harm", [lambda p: p.write_text("two\n"), lambda p: p.chmod(0o666), Path.unlink])
def test_mends_what_was_altered(node: Call, tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    node(files=[a_file(path)])
    harm(path)
    assert node(files=[a_file(path)])["paths"] == [str(path)]
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("one\n", 0o644)


def test_check_mode_shows_the_difference_and_changes_nothing(node: Call, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("zero\n")
    told = node(files=[a_file(path)], _ansible_check_mode=True, _ansible_diff=True)
    assert told["changed"] is True
    assert (told["diff"][0]["before"], told["diff"][0]["after"]) == ("zero\n", "one\n")
    assert path.read_text() == "zero\n"
    assert not (tmp_path / "state").exists()


def test_a_key_is_never_shown(node: Call, tmp_path: Path) -> None:
    path, secret = tmp_path / "slurm.key", base64.b64encode(b"very secret bytes").decode()
    told = node(files=[a_file(path, None, mode="0600")], keys={str(path): secret}, _ansible_diff=True)
    assert path.read_bytes() == b"very secret bytes"
    assert secret not in json.dumps(told)
    assert "very secret" not in json.dumps(told)


def test_a_key_that_was_not_given_is_named(node: Call, tmp_path: Path) -> None:
    told = node(files=[a_file(tmp_path / "slurm.key", None)])
    assert told["failed"] is True
    assert "slurm.key: its content was not given" in told["msg"]


def test_a_missing_owner_is_named(node: Call, tmp_path: Path) -> None:
    told = node(files=[{**a_file(tmp_path / "file"), "owner": "no-such-user"}])
    assert "no-such-user" in told["msg"]


def test_what_is_owed_survives_until_a_unit_is_told(node: Call, tmp_path: Path) -> None:
    path = tmp_path / "file"
    node(files=[a_file(path, affects=["slurmctld:reload"])])
    assert pending(tmp_path) == {"slurmctld": "reload"}
    node(files=[a_file(path, "two\n", affects=["slurmctld:restart"])])
    node(files=[a_file(path, "three\n", affects=["slurmctld:reload"])])
    assert pending(tmp_path) == {"slurmctld": "restart"}


def test_nothing_is_recorded_while_something_is_owed(node: Call, tmp_path: Path) -> None:
    told = node(files=[a_file(tmp_path / "file", affects=["slurmctld:reload"])], digest="d1")
    assert told["failed"] is True
    assert not (tmp_path / "state" / "applied.json").exists()


def test_the_digest_is_recorded_once(node: Call, tmp_path: Path) -> None:
    assert node(digest="d1")["actions"] == ["record"]
    assert node(digest="d1")["changed"] is False
    assert json.loads((tmp_path / "state" / "applied.json").read_text())["digest"] == "d1"


def test_a_file_that_is_no_longer_wanted_is_removed(node: Call, tmp_path: Path) -> None:
    old, kept, strange = tmp_path / "topology.conf", tmp_path / "slurm.conf", tmp_path / "mine.conf"
    strange.write_text("a person's own\n")
    node(files=[a_file(old, affects=["slurmctld:reload"]), a_file(kept)], remove_stale=True)
    (tmp_path / "state" / "pending.json").unlink()
    assert node(files=[a_file(kept)], remove_stale=True)["paths"] == [str(old)]
    assert (old.exists(), kept.exists(), strange.exists()) == (False, True, True)
    assert pending(tmp_path) == {"slurmctld": "reload"}
    assert node(files=[a_file(kept)], remove_stale=True)["changed"] is False


def test_a_unit_is_stopped_while_its_files_are_still_there(
    node: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit, program, kept = tmp_path / "one.service", tmp_path / "program", tmp_path / "slurm.conf"
    systemctl, said = tmp_path / "bin" / "systemctl", tmp_path / "said"
    systemctl.parent.mkdir()
    systemctl.write_text(f'#!/bin/sh\necho "$* $(cat {program})" >>{said}\n[ "$1" != clean ]\n')
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{systemctl.parent}:{os.environ['PATH']}")
    node(files=[a_file(unit, affects=["one:stop"]), a_file(program), a_file(kept)], digest="d1")
    assert not said.exists()
    node(files=[a_file(kept)], remove_stale=True, digest="d2")
    assert said.read_text().splitlines() == ["disable --now one one", "clean --what=state one one"]
    assert not unit.exists() and not program.exists()


def test_a_file_that_is_left_to_the_site_stays_and_is_forgotten(node: Call, tmp_path: Path) -> None:
    left, kept = tmp_path / "modprobe.conf", tmp_path / "slurm.conf"
    node(files=[a_file(left), a_file(kept)], remove_stale=True)
    assert node(files=[a_file(kept)], remove_stale=True, left_files=[str(left)])["changed"] is False
    assert node(files=[a_file(kept)], remove_stale=True)["changed"] is False
    assert left.exists()


def test_directories_are_made_and_mended(node: Call, tmp_path: Path) -> None:
    spool = tmp_path / "spool" / "slurmctld"
    wanted = [{"path": str(spool), "mode": "0700", **ME}]
    assert node(directories=wanted)["paths"] == [str(spool)]
    spool.chmod(0o777)
    assert node(directories=wanted)["paths"] == [str(spool)]
    assert spool.stat().st_mode & 0o777 == 0o700
    assert node(directories=wanted)["changed"] is False


def test_a_kill_between_two_files_is_mended_by_the_next_run(
    node: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    files = [a_file(path, affects=["slurmctld:restart"]) for path in (first, second)]
    monkeypatch.setattr(os, "rename", _dies_at(os.rename, str(second)))
    with pytest.raises(KeyboardInterrupt):
        node(files=files)
    monkeypatch.undo()
    assert (first.exists(), second.exists()) == (True, False)
    assert pending(tmp_path) == {"slurmctld": "restart"}
    assert node(files=files)["paths"] == [str(second)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "state"]


def _dies_at(rename: Callable[[str, str], None], target: str) -> Callable[[str, str], None]:
    def dying(source: str, destination: str) -> None:
        if destination == target:
            raise KeyboardInterrupt
        rename(source, destination)

    return dying

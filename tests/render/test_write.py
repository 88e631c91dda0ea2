"""`clusterwright render FILE --out DIR`: whole files, only its own, and none left behind."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest

from clusterwright.finding import Refused
from clusterwright.render import NodeFile
from clusterwright.render.write import MANIFEST, tree

ONE = NodeFile("/etc/slurm/one.conf", "one\n", ("controller",))
SECRETIVE = NodeFile("/etc/slurm/two.conf", "two\n", ("controller",), mode=0o600)


def test_files_stand_below_the_folder_with_their_modes(tmp_path: Path) -> None:
    written = tree([ONE, SECRETIVE], tmp_path / "out")
    assert written.changed == ("etc/slurm/one.conf", "etc/slurm/two.conf")
    assert (tmp_path / "out/etc/slurm/one.conf").read_text() == "one\n"
    assert (tmp_path / "out/etc/slurm/two.conf").stat().st_mode & 0o777 == 0o600


def test_a_second_time_nothing_is_touched(tmp_path: Path) -> None:
    tree([ONE, SECRETIVE], tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert tree([ONE, SECRETIVE], tmp_path).changed == ()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_is_no_longer_rendered_goes_with_its_empty_folders(tmp_path: Path) -> None:
    other = NodeFile("/etc/prometheus/rules/a.yml", "x\n", ("controller",))
    tree([ONE, other], tmp_path)
    assert tree([ONE], tmp_path).removed == ("etc/prometheus/rules/a.yml",)
    assert sorted(path.name for path in (tmp_path / "etc").iterdir()) == ["slurm"]


def test_a_changed_mode_is_repaired(tmp_path: Path) -> None:
    tree([SECRETIVE], tmp_path)
    (tmp_path / "etc/slurm/two.conf").chmod(0o644)
    assert tree([SECRETIVE], tmp_path).changed == ("etc/slurm/two.conf",)
    assert (tmp_path / "etc/slurm/two.conf").stat().st_mode & 0o777 == 0o600


def test_a_file_of_somebody_else_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "etc/slurm").mkdir(parents=True)
    (tmp_path / "etc/slurm/one.conf").write_text("theirs\n")
    with pytest.raises(Refused) as refused:
        tree([ONE, SECRETIVE], tmp_path)
    assert [finding.code for finding in refused.value.findings] == ["CW3002"]
    assert (tmp_path / "etc/slurm/one.conf").read_text() == "theirs\n"
    assert not (tmp_path / "etc/slurm/two.conf").exists()


@pytest.mark.parametrize("fatal", range(1, 6))
def test_killed_at_any_rename_the_next_run_finishes_and_cleans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    old = NodeFile("/etc/old.conf", "old\n", ("controller",))
    tree([old], tmp_path)
    calls = iter(range(1, 100))
    replace = Path.replace

    def dying(self: Path, target: Path) -> Path:
        if next(calls) == fatal:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", dying)
    with contextlib.suppress(KeyboardInterrupt):
        tree([ONE, SECRETIVE], tmp_path)
    monkeypatch.undo()
    tree([ONE, SECRETIVE], tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {MANIFEST, "etc/slurm/one.conf", "etc/slurm/two.conf"}


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"files": 3}'])
def test_a_damaged_list_is_a_finding(tmp_path: Path, damage: str) -> None:
    (tmp_path / MANIFEST).write_text(damage)
    with pytest.raises(Refused) as refused:
        tree([ONE], tmp_path)
    assert refused.value.findings[0].code == "CW3003"


def test_a_list_cannot_reach_outside_its_folder(tmp_path: Path) -> None:
    outside = tmp_path / "keep.txt"
    outside.write_text("keep\n")
    out = tmp_path / "out"
    out.mkdir()
    (out / MANIFEST).write_text(json.dumps({"files": ["../keep.txt", os.fspath(outside)]}))
    tree([ONE], out)
    assert outside.read_text() == "keep\n"

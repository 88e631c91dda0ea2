"""The locks of the examples are current, and a program can read what `lock` says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from clusterwright.cli import main
from clusterwright.plan.software import beside, load

CLUSTERS = Path(__file__).parents[2] / "clusters"
EXAMPLES = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.stem.endswith(".lock")]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_the_lock_of_an_example_is_current(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", str(example), "--check"]) == 0, capsys.readouterr().out


@pytest.fixture
def gpu(tmp_path: Path) -> Path:
    return Path(shutil.copy(Path(__file__).parent / "files" / "gpu.yaml", tmp_path))


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_program_reads_what_changed(gpu: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", str(gpu), "--check", "--json"]) == 1
    missing = told(capsys)
    assert (missing["current"], beside(gpu).exists()) == (False, False)
    assert main(["lock", str(gpu), "--json"]) == 0
    written = told(capsys)
    assert written["changes"] == missing["changes"]
    driver = next(change for change in written["changes"] if change["component"] == "driver")
    assert (driver["before"], driver["after"], driver["pools"]) == (None, "580.95.05 open", ["gpu"])
    assert main(["lock", str(gpu), "--check", "--json"]) == 0
    assert told(capsys) == {**written, "current": True, "changes": []}


def test_an_upgrade_moves_what_is_not_wished_for_otherwise(gpu: Path) -> None:
    assert main(["lock", str(gpu)]) == 0
    before = load(beside(gpu)).pools["gpu"]
    gpu.write_text(gpu.read_text().replace("dcgm: 4.5.3, ", "").replace("nccl: 2.28.9, ", ""))
    main(["lock", str(gpu)])
    assert load(beside(gpu)).pools["gpu"]["dcgm"].version == "4.5.3"
    main(["lock", str(gpu), "--upgrade", "nccl"])
    moved = load(beside(gpu)).pools["gpu"]
    assert moved["nccl"].version != before["nccl"].version
    assert {name: row.version for name, row in moved.items() if name != "nccl"} == {
        name: row.version for name, row in before.items() if name != "nccl"
    }


def test_a_lock_that_was_touched_by_hand_is_not_current(gpu: Path) -> None:
    main(["lock", str(gpu)])
    file = beside(gpu)
    file.write_text(file.read_text().replace("hold: [cuda-toolkit-13-0]", "hold: []"))
    assert main(["lock", str(gpu), "--check"]) == 1
    assert main(["lock", str(gpu)]) == 0
    assert "hold: [cuda-toolkit-13-0]" in file.read_text()


def test_a_lock_that_cannot_be_written_or_read_is_a_finding(
    gpu: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("clusterwright.operate.home.write_atomically", full)
        assert main(["lock", str(gpu)]) == 2
    assert "CW9003 cannot be written (No space left on device)" in capsys.readouterr().err
    beside(gpu).write_bytes(b"\xff")
    assert main(["lock", str(gpu)]) == 2
    assert "CW1366 the lock cannot be read: it is not text" in capsys.readouterr().err

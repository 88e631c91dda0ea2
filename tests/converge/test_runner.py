"""What a run that never got as far as a node means for its nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.converge import runner


@pytest.mark.parametrize("ending", ["kill -KILL $$", "exit 3"])
def test_a_run_that_says_nothing_is_a_failure(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "ansible-playbook"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{ending}\n")
    program.chmod(0o755)
    real = runner._environment
    monkeypatch.setattr(
        runner, "_environment", lambda folder: {**real(folder), "PATH": f"{program.parent}:/usr/bin:/bin"}
    )
    inventory = tmp_path / "hosts.json"
    inventory.write_text("{}")
    folder = tmp_path / "run"
    folder.mkdir()
    run = runner.Run(folder, print)
    results = run.play("some.playbook", inventory, ["gpu-001"])
    assert results["gpu-001"].status == "failed"

"""Module `hold`, run as Ansible runs it, with programs that stand in for apt-mark and rpm."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

HELD = "nvidia-driver-cuda-3:580.95.05-1.el9.*"
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def hold(
    plugin: Callable[[str], Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Call:
    module = plugin("modules.hold")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def call(package_format: str, **more: Any) -> dict[str, Any]:
        given = {
            "packages": ["nvidia-driver-cuda", "nvidia-*"],
            "package_format": package_format,
            "list_file": str(tmp_path / "versionlock.list"),
            **more,
        }
        with patch_module_args(given), pytest.raises(SystemExit):
            module.main()
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    return call


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_dnfs_list_has_what_is_installed_and_nothing_that_is_not(hold: Call, tmp_path: Path) -> None:
    program(tmp_path, "rpm", f"echo '{HELD}'; echo '{HELD}'")
    listed = tmp_path / "versionlock.list"
    planned = hold("rpm", _ansible_check_mode=True)
    assert planned["changed"] and not listed.exists()
    assert hold("rpm")["held"] == [HELD]
    assert listed.read_text().splitlines()[1:] == [HELD]
    assert hold("rpm")["changed"] is False
    program(tmp_path, "rpm", "true")
    assert hold("rpm")["changed"] is True
    assert HELD not in listed.read_text()


def test_apt_marks_only_what_is_not_marked(hold: Call, tmp_path: Path) -> None:
    shown, done = f"cat {tmp_path}/held", f'echo "$@" >> {tmp_path}/done'
    program(tmp_path, "apt-mark", f'[ "$1" = showhold ] && {shown} || {done}')
    (tmp_path / "held").write_text("nvidia-driver-cuda\n")
    assert hold("deb", packages=["nvidia-driver-cuda", "cuda"], _ansible_check_mode=True)["held"] == ["cuda"]
    assert not (tmp_path / "done").exists()
    assert hold("deb", packages=["nvidia-driver-cuda", "cuda"])["held"] == ["cuda"]
    assert (tmp_path / "done").read_text() == "hold cuda\n"
    assert hold("deb", packages=["nvidia-driver-cuda"])["changed"] is False

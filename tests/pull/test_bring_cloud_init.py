"""The script that images without cloud-init run at boot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clusterwright.bundle.userdata import startup_script


def stubs(folder: Path, *names: str) -> Path:
    """Programs that only say that they ran."""
    for name in names:
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>{folder}/log\n')
        program.chmod(0o755)
    return folder


def ran(folder: Path) -> list[str]:
    subprocess.run(["/bin/sh", "-c", startup_script()], env={"PATH": str(folder)}, check=True)
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


def test_nothing_happens_where_cloud_init_is(tmp_path: Path) -> None:
    assert ran(stubs(tmp_path, "cloud-init", "apt-get", "dnf", "reboot")) == []


@pytest.mark.parametrize(
    ("manager", "asked"),
    [
        ("apt-get", ["apt-get update", "apt-get install -y cloud-init", "reboot "]),
        ("dnf", ["dnf install -y cloud-init", "reboot "]),
    ],
)
def test_it_is_installed_and_the_machine_boots_again(tmp_path: Path, manager: str, asked: list[str]) -> None:
    assert ran(stubs(tmp_path, manager, "reboot")) == asked


def test_a_machine_does_not_boot_again_for_nothing(tmp_path: Path) -> None:
    folder = stubs(tmp_path, "apt-get", "reboot")
    (folder / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(subprocess.CalledProcessError):
        ran(folder)
    assert not (folder / "log").exists()

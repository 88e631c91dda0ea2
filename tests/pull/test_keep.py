"""What outlives a machine, on a real disk: a loop device, in a mount namespace of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusterwright.bundle.userdata import user_data

pytestmark = pytest.mark.lab
KEEP = Path(__file__).parents[2] / "roles/pull/files/keep"
PRIVATE = "mount -t tmpfs none /mnt && mkdir -p /var/lib && mount -t tmpfs none /var/lib && "


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0 or not all(map(shutil.which, ("losetup", "unshare", "mkfs.ext4", "resize2fs"))):
        pytest.skip("needs root, losetup, unshare and e2fsprogs")
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    argv = ["losetup", "--find", "--show", image]
    made = subprocess.run(argv, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    yield Path(made.stdout.strip())
    subprocess.run(["losetup", "--detach", made.stdout.strip()], check=True)


def on_a_machine(root: Path, disk: Path, script: str) -> str:
    """A machine whose own disk is `root` and that has the other disk."""
    (root / "kept").write_text(f"{disk}\n{root}/state\n{root}/srv/home\n")
    argv = ["unshare", "--mount", "sh", "-euc", f"{PRIVATE} keep() {{ sh {KEEP} {root}/kept; }}; {script}"]
    return subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout


def test_another_machine_goes_on_where_the_first_was(disk: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "machine", tmp_path / "other"
    for machine in (first, second):
        (machine / "state").mkdir(parents=True)
        (machine / "state/seed").write_text(machine.name)
    said = on_a_machine(first, disk, "keep; cat state/seed; echo 7 > state/job; echo a > srv/home/file; keep")
    assert said == "machine"
    assert not (first / "state/job").exists()
    first.rename(tmp_path / "gone")
    second.rename(first)
    assert on_a_machine(first, disk, "keep; cat state/seed state/job srv/home/file") == "machine7\na\n"


def test_disk_with_another_file_system_is_left_alone(disk: Path, tmp_path: Path) -> None:
    subprocess.run(["mkswap", "--quiet", disk], check=True, capture_output=True)
    with pytest.raises(subprocess.CalledProcessError):
        on_a_machine(tmp_path, disk, "keep")
    found = subprocess.check_output(["blkid", "--probe", "--output", "value", "--match-tag", "TYPE", disk])
    assert found == b"swap\n"


def test_user_data_names_disk_and_paths() -> None:
    text = user_data("c", "https://store", "ssh-ed25519 AAAA", node="head", keep=("/dev/x", "/home"))
    assert "content: '/dev/x\n\n    /home\n\n    '" in text
    assert "hostname: head" in text
    assert "clusterwright-keep.service\n" in text

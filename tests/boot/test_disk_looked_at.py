"""Whether an initramfs writes its machine's disk: real partition tables, and nothing but the decision."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import clusterwright.operate.netboot.files as image_files

DIGEST = "0123456789abcdef" * 4
_OURS = ["label: gpt", "size=1MiB, type=uefi, name=clusterwright-esp"]
_DISKS = {
    "empty": [],
    "partial": [*_OURS, "type=linux, name=clusterwright-partial"],
    "this": [*_OURS, f"type=linux, name=clusterwright-{DIGEST[:16]}"],
    "another": [*_OURS, "type=linux, name=clusterwright-ffffffffffffffff"],
    "windows": ["label: gpt", 'size=1MiB, type=uefi, name="EFI system partition"', "type=linux"],
    "beside": [*_OURS, "size=1MiB, type=linux, name=clusterwright-partial", "type=linux, name=data"],
    "bios": ["label: dos", "type=83"],
}
_INSIDE = """\
mount -t tmpfs tmpfs /sys/firmware
[ "$FIRMWARE" != uefi ] || mkdir /sys/firmware/efi
getarg() {
  case $1 in clusterwright.disk=) said=$DISK ;; clusterwright.write=) said=$WRITE ;; esac
  [ -n "$said" ] && echo "$said"
}
say() { echo "$*"; }
curl() { for word; do :; done; echo "told $word"; exit 9; }
sleep() { :; }
url=http://10.70.0.1:8008/images/there/root.squashfs wanted=$DIGEST
. "$SCRIPT"
may_write && echo writes || echo leaves
"""


def said(folder: Path, disk: str, write: str = "", firmware: str = "uefi") -> str:
    """The last that it says of a disk."""
    file = folder / "disk"
    if disk == "file system":
        _blank(file)
        subprocess.run(["mkfs.ext4", "-q", "-F", file], check=True)
    elif disk != "absent":
        _blank(file)
        if rows := _DISKS[disk]:
            subprocess.run(["sfdisk", "--quiet", file], input="\n".join(rows), text=True, check=True)
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "DISK": str(file),
        "WRITE": write,
        "DIGEST": DIGEST,
        "FIRMWARE": firmware,
        "SCRIPT": str(image_files.HERE / "dracut" / "clusterwright-disk.sh"),
    }
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _INSIDE]
    done = subprocess.run(inside, env=environment, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.splitlines()[-1].removeprefix("told http://10.70.0.1:8008")


def _blank(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(16 * 2**20)


@pytest.fixture(autouse=True)
def _able() -> None:
    missing = [name for name in ("sfdisk", "mkfs.ext4", "blkid") if not shutil.which(name)]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


@pytest.mark.parametrize("disk", ["empty", "partial"])
@pytest.mark.parametrize("write", ["", "rewrite", "erase"])
def test_what_nobody_needs_is_written_over(tmp_path: Path, disk: str, write: str) -> None:
    assert said(tmp_path, disk, write) == "writes"


@pytest.mark.parametrize("disk", ["windows", "beside", "bios", "file system"])
@pytest.mark.parametrize(
    ("write", "does"),
    [("", "/refused/foreign-disk"), ("rewrite", "/refused/foreign-disk"), ("erase", "writes")],
)
def test_what_is_somebodys_is_left_unless_that_was_asked_for(
    tmp_path: Path, disk: str, write: str, does: str
) -> None:
    assert said(tmp_path, disk, write) == does


@pytest.mark.parametrize(
    ("disk", "write", "does"),
    [
        ("this", "", "leaves"),
        ("this", "erase", "leaves"),
        ("this", "rewrite", "writes"),
        ("another", "", "/refused/another-image"),
        ("another", "rewrite", "writes"),
        ("another", "erase", "writes"),
    ],
)
def test_an_image_that_is_there(tmp_path: Path, disk: str, write: str, does: str) -> None:
    assert said(tmp_path, disk, write) == does


def test_a_disk_that_is_not_there(tmp_path: Path) -> None:
    assert said(tmp_path, "absent") == "/refused/no-disk"


def test_a_machine_that_started_by_bios(tmp_path: Path) -> None:
    assert said(tmp_path, "empty", firmware="bios") == "/refused/no-uefi"

"""What an initramfs does with an image before it is any root: the script alone, without a machine."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import clusterwright.operate.netboot.files as image_files

RIGHT, WRONG = b"an image", b"an imagE"
_TOOLS = {
    # What dracut brings: an argument of the kernel's command line.
    "getarg": "case $1 in clusterwright.sha256=) echo $SHA256 ;; esac",
    # Nothing can be mounted here; what would be is told.
    "mount": 'echo "mount $*" >>$SAID',
    "sleep": 'echo "sleep $*" >>$SAID; [ ! -e $THERE.next ] || mv $THERE.next $THERE',
    "reboot": 'echo "reboot $*" >>$SAID; kill $PPID',
}
_INSIDE = """\
mount -t tmpfs tmpfs /run
mount --bind "$KERNEL" /dev/kmsg
export PATH=$TOOLS:$PATH
exec sh "$SCRIPT" eth0 "clusterwright:file://$THERE" /root-of-the-machine
"""


@dataclass(frozen=True)
class Machine:
    """What was said on its console, and done."""

    console: str
    done: list[str]

    @property
    def has_root(self) -> bool:
        return any("squashfs" in line or "overlay" in line for line in self.done)


def boot(folder: Path, image: bytes, sha256: str, then: bytes = b"") -> Machine:
    """A machine that is served this image, and another one after it waited."""
    tools = folder / "tools"
    tools.mkdir()
    for name, text in _TOOLS.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    (folder / "image").write_bytes(image)
    if then:
        (folder / "image.next").write_bytes(then)
    for name in ("kernel", "said"):
        (folder / name).touch()
    words = {
        "SHA256": sha256,
        "SAID": folder / "said",
        "KERNEL": folder / "kernel",
        "TOOLS": tools,
        "THERE": folder / "image",
        "SCRIPT": image_files.HERE / "dracut" / "fetch-image.sh",
    }
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", _INSIDE]
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        **{name: str(word) for name, word in words.items()},
    }
    subprocess.run(inside, env=environment, check=False, timeout=120)
    return Machine((folder / "kernel").read_text(), (folder / "said").read_text().splitlines())


def sha256(image: bytes) -> str:
    return hashlib.sha256(image).hexdigest()


def test_the_image_of_the_command_line_becomes_the_root(tmp_path: Path) -> None:
    machine = boot(tmp_path, RIGHT, sha256(RIGHT))
    assert "has the right SHA-256" in machine.console
    assert machine.has_root and machine.done[-1].endswith("root /root-of-the-machine")


@pytest.mark.parametrize("wanted", [sha256(RIGHT), ""])
def test_another_image_is_told_and_never_used(tmp_path: Path, wanted: str) -> None:
    machine = boot(tmp_path, WRONG, wanted)
    assert f"is not used: its SHA-256 is {sha256(WRONG)} and not {wanted or 'given'}" in machine.console
    assert machine.done[1:] == ["sleep 30"] * 4 + ["reboot -f"]
    assert not machine.has_root


def test_an_image_that_was_mended_meanwhile_is_used(tmp_path: Path) -> None:
    machine = boot(tmp_path, WRONG, sha256(RIGHT), then=RIGHT)
    assert "is not used" in machine.console and "has the right SHA-256" in machine.console
    assert machine.done.count("sleep 30") == 1 and machine.has_root

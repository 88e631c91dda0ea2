"""Images that `up` brings to a controller, whose folder is one of the test's own."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from clusterwright.bundle.wanted import Image, Kind
from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.operate.netboot import stock
from clusterwright.operate.netboot.build import Wanted
from clusterwright.operate.netboot.deliver import FOLDER, deliver, start_script, sweep
from clusterwright.operate.netboot.stock import Manifest
from clusterwright.providers.lab.home import LabHome

IMAGE = "357285a7634d429f"
_KIND = Kind((), (), (), (), (), (), "deb", (), None, "")


@dataclass(frozen=True)
class Controller:
    """A shell with a `/srv` that nobody else sees."""

    pid: int
    name: str = "head1"

    def argv(self, command: str) -> list[str]:
        return ["nsenter", f"--mount=/proc/{self.pid}/ns/mnt", "sh", "-c", command]

    def says(self, command: str) -> str:
        return subprocess.run(self.argv(command), check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class Built:
    """What was built on the operator's machine."""

    home: LabHome

    def wanted(self) -> list[Wanted]:
        return [Wanted("4cafe28334cb71ab", IMAGE, Image(_KIND, ("work1",)))]

    def make(self, root: bytes) -> Manifest:
        place = stock.folder(self.home, "4cafe28334cb71ab")
        place.mkdir(parents=True, exist_ok=True)
        contents = {"vmlinuz": b"a kernel", "initrd.img": b"an initramfs", "root.squashfs": root}
        for name, content in contents.items():
            (place / name).write_bytes(content)
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        made = Manifest("4cafe28334cb71ab", IMAGE, "small", "debian-13", "6.12", 1, sums)
        stock.write(place, made)
        return made


@pytest.fixture
def controller() -> Iterator[Controller]:
    inside = "mount -t tmpfs tmpfs /srv && echo there && read -r end"
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout and shell.stdout.readline() == "there\n"
        yield Controller(shell.pid)
        shell.kill()


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(LabHome(tmp_path / "cache", tmp_path / "state"))


def brought(built: Built, controller: Controller) -> list[str]:
    events: list[Event] = []
    deliver(built, controller, events.append)  # type: ignore[arg-type]  # a shell plays SSH
    return [event.text for event in events]


def test_it_is_brought_once_and_named_by_its_digest(built: Built, controller: Controller) -> None:
    made = built.make(b"a root")
    assert brought(built, controller)[-1] == f"image {IMAGE} is there"
    assert controller.says(f"cat {FOLDER}/{made.content}/root.squashfs") == "a root"
    script = controller.says(f"cat {FOLDER}/{IMAGE}.ipxe")
    assert f"/images/{made.content}\n" in script and made.files["root.squashfs"] in script
    assert brought(built, controller) == []


def test_what_came_before_an_interruption_is_not_brought_again(built: Built, controller: Controller) -> None:
    made = built.make(b"a root")
    partial = f"{FOLDER}/.{made.content}.partial"
    controller.says(f"mkdir -p {partial} && printf 'a r' >{partial}/root.squashfs")
    brought(built, controller)
    assert controller.says(f"cat {FOLDER}/{made.content}/root.squashfs") == "a root"
    assert controller.says(f"ls -A {FOLDER}").split() == sorted([f"{IMAGE}.ipxe", made.content])


def test_what_came_damaged_is_never_used(built: Built, controller: Controller) -> None:
    made = built.make(b"a root")
    partial = f"{FOLDER}/.{made.content}.partial"
    controller.says(f"mkdir -p {partial} && printf 'a l' >{partial}/root.squashfs")
    with pytest.raises(Refused, match="CW8254"):
        brought(built, controller)
    assert controller.says(f"ls -A {FOLDER}") == ""
    assert brought(built, controller)[-1] == f"image {IMAGE} is there"


def test_another_build_has_another_folder_and_the_old_one_goes_when_nothing_names_it(
    built: Built, controller: Controller
) -> None:
    old = built.make(b"a root")
    brought(built, controller)
    new = built.make(b"another root")
    brought(built, controller)
    controller.says(f"mkdir {FOLDER}/debian-13.1 && touch {FOLDER}/debian-13.1/vmlinuz")
    assert controller.says(f"cat {FOLDER}/{old.content}/root.squashfs") == "a root"
    events: list[Event] = []
    sweep(controller, {IMAGE}, events.append)  # type: ignore[arg-type]  # a shell plays SSH
    assert [event.text for event in events] == [f"removed {old.content}"]
    assert controller.says(f"ls -A {FOLDER}").split() == sorted([f"{IMAGE}.ipxe", new.content, "debian-13.1"])
    sweep(controller, (), events.append)  # type: ignore[arg-type]  # a shell plays SSH
    assert controller.says(f"ls -A {FOLDER}").split() == ["debian-13.1"]


def test_one_that_was_not_built_is_refused_and_one_that_is_there_does(
    built: Built, controller: Controller
) -> None:
    with pytest.raises(Refused, match="CW8253"):
        brought(built, controller)
    made = built.make(b"a root")
    brought(built, controller)
    stock.remove(built.home, [made.digest])
    assert brought(built, controller) == []


def test_removing_keeps_what_machines_are_told_to_boot(built: Built) -> None:
    made = built.make(b"a root")
    [row] = stock.stock(built.home)
    stock.refuse_used([row], {made.digest})
    with pytest.raises(Refused, match="CW7062"):
        stock.refuse_used([replace(row, used=True)], {made.digest})


def test_only_one_word_of_the_kernels_ends_as_the_initramfs_argument_does(built: Built) -> None:
    """Linux that UEFI starts looks for it anywhere in its command line, and ends where that is no file."""
    lines = [line for line in start_script(built.make(b"a root")).splitlines() if line[:1] != "#"]
    assert re.findall(r"\S*initrd=", "\n".join(lines)) == ["initrd="]

"""What is on record about a lab, and the lock that lets one process at a time change it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.files import write_json
from clusterwright.providers.lab.home import LabHome

LAB_IS_BUSY = "CW7030"
STATE_IS_UNREADABLE = "CW7031"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class LabState:
    """What a lab's name does not give: the network chosen for it, and for how many sites."""

    name: str
    subnet: IPv4Network
    sites: int = 1


def folder(home: LabHome, name: str) -> Path:
    return home.labs / name


def names(home: LabHome) -> list[str]:
    """Every lab that has a folder, readable or not."""
    if not home.labs.is_dir():
        return []
    return sorted(path.name for path in home.labs.iterdir() if path.is_dir())


def save(home: LabHome, state: LabState) -> None:
    known = {"name": state.name, "subnet": str(state.subnet), "sites": state.sites}
    write_json(_file(home, state.name), {"version": _VERSION, **known})


def load(home: LabHome, name: str) -> LabState | None:
    """The lab's state, None when it has none yet; refuses when the file cannot be believed."""
    path = _file(home, name)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != _VERSION or document["name"] != name:
            raise ValueError("it is of another lab or of another release")
        return LabState(name, IPv4Network(document["subnet"]), int(document.get("sites", 1)))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise refuse(
            STATE_IS_UNREADABLE,
            Where(file=str(path)),
            f"the state of lab {name} cannot be read ({error})",
            f"Run `clusterwright destroy {name}`, which finds what is there by name, then `up` again",
        ) from None


@contextmanager
def locked(home: LabHome, name: str) -> Iterator[None]:
    """Hold the lab; another process that holds it is named in the refusal, by its process id."""
    path = home.locks / name
    descriptor = _acquire(path, name)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def shared_resource(home: LabHome, name: str) -> Iterator[None]:
    """Wait for and hold what all labs share: the choice of a subnet, the building of a base.

    The lock lies in the cache, beside what is built: labs of two state folders share that too.
    """
    locks = home.cache / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / name).open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def package_archives(home: LabHome) -> Iterator[None]:
    """Wait for and hold the folder of downloaded packages: apt locks it, and refuses where it is locked."""
    with shared_resource(home, "archives"):
        yield


def _acquire(path: Path, name: str) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise refuse(
                LAB_IS_BUSY,
                Where(path=name),
                f"process {holder} is working on lab {name} at this moment",
                "Wait until it has finished, or end it; running the command again finishes its work",
            ) from None
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file locked is the one in the folder: its last holder may have deleted it meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _file(home: LabHome, name: str) -> Path:
    return folder(home, name) / "state.json"

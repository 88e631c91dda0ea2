"""Control groups of the lab's nodes, on hosts with one hierarchy, many, or both.

Where the host has no systemd, everything would share the caller's group, so each node gets a group of its own
in every hierarchy; where it has, a node is a unit and systemd does that. A node's own v1 controllers are also
bound into it, for Slurm's `cgroup/v1` plugin.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NODE_MOUNTPOINT = "/run/cgroup-v1"
_SLURM_V1_CONTROLLERS = frozenset({"cpuacct", "cpuset", "devices", "freezer", "memory"})
_PARENT = "clusterwright"
_UNIFIED = "unified"


@dataclass(frozen=True, slots=True)
class CgroupFacts:
    """What Slurm's cgroup.conf must say on a node of this host's labs."""

    plugin: str
    mountpoint: str


def host_runs_systemd() -> bool:
    # The test that sd_booted(3) documents.
    return Path("/run/systemd/system").is_dir()


def hierarchies(mountinfo: str | None = None) -> dict[str, Path]:
    """Mounted hierarchies by controllers (`devices`, `cpu,cpuacct`, `name=systemd`; `unified` for v2)."""
    text = Path("/proc/self/mountinfo").read_text() if mountinfo is None else mountinfo
    found: dict[str, Path] = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        mountpoint = Path(before.split(" ")[4])
        if kind == "cgroup2":
            found.setdefault(_UNIFIED, mountpoint)
        elif kind == "cgroup":
            names = [option for option in options.split(",") if option not in _MOUNT_FLAGS]
            found.setdefault(",".join(names), mountpoint)
    return found


_MOUNT_FLAGS = frozenset({"rw", "ro", "xattr", "noprefix", "clone_children"})


def cgroup_facts(mounted: Mapping[str, Path] | None = None) -> CgroupFacts:
    """The plugin that works in a node here; v2 in a node of a host with both versions is fatal to slurmd."""
    controllers = {name for key in (hierarchies() if mounted is None else mounted) for name in key.split(",")}
    if controllers >= _SLURM_V1_CONTROLLERS:
        return CgroupFacts("cgroup/v1", NODE_MOUNTPOINT)
    return CgroupFacts("cgroup/v2", "/sys/fs/cgroup")


def mounts_both_versions() -> bool:
    mounted = hierarchies()
    return _UNIFIED in mounted and len(mounted) > 1


@dataclass(frozen=True, slots=True)
class NodeGroups:
    """The groups of one node (or of a whole lab, when `node` is empty)."""

    lab: str
    node: str = ""

    def create(self) -> list[Path]:
        """Make the node's groups and give the folders that its first process is to join."""
        joined = []
        for key, path in self._paths().items():
            _make(path)
            if "cpuset" in key.split(","):
                _inherit_cpuset(path)
            joined.append(path)
        return joined

    def binds(self) -> list[tuple[Path, str]]:
        """Host folder and place in the node of each v1 controller that Slurm uses."""
        if cgroup_facts().plugin != "cgroup/v1":
            return []
        return [
            (path, f"{NODE_MOUNTPOINT}/{controller}")
            for key, path in sorted(self._paths().items())
            for controller in key.split(",")
            if controller in _SLURM_V1_CONTROLLERS
        ]

    def kill(self) -> None:
        """End every process of the group at once, frozen or not (cgroup v2, Linux 5.14)."""
        path = self._paths().get(_UNIFIED)
        if path and (path / "cgroup.kill").exists():
            (path / "cgroup.kill").write_text("1")

    def remove(self, patience_s: float = 30.0) -> None:
        """Delete the groups, and the lab's parents when this node was the last one in them."""
        until = time.monotonic() + patience_s
        for key, path in self._paths().items():
            while not _remove_tree(path) and time.monotonic() < until:
                time.sleep(0.02)
            mountpoint = hierarchies()[key]
            for parent in path.parents:
                if parent == mountpoint or not _remove_empty(parent):
                    break

    def left(self) -> list[Path]:
        return [path for path in self._paths().values() if path.exists()]

    def _paths(self) -> dict[str, Path]:
        return {
            key: mountpoint / _PARENT / self.lab / self.node
            for key, mountpoint in hierarchies().items()
            if not host_runs_systemd() or set(key.split(",")) & _SLURM_V1_CONTROLLERS
        }


def group_of(pid: int) -> Path | None:
    """The v2 group a process is in, as a folder of the host."""
    mountpoint = hierarchies().get(_UNIFIED)
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    path = next((line[3:] for line in lines if line.startswith("0::")), None)
    return mountpoint / path.lstrip("/") if mountpoint and path is not None else None


def _make(path: Path) -> None:
    """Make a group; another lab that goes away may remove the parent they share in between."""
    for _ in range(100):
        try:
            return path.mkdir(parents=True, exist_ok=True)
        except FileNotFoundError:
            continue
    return path.mkdir(parents=True, exist_ok=True)


def _inherit_cpuset(path: Path) -> None:
    """A new v1 cpuset is empty and takes no process: fill it and its parents from above."""
    for folder in (path.parent.parent, path.parent, path):
        for name in ("cpuset.cpus", "cpuset.mems"):
            if not (folder / name).read_text().strip():
                (folder / name).write_text((folder.parent / name).read_text())


def _remove_tree(path: Path) -> bool:
    if not path.exists():
        return True
    for child in [entry for entry in path.iterdir() if entry.is_dir()]:
        if not _remove_tree(child):
            return False
    return _remove_empty(path)


def _remove_empty(path: Path) -> bool:
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True

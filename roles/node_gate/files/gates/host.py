"""The machine itself: its plan, name, file systems, clock, memory and processors."""

from __future__ import annotations

import json
import os

from gates.node import Node, Unmet

VERSION = 1
MEMORY_SHARE = 0.95  # firmware and kernel keep a part; Slurm is told the same share of the planned memory
MEMORY_FLOOR_MIB = 64
DISK_FLOOR_MIB = 256
DISK_PATHS = ("/", "/tmp", "/var", "/var/spool/slurmd")  # slurmd and jobs fail in odd ways when one is full
CAP_SYS_TIME = 25  # linux/capability.h


def plan(node: Node) -> str:
    """The plan is there and is of this version."""
    remedy = "Run `clusterwright up` again: it writes the file"
    try:
        planned = json.loads(node.path("/etc/clusterwright/node.json").read_text())
        version, _ = planned["version"], planned["hardware"]["gpus"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unmet("a readable /etc/clusterwright/node.json", f"{error}", remedy) from error
    if version != VERSION:
        raise Unmet(f"node.json of version {VERSION}", f"version {version}", remedy)
    node.planned = planned
    return f"{node.planned['node']} of {node.planned['cluster']}"


def name(node: Node) -> str:
    """slurmd registers under the short host name."""
    seen = node.read("/proc/sys/kernel/hostname").strip().split(".")[0]
    if seen != node.planned["node"]:
        remedy = "Set it with `hostnamectl hostname`, or replace the node"
        raise Unmet(f"host name {node.planned['node']}", seen or "none", remedy)
    return seen


def mounts(node: Node) -> str:
    """Every shared file system is mounted and answers."""
    mounted = {}
    for line in node.read("/proc/self/mounts").splitlines():
        fields = line.split()
        mounted[fields[1]] = fields
    for point in node.planned["mounts"]:
        if point not in mounted:
            remedy = f"Run `mount {point}` and look at the server and the network"
            raise Unmet(f"{point} mounted", "not mounted", remedy)
        if "ro" in mounted[point][3].split(",") and point not in node.planned.get("read_only", ()):
            raise Unmet(f"{point} writable", "mounted read-only", f"Run `mount -o remount,rw {point}`")
        status, output = node.run("stat", "--file-system", "--format=%T", str(node.path(point)))
        if status:
            remedy = f"The server of {point} does not answer or exports it anew: mount it again"
            raise Unmet(f"{point} answering", output, remedy)
    return ", ".join(node.planned["mounts"]) or "none planned"


def clock(node: Node) -> str:
    """The clock is synchronised, or is not this system's to set (a container shares its machine's clock)."""
    status = dict(line.split(":", 1) for line in node.read("/proc/1/status").splitlines() if ":" in line)
    bounding = int(status.get("CapBnd", "0").strip() or "0", 16)
    if not bounding >> CAP_SYS_TIME & 1:
        return "shares the clock of the machine it runs on"
    code, output = node.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if code or output != "yes":
        remedy = "Look at `chronyc sources` or `timedatectl timesync-status`: time servers must be reachable"
        raise Unmet("a synchronised clock", f"NTPSynchronized: {output or 'unknown'}", remedy)
    return "synchronised"


def disk(node: Node) -> str:
    """No file system that slurmd and jobs write to is full."""
    least = None
    for path in DISK_PATHS:
        if not node.path(path).is_dir():
            continue
        figures = os.statvfs(node.path(path))
        free = figures.f_bavail * figures.f_frsize >> 20
        if free < DISK_FLOOR_MIB:
            raise Unmet(f"{DISK_FLOOR_MIB} MiB free in {path}", f"{free} MiB", f"Free space in {path}")
        if figures.f_files and not figures.f_favail:
            raise Unmet(f"free inodes in {path}", "none", f"Remove files in {path}")
        least = free if least is None else min(least, free)
    return f"{least} MiB free at least"


def memory(node: Node) -> str:
    """The memory that Slurm is told is there."""
    fields = dict(line.split(":", 1) for line in node.read("/proc/meminfo").splitlines() if ":" in line)
    total, available = (int(fields.get(key, "0").split()[0]) >> 10 for key in ("MemTotal", "MemAvailable"))
    planned = node.hardware["memory_mib"]
    if not node.planned["config_overrides"] and total < planned * MEMORY_SHARE:
        remedy = "A memory module is missing or failed: look at `dmidecode --type memory` and the BMC's log"
        raise Unmet(f"{planned} MiB", f"{total} MiB", remedy)
    if available < MEMORY_FLOOR_MIB:
        remedy = "Find what holds it with `ps --sort=-rss aux`"
        raise Unmet(f"{MEMORY_FLOOR_MIB} MiB available", f"{available} MiB", remedy)
    return f"{total} MiB, {available} MiB available"


def cpus(node: Node) -> str:
    """The processors that Slurm is told are there."""
    seen = sum(line.startswith("processor") for line in node.read("/proc/cpuinfo").splitlines())
    planned = 1
    for key in ("sockets", "cores_per_socket", "threads_per_core"):
        planned *= node.hardware[key]
    if not node.planned["config_overrides"] and seen != planned:
        remedy = "Compare SMT and sub-NUMA settings in the firmware with the machine type; bring CPUs online"
        raise Unmet(f"{planned} CPUs", f"{seen} CPUs", remedy)
    return f"{seen} CPUs" + (f", Slurm counts {planned}" if seen != planned else "")

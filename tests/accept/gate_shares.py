"""Parallel file systems of a made node: in its plan, mounted, and known to its simulators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gate_tree import Tree

from clusterwright.providers.lab.simulators.hardware import SimulatedShare


def lustre(tree: Tree) -> None:
    """The plan has a Lustre file system, and it is mounted."""
    share = SimulatedShare("lustre", "scratch", ("10.0.0.5@o2ib",), "/run/simulated-shares/scratch")
    tree.show(replace(tree.hardware, shares=(share,), address="10.0.0.11", ethernet_gbps=100))
    mounts = "1 2 8:1 /shares/scratch /run/simulated-shares/scratch rw - ext4 x rw\n"
    (tree.simulated / "mountinfo").write_text(mounts + "3 2 8:1 /shares/scratch /scratch rw - ext4 x rw\n")
    modules = tree.simulated / "own/modules"
    modules.mkdir()
    for name in ("lnet", "lustre"):
        (modules / name).write_text("2.15.8 simulated\n")
    tree.setting("lnet", {"o2ib": ["ib0", "ib1"]})
    tree.write("/sys/module/lnet/initstate", "live\n")
    for name in ("lctl", "lfs", "lnetctl"):
        tree.simulator(name)
    home = "overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0"
    tree.mounted(f"{home}\n10.0.0.5@o2ib:/scratch /scratch lustre rw 0 0")
    (tree.root / "scratch").mkdir()
    tree.expected["mounts"] = ["/home", "/scratch"]
    row = {"kind": "lustre", "file_system": "scratch", "networks": ["o2ib"], "carried": []}
    tree.expected["file_systems"] = {"/scratch": row}
    tree.expected["lnet"] = {"o2ib": 2}
    tree.plan()


def beegfs(tree: Tree, *, rdma: bool = True) -> None:
    """The plan has a BeeGFS file system, and it is mounted."""
    share = SimulatedShare("beegfs", "bee1", ("bee1",), "/run/simulated-shares/beegfs-bee1")
    _mount(tree, "/work", "beegfs_nodev", share, {"kind": "beegfs", "management": "bee1", "rdma": rdma})


def cephfs(tree: Tree) -> None:
    """The plan has a CephFS, and it is mounted."""
    fsid, folder = "7a3c0e9e-1f5c-4a2b-9d3e-0f1a2b3c4d5e", "/run/simulated-shares/cephfs"
    configuration = tree.root / "etc/ceph/planned.conf"
    tree.write("/etc/ceph/planned.conf", f"[global]\nfsid = {fsid}\n")
    share = SimulatedShare("cephfs", "cephfs", ("mon1", "mon2"), folder, fsid=fsid)
    row = {"kind": "cephfs", "fsid": fsid, "user": "hpc", "configuration": str(configuration)}
    tree.simulator("ceph")
    _mount(tree, "/data", "10.0.0.5:6789:/", share, row)


def weka(tree: Tree) -> None:
    """The plan has a WEKA file system, and it is mounted."""
    share = SimulatedShare("weka", "scratch", ("10.0.0.7",), "/run/simulated-shares/weka-scratch")
    mounts = "1 2 8:1 /shares/weka /run/simulated-shares/weka-scratch rw - ext4 x rw\n"
    (tree.simulated / "mountinfo").write_text(mounts + "3 2 8:1 /shares/weka /fast rw - ext4 x rw\n")
    tree.simulator("weka")
    _mount(tree, "/fast", "10.0.0.7/scratch", share, {"kind": "weka", "file_system": "scratch"})


def _mount(tree: Tree, point: str, what: str, share: SimulatedShare, row: Mapping[str, Any]) -> None:
    tree.show(replace(tree.hardware, shares=(share,), address="10.0.0.11", ethernet_gbps=100))
    home = "overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0"
    tree.mounted(f"{home}\n{what} {point} {row['kind']} rw 0 0")
    (tree.root / point.lstrip("/")).mkdir()
    tree.expected["mounts"] = ["/home", point]
    tree.expected["file_systems"] = {point: row}
    tree.plan()

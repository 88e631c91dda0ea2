"""CephFS: the planned cluster, which still knows this client, sessions with its metadata servers, monitors.

The kernel shows its client under /sys/kernel/debug/ceph, a folder for each mount (Linux, fs/ceph/debugfs.c).
"""

from __future__ import annotations

import re

from gates.node import Node, Unmet, Unseen

FOLDER = "/sys/kernel/debug/ceph"
SESSION = re.compile(r"^(mds\.\d+) (\S+)", re.MULTILINE)
REFUSED = ("EACCES", "access denied", "permission denied")


def cephfs(node: Node) -> str:
    """The client of each planned file system is not blocklisted, and its sessions are open."""
    told = []
    for path, row in node.file_systems("cephfs").items():
        if not node.mounted(path):
            raise Unseen(f"{path} is not mounted, see mounts")
        told.append(_sessions(node, _client(node, path, row["fsid"]), path))
    return ", ".join(told)


def _client(node: Node, path: str, fsid: str) -> str:
    folders = sorted(folder.name for folder in node.path(FOLDER).glob("*.client*"))
    if not folders:
        raise Unseen("the kernel shows no CephFS here: debugfs is not mounted, or it is locked down")
    own = [name for name in folders if name.startswith(f"{fsid}.")]
    if not own:
        seen = ", ".join(sorted({name.partition(".")[0] for name in folders}))
        remedy = f"Unmount {path}; `clusterwright up` mounts the planned file system"
        raise Unmet(f"CephFS of {fsid} at {path}", seen, remedy)
    return f"{FOLDER}/{own[0]}"


def _sessions(node: Node, client: str, path: str) -> str:
    if re.search(r"^blocklisted: true", node.read(f"{client}/status"), re.MULTILINE):
        remedy = (
            f"Look at `dmesg` and the servers' logs for why it was evicted, unmount {path} by force and "
            "mount it; the mount option `recover_session=clean` does so by itself"
        )
        raise Unmet(f"a client of {path} that its servers know", "blocklisted", remedy)
    text = node.read(f"{client}/mds_sessions")
    if not text:
        raise Unseen("the kernel shows no session of CephFS: it is locked down")
    sessions = SESSION.findall(text)
    bad = [f"{name} {state}" for name, state in sessions if state != "open"]
    expected = f"{len(sessions) or 'the'} sessions of {path} open"
    if bad or not sessions:
        remedy = "Look at `ceph fs status` on the servers: a metadata server may be down or in recovery"
        raise Unmet(expected, ", ".join(bad) or "no session", remedy)
    return expected


def ceph_monitors(node: Node) -> str:
    """The monitors answer this client's key. What they say of the cluster is told, and is not this node's."""
    told = []
    for path, row in node.file_systems("cephfs").items():
        names = ("--conf", row["configuration"], "--name", f"client.{row['user']}")
        status, output = node.run("ceph", *names, "--connect-timeout", "5", "health")
        last = output.splitlines()[-1] if output else f"exit status {status}"
        if status == 127:
            raise Unseen(last)
        if status and not any(word in output for word in REFUSED):
            remedy = f"Look at the way to the monitors of {path} ({row['configuration']}), and at its keyring"
            raise Unmet(f"the monitors of {path} answering", last, remedy)
        told.append(f"monitors of {path} answer" + ("" if status else f": {last.split()[0]}"))
    return ", ".join(told)

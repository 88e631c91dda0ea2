"""CephFS: mount.ceph binds the host's folder and asks for what the real one does; ceph tells of monitors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from . import shares
from .node import Answer, Node


def mount(node: Node, arguments: Sequence[str]) -> Answer:
    """`mount.ceph MONITORS:PATH DIRECTORY [-o OPTIONS]`, as mount(8) calls it."""
    words = list(arguments)
    options = words[words.index("-o") + 1].split(",") if "-o" in words else []
    told = dict(option.split("=", 1) for option in options if "=" in option)
    monitors, _, directory = words[0].rpartition(":")
    try:
        configured = Path(told.get("conf", "/etc/ceph/ceph.conf")).read_text(encoding="utf-8")
        keyring = re.search(r"^keyring = (\S+)", configured, re.MULTILINE)
        Path(keyring[1] if keyring else "/etc/ceph/ceph.keyring").read_bytes()
    except OSError as error:
        said = f"unable to get monitor info or secret: {error.filename}: {error.strerror}"
        return Answer(error=f"mount.ceph: {said}\nmount error 22 = Invalid argument\n", status=32)
    name = told.get("fs", "cephfs")
    share = next((one for one in shares.of_kind(node, "cephfs") if one.name == name), None)
    if share is None or not set(monitors.split(",")) & set(share.servers) or share.state != "ok":
        return Answer(error="mount error 110 = Connection timed out\n", status=32)
    complaint = shares.bind(share, directory, words[1], options)
    return Answer(error=f"mount error 2 = {complaint}\n", status=32) if complaint else Answer()


def ceph(node: Node, arguments: Sequence[str]) -> Answer:
    """`--version`, and `health` of the cluster whose fsid and monitors the configuration has."""
    words = list(arguments)
    if words[:1] == ["--version"]:
        return Answer(f"ceph version {node.installed or '0'} (simulated)\n")
    if words[-1:] != ["health"]:
        return Answer(error=f"the simulated ceph does not know: {' '.join(words)}\n", status=22)
    file = words[words.index("--conf") + 1] if "--conf" in words else "/etc/ceph/ceph.conf"
    try:
        configured = Path(file).read_text(encoding="utf-8")
    except OSError:
        said = "Error initializing cluster client: ObjectNotFound('error calling conf_read_file')"
        return Answer(error=f"{said}\n", status=1)
    fsid = re.search(r"^fsid = (\S+)", configured, re.MULTILINE)
    share = next((one for one in shares.of_kind(node, "cephfs") if fsid and one.fsid == fsid[1]), None)
    if share is None or share.state == "away":
        return Answer(error="Error connecting to cluster: TimedOut\n", status=1)
    return Answer("HEALTH_OK\n")

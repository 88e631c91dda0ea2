"""Buckets as directories: mount.mount-s3 and mount.gcsfuse bind the host's folder that plays the bucket."""

from __future__ import annotations

from collections.abc import Sequence

from . import shares
from .node import Answer, Node

_KINDS = {"mount.mount-s3": "s3", "mount.gcsfuse": "gcs"}
_KNOWN = {
    "s3": "ro rw nosuid nodev _netdev allow-other allow-delete allow-overwrite dir-mode file-mode",
    "gcs": "ro rw nosuid nodev _netdev allow_other implicit_dirs only_dir dir_mode file_mode",
}


def mount(node: Node, program: str, arguments: Sequence[str]) -> Answer:
    """`mount.TYPE SOURCE DIRECTORY [-o OPTIONS]`, as mount(8) calls it."""
    kind, words = _KINDS[program], list(arguments)
    options = words[words.index("-o") + 1].split(",") if "-o" in words else []
    told = dict(option.partition("=")[::2] for option in options)

    def failed(what: str) -> Answer:
        return Answer(error=f"Error: {what}\n", status=1)

    if unknown := sorted(set(told) - set(_KNOWN[kind].split())):
        return failed(f"unknown option: {', '.join(unknown)}")
    bucket, _, prefix = words[0].removeprefix("s3://").partition("/")
    share = next((one for one in shares.of_kind(node, kind) if one.name == bucket), None)
    if share is None:
        return failed(f"bucket {bucket} does not exist, or the node's identity may not list it")
    if share.state == "away":
        return failed(f"failed to reach the service of bucket {bucket}")
    complaint = shares.bind(share, told.get("only_dir") or prefix, words[1], options)
    return failed(complaint) if complaint else Answer(f"bucket {bucket} is mounted at {words[1]}\n")


def version(node: Node, program: str, _: Sequence[str]) -> Answer:
    return Answer(f"{program} {node.installed} (simulated)\n")

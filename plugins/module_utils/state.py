# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""What a node remembers between runs, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile

FOLDER = "/var/lib/clusterwright"

PLACED = "placed.json"
"""Path of every file that was placed, with what a change of it affects."""
PENDING = "pending.json"
"""Unit -> `reload` or `restart` still owed because of a file that changed."""
PEOPLE = "people.json"
"""Logins that were made here."""
STOP = "stop"
"""What the removal of a unit's file affects: a changed one owes the unit nothing."""
APPLIED = "applied.json"
"""Digest of what was last applied completely."""


def replace(path: str, content: bytes, mode: int, uid: int = -1, gid: int = -1) -> None:
    """Write a file so that any reader sees the old one or the new one."""
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".cw-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchown(descriptor, uid, gid)
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.rename(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def recall(folder: str, name: str) -> dict:
    """What was noted; nothing when it was never written or cannot be read."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            noted = json.load(stream)
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def note(folder: str, name: str, value: dict) -> None:
    os.makedirs(folder, mode=0o755, exist_ok=True)
    text = json.dumps(value, indent=1, sort_keys=True) + "\n"
    replace(os.path.join(folder, name), text.encode(), 0o644)


def owe(folder: str, affects: list) -> None:
    """Note actions before the change that makes them necessary, so that a killed run forgets none."""
    pending = recall(folder, PENDING)
    before = dict(pending)
    for affected in affects:
        unit, _colon, action = affected.rpartition(":")
        if action == STOP:
            continue
        if pending.get(unit) != "restart":
            pending[unit] = action
    if pending != before:
        note(folder, PENDING, pending)

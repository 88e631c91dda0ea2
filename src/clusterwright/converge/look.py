"""Runs on a node, sent over standard input: compares what is with what should be, changes nothing.

Reads one JSON document, prints one. Standard library only, as far back as Python 3.9, and quick: it is what
every `up` costs on a node where nothing has to be done (importing pathlib alone would add a third).
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import stat
import subprocess
import sys

TYPE_CHECKING = False  # of `typing`, whose import every look would wait for
if TYPE_CHECKING:
    from typing import Any


def drift_of_files(files: list[dict[str, object]]) -> list[str]:
    found = []
    for row in files:
        path = str(row["path"])
        try:
            with open(path, "rb") as stream:
                status = os.fstat(stream.fileno())
                digest = hashlib.sha256(stream.read()).hexdigest()
        except OSError:
            found.append(f"{path}: missing")
            continue
        if digest != row["sha256"]:
            found.append(f"{path}: content")
        found.extend(drift_of_access(path, status, row))
    return found


def drift_of_directories(directories: list[dict[str, object]]) -> list[str]:
    found = []
    for row in directories:
        path = str(row["path"])
        try:
            status = os.stat(path)
        except OSError:
            found.append(f"{path}: missing")
            continue
        found.extend(drift_of_access(path, status, row))
    return found


def drift_of_access(path: str, status: os.stat_result, row: dict[str, object]) -> list[str]:
    found = []
    mode = stat.S_IMODE(status.st_mode)
    if mode != row["mode"]:
        found.append(f"{path}: mode {mode:04o} should be {row['mode']:04o}")
    for kind, number, name in (
        ("owner", status.st_uid, row["owner"]),
        ("group", status.st_gid, row["group"]),
    ):
        seen = name_of(kind, number)
        if seen != name:
            found.append(f"{path}: {kind} {seen} should be {name}")
    return found


def name_of(kind: str, number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name if kind == "owner" else grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def drift_of_units(units: list[dict[str, object]]) -> list[str]:
    if not units:
        return []
    names = [str(unit["name"]) for unit in units]
    properties = "ActiveState,UnitFileState,LoadState,ConditionResult,ConditionTimestampMonotonic"
    argv = ["systemctl", "show", f"--property={properties}", "--", *names]
    blocks = subprocess.run(argv, capture_output=True, text=True).stdout.strip().split("\n\n")
    facts = [dict(line.split("=", 1) for line in block.splitlines()) for block in blocks]
    return [
        f"unit {unit['name']}: {what}" for unit, seen in zip(units, facts) for what in drift_of(unit, seen)
    ]


def drift_of(unit: dict[str, object], seen: dict[str, str]) -> list[str]:
    active, enabled = seen.get("ActiveState", ""), seen.get("UnitFileState", "")
    found = []
    if unit["active"] and active not in ("active", "reloading") and not stays_away(seen):
        found.append("not installed" if seen.get("LoadState") == "not-found" else active)
    if not unit["active"] and active in ("active", "activating", "reloading"):
        found.append("runs and should not")
    if unit["enabled"] and enabled in ("disabled", "masked"):
        found.append(enabled)
    if not unit["enabled"] and enabled == "enabled":
        found.append("enabled and should not be")
    return found


def stays_away(seen: dict[str, str]) -> bool:
    """Its own Condition says that it has nothing to do here, as chrony's where the clock is the host's."""
    tried = seen.get("ConditionTimestampMonotonic", "0") not in ("", "0")
    return seen.get("ActiveState") == "inactive" and tried and seen.get("ConditionResult") == "no"


def drift_of_packages(packages: list[str]) -> list[str]:
    if not packages:
        return []
    names = [package.partition("=")[0] for package in packages]
    form = "--showformat=${Package} ${Version} ${db:Status-Abbrev}\n"
    output = subprocess.run(
        ["dpkg-query", "--show", form, "--", *names], capture_output=True, text=True
    ).stdout
    lines = [line.split() for line in output.splitlines()]
    installed = {line[0]: line[1] for line in lines if line[2:] in (["ii"], ["hi"])}
    found = []
    for package in packages:
        # Packages that are locked are `name=version`; of the others any version will do.
        name, _, version = package.partition("=")
        if name not in installed:
            found.append(f"package {name}: not installed")
        elif version not in ("", installed[name]):
            found.append(f"package {name}: {installed[name]} should be {version}")
    return found


def drift_of_users(users: list[dict[str, Any]]) -> list[str]:
    found = []
    for user in users:
        try:
            seen = pwd.getpwnam(user["name"])
        except KeyError:
            found.append(f"user {user['name']}: missing")
            continue
        is_now = {"uid": seen.pw_uid, "gid": seen.pw_gid, "home": seen.pw_dir, "shell": seen.pw_shell}
        wanted = {"uid": user["uid"], "gid": user["uid"], "home": user["home"], "shell": user["shell"]}
        for what, value in wanted.items():
            if is_now[what] != value:
                found.append(f"user {user['name']}: {what} {is_now[what]} should be {value}")
    return found + drift_of_groups(users)


def drift_of_groups(users: list[dict[str, Any]]) -> list[str]:
    """Whoever a group lacks, and whoever is in a group of clusterwright's own without being wanted there."""
    wanted = {(group, user["name"]) for user in users for group in user["groups"]}
    seen = {(row.gr_name, name) for row in grp.getgrall() for name in row.gr_mem}
    extra = {(group, name) for group, name in seen - wanted if group.startswith("clusterwright-")}
    return [
        *[f"group {group}: {name} is not in it" for group, name in sorted(wanted - seen)],
        *[f"group {group}: {name} should not be in it" for group, name in sorted(extra)],
    ]


def applied() -> str:
    try:
        with open("/var/lib/clusterwright/applied.json", encoding="utf-8") as stream:
            return str(json.load(stream)["digest"])
    except (OSError, ValueError, KeyError):
        return ""


def look(wanted: dict[str, list[Any]]) -> dict[str, object]:
    packages = drift_of_packages(wanted["packages"])
    drift = [
        *drift_of_directories(wanted["directories"]),
        *drift_of_files(wanted["files"]),
        *packages,
        *drift_of_users(wanted["users"]),
        *drift_of_units(wanted["units"]),
    ]
    return {"digest": applied(), "drift": drift, "packages_missing": bool(packages)}


if __name__ == "__main__":
    print(json.dumps(look(json.loads(sys.stdin.read()))))

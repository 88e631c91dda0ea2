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
import time

TYPE_CHECKING = False  # of `typing`, whose import every look would wait for
if TYPE_CHECKING:
    from collections.abc import Iterable
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


def differing_packages(packages: list[str], of: Debs | Rpms) -> dict[str, str]:
    """Those that are not there, or in another version than the locked one: what is there, or nothing."""
    if not packages:
        return {}
    wanted = versions(packages)
    installed = of.installed(wanted)
    return {
        name: (installed.get(name) or [""])[0]
        for name, version in wanted.items()
        if name not in installed or version not in ("", *installed[name])
    }


def versions(packages: list[str]) -> dict[str, str]:
    """Packages that are locked are `name=version`; of the others any version will do."""
    return dict(package.partition("=")[::2] for package in packages)


def differing_build(wanted: dict[str, Any] | None) -> dict[str, str]:
    """What this node builds by itself, as a package that is not there, or is there for other GPUs."""
    if not wanted:
        return {}
    try:
        with open("/opt/nccl-tests/build/built.json", encoding="utf-8") as stream:
            there = json.load(stream)
        had, needs = set(there["capabilities"]), set(wanted["capabilities"])
        fits = had == needs or bool(needs and needs <= had)
        same = there["version"] == wanted["version"] and wanted["cuda"] in ("", there["cuda"])
        whole = os.access("/opt/nccl-tests/build/all_reduce_perf", os.X_OK)
        is_now = f"{there['version']} for CUDA {there['cuda']} and {' '.join(sorted(had))}".strip()
    except (OSError, ValueError, KeyError, TypeError):
        return {"nccl-tests": ""}
    return {} if fits and same and whole else {"nccl-tests": is_now if whole else ""}


def drift_of_packages(packages: list[str], differing: dict[str, str]) -> list[str]:
    wanted = versions(packages)
    return [
        f"package {name}: {is_now} should be {wanted[name]}" if is_now else f"package {name}: not installed"
        for name, is_now in differing.items()
    ]


def loose_packages(held: list[str], differing: dict[str, str], of: Debs | Rpms) -> list[str]:
    """Those that an upgrade may move, because a run ended between installing and holding them, say.

    With dnf a pattern may be held as well, of which nothing needs to be there.
    """
    there = sorted({name for name in held if "*" not in name} - {*differing})
    return sorted({*there} - of.held(there)) if there else []


def newer_packages(packages: list[str], differing: dict[str, str], of: Debs | Rpms) -> list[str]:
    """Those whose version would have to go down."""
    wanted = versions(packages)
    return [name for name, is_now in differing.items() if is_now and of.newer(is_now, wanted[name])]


def installed_since_boot(packages: list[str], of: Debs | Rpms) -> list[str]:
    """Locked packages that came after this boot: what the kernel runs may still be what was there before.

    The first process is as old as the boot, also where a container shares its host's clock.
    """
    try:
        with open("/proc/uptime", encoding="utf-8") as stream:
            uptime = float(stream.read().split()[0])
        with open("/proc/1/stat", encoding="utf-8") as stream:
            started = int(stream.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return []
    locked = [name for name, version in versions(packages).items() if version]
    return of.since(locked, time.time() - uptime + started)


class Debs:
    """What dpkg knows."""

    def installed(self, wanted: dict[str, str]) -> dict[str, list[str]]:
        form = "--showformat=${Package} ${Version} ${db:Status-Abbrev}\n"
        lines = [line.split() for line in said_by("dpkg-query", "--show", form, "--", *wanted)]
        return {line[0]: [line[1]] for line in lines if line[2:] in (["ii"], ["hi"])}

    def newer(self, is_now: str, wanted: str) -> bool:
        return subprocess.run(["dpkg", "--compare-versions", is_now, "gt", wanted]).returncode == 0

    def held(self, names: list[str]) -> set[str]:
        lines = said_by("dpkg-query", "--show", "--showformat=${Package} ${db:Status-Want}\n", "--", *names)
        return {line.split()[0] for line in lines if line.endswith(" hold")}

    def since(self, names: list[str], moment: float) -> list[str]:
        """dpkg writes a package's list of files when it unpacks it."""
        return [name for name in names if self.unpacked(name) > moment]

    def unpacked(self, package: str) -> float:
        for architecture in ("", ":amd64", ":arm64"):
            try:
                return os.stat(f"/var/lib/dpkg/info/{package}{architecture}.list").st_mtime
            except OSError:
                continue
        return 0.0


class Rpms:
    """What rpm knows. Of some packages, as of kernels, several versions are there at once."""

    def installed(self, wanted: dict[str, str]) -> dict[str, list[str]]:
        """A lock has an epoch only where a source tells it; then it counts."""
        found: dict[str, list[str]] = {}
        for name, epoch, version in self.query("%{NAME} %{EPOCHNUM} %{VERSION}-%{RELEASE}", wanted):
            seen = f"{epoch}:{version}" if ":" in wanted.get(name, "") else version
            found.setdefault(name, []).append(seen)
        return found

    def newer(self, is_now: str, wanted: str) -> bool:
        compared = f'%{{lua: print(rpm.vercmp("{is_now}", "{wanted}"))}}'
        return said_by("rpm", "--eval", compared)[:1] == ["1"]

    def held(self, names: list[str]) -> set[str]:
        """Those with a line of versionlock for each version that is there."""
        try:
            with open("/etc/dnf/plugins/versionlock.list", encoding="utf-8") as stream:
                locked = set(stream.read().splitlines())
        except OSError:
            locked = set()
        rows = self.query("%{NAME} %{EPOCHNUM} %{VERSION}-%{RELEASE}", names)
        loose = {name for name, epoch, version in rows if f"{name}-{epoch}:{version}.*" not in locked}
        return {name for name, _, _ in rows} - loose

    def since(self, names: list[str], moment: float) -> list[str]:
        rows = self.query("%{NAME} %{INSTALLTIME} -", names)
        return sorted({name for name, installed, _ in rows if float(installed) > moment})

    def query(self, form: str, names: Iterable[str]) -> list[list[str]]:
        lines = said_by("rpm", "--query", f"--queryformat={form}\n", "--", *names) if names else []
        rows = [line.split() for line in lines]
        return [row for row in rows if len(row) == 3]  # "package … is not installed" has more


def said_by(*argv: str) -> list[str]:
    return subprocess.run(argv, capture_output=True, text=True).stdout.splitlines()


def drift_of_users(users: list[dict[str, Any]], left: Iterable[str] = ()) -> list[str]:
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
    return found + drift_of_groups(users, {*left})


def drift_of_groups(users: list[dict[str, Any]], left: set[str]) -> list[str]:
    """Whoever a group lacks, and whoever is in a group of clusterwright's own without being wanted there."""
    wanted = {(group, user["name"]) for user in users for group in user["groups"]}
    seen = {(row.gr_name, name) for row in grp.getgrall() for name in row.gr_mem}
    ours = {(group, name) for group, name in seen - wanted if group.startswith("clusterwright-")}
    extra = {(group, name) for group, name in ours if name not in left}
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


def stack() -> dict[str, str]:
    """The locked components that were placed here, with their versions."""
    try:
        with open("/etc/clusterwright/node.json", encoding="utf-8") as stream:
            return {name: str(row["version"]) for name, row in json.load(stream)["stack"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def drift_of_firewall() -> list[str]:
    """What is loaded is no file and no unit's state."""
    program = "/usr/lib/clusterwright/firewall"
    if not os.path.exists(program):
        return []  # told as a missing file
    done = subprocess.run([program, "check"], capture_output=True, text=True)
    return [f"firewall: {(done.stdout + done.stderr).strip()}"] if done.returncode else []


def drift_of_all(wanted: dict[str, Any], differing: dict[str, str]) -> list[str]:
    return [
        *drift_of_directories(wanted["directories"]),
        *drift_of_files(wanted["files"]),
        *drift_of_packages(wanted["packages"], differing),
        *drift_of_users(wanted["users"], wanted.get("left_people", ())),
        *drift_of_units(wanted["units"]),
        *(drift_of_firewall() if wanted.get("firewall") else ()),
    ]


def observed(wanted: dict[str, Any], of: Debs | Rpms) -> list[str]:
    """What differs of what the site keeps itself."""
    return drift_of_all(wanted, differing_packages(wanted["packages"], of))


def look(wanted: dict[str, Any]) -> dict[str, object]:
    of = Rpms() if wanted["package_format"] == "rpm" else Debs()
    differing = differing_packages(wanted["packages"], of)
    built = differing_build(wanted.get("nccl_tests"))
    loose = loose_packages(wanted["held"], differing, of)
    drift = drift_of_all(wanted, differing)
    return {
        "digest": applied(),
        "stack": stack(),
        "drift": [
            *drift,
            *(f"package {name}: an upgrade may move it" for name in loose),
            *(f"{name}: is {is_now or 'not built'}" for name, is_now in built.items()),
        ],
        "observed": observed(wanted["observed"], of) if "observed" in wanted else [],
        "packages": {**differing, **built},
        "loose": loose,
        "newer": newer_packages(wanted["packages"], differing, of),
        "since_boot": installed_since_boot(wanted["packages"], of),
    }


if __name__ == "__main__":
    print(json.dumps(look(json.loads(sys.stdin.read()))))

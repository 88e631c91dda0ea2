"""Distributions whose Python is too old for Ansible: the agent installs their newer one and runs roles in it.

The ground is a Debian 13 that finds Debian 12's packages, python3.11 among them, in a list that comes with
the bundle: a real apt, a real Python beside another, and the real wheels. These distributions are not here.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clusterwright.catalog.distributions import distributions
from clusterwright.operate.pull.wheels import wheels
from clusterwright.providers.lab import host
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.rootfs import Base, ensure_base

from .world import AGENT

OLD = ("amazon-2023", "rhel-9", "rocky-9", "ubuntu-22.04")
NEWER = "python3.11"
LIST = "/etc/apt/sources.list.d/site.list"
DRIVER = """
import importlib.machinery, importlib.util, json, sys
loader = importlib.machinery.SourceFileLoader("agent", "/agent")
agent = importlib.util.module_from_spec(importlib.util.spec_from_loader("agent", loader))
loader.exec_module(agent)
try:
    print(agent.Agent().python(*json.load(open("/question.json"))))
except agent.Later as later:
    print("later:", later)
"""
PLAY = "[{hosts: localhost, gather_facts: true, tasks: [{debug: {var: ansible_facts.python_version}}]}]"
ON_SYSTEM = "-e ansible_python_interpreter=/usr/bin/python3"
ENTER = """set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
exec chroot "$2/root" sh -c "$3"
"""


@dataclass(frozen=True)
class Root:
    """A machine that is not booted; what one command leaves the next one finds."""

    base: Path
    folder: Path

    def ask(self, python: dict[str, Any], kind: dict[str, Any]) -> str:
        self.place("question.json", json.dumps([{platform.machine(): python}, kind]))
        return self.run("python3 /driver.py")

    def run(self, script: str) -> str:
        argv = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL"]
        argv += ["sh", "-c", ENTER, "sh", str(self.base), str(self.folder), script]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def place(self, path: str, text: str) -> None:
        file = self.folder / "upper" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    home = LabHome.of_user()
    unmet = [str(finding) for finding in host.missing(home) if finding.severity == "error"]
    if unmet:
        pytest.skip(f"needs what a lab needs: {'; '.join(unmet)}")
    folder = tmp_path_factory.mktemp("old")
    for name in ("upper/etc", "work", "root"):
        (folder / name).mkdir(parents=True)
    made = Root(ensure_base(home, lambda _subject, _text: None, Base("trixie")), folder)
    shutil.copy("/etc/resolv.conf", folder / "upper/etc/resolv.conf")
    shutil.copy(AGENT, folder / "upper/agent")
    made.place("etc/apt/sources.list", "")  # all packages are the list's that comes with the bundle
    made.place("driver.py", DRIVER)
    made.place("play.yml", PLAY)
    config = {"cluster": "old", "url": "https://127.0.0.1:1", "signer": "none"}
    made.place("etc/clusterwright/pull.json", json.dumps(config))
    yield made
    shutil.rmtree(folder, ignore_errors=True)


def wanted(root: Root) -> dict[str, Any]:
    """The wheels for this Python, as if they were fetched already."""
    rows = []
    for file in wheels(NEWER.removeprefix("python"), platform.machine()).values():
        row = {"sha256": hashlib.sha256(file.read_bytes()).hexdigest(), "size": file.stat().st_size}
        target = root.folder / "upper/var/lib/clusterwright/pull/objects" / str(row["sha256"])
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
        rows.append(row)
    return {"digest": "made", "wheels": rows, "package": NEWER}


def of_bundle(text: str) -> dict[str, Any]:
    files = [
        {"path": LIST, "mode": "0644", "early": True, "content": text},
        {"path": "/etc/late", "mode": "0644", "early": False, "content": "the roles place it\n"},
        {"path": "/etc/secret", "mode": "0600", "early": True},
    ]
    return {"source": {"files": files}, "variables": {"clusterwright_package_format": "deb"}}


def test_distributions_with_an_old_python_name_a_newer_one() -> None:
    found = {name: row for name, row in distributions().items() if row.newer_python}
    assert sorted(found) == sorted(OLD)
    for row in distributions().values():
        assert [int(part) for part in row.runs_roles.split(".")] >= [3, 11], row.name


@pytest.mark.lab
def test_a_newer_python_that_is_not_to_be_had_is_waited_for(root: Root) -> None:
    said = root.ask(wanted(root), of_bundle("# a mirror that has nothing of it\n"))
    assert said.startswith(f"later: {NEWER} could not be installed: ")
    assert NEWER in said.partition(": E: ")[2]


@pytest.mark.lab
def test_roles_run_in_the_newer_python_and_modules_in_the_system_s(root: Root) -> None:
    before = root.run("python3 --version")
    question = wanted(root), of_bundle("".join(f"{line}\n" for line in Base("bookworm").sources()))
    python = root.ask(*question).splitlines()[-1]
    assert python == "/var/lib/clusterwright/pull/python/made/bin/python3"
    assert root.run(f"{python} --version").startswith("Python 3.11.")
    assert root.run("python3 --version; ls /etc/late /etc/secret 2>/dev/null || true") == before
    told = root.run(f"export LANG=C.UTF-8; {python} -m ansible playbook -c local {ON_SYSTEM} /play.yml")
    assert f'"ansible_facts.python_version": "{before.split()[1]}"' in told
    root.run(f"{python} -c 'import pyrage, yaml, cryptography'")
    assert root.ask(*question) == python

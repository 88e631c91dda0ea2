#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: debs
short_description: Install Debian packages that are missing, starting none of their services
version_added: "0.1.0"
description:
  - Asks dpkg what is installed, and apt only for what is not, in one transaction.
  - M(ansible.builtin.apt) reads every pin anew for each package. On Debian 13 with the pins of a GPU's stack
    that is a third of a second each, 15 of the 16 seconds of a run over 43 packages that changes nothing.
  - Finishes first what a killed C(dpkg) left half done. Never downgrades.
  - Packages that no repository has are read from a folder, with the version that they have there.
  - A source whose scheme apt does not know waits until the package is there that brings it. Which one that is
    says a file of the scheme's name in C(/etc/clusterwright/apt-transports).
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells what would be installed.
  diff_mode:
    support: full
    description: Shows the installed and the wanted version of each.
options:
  packages:
    description: Names, or C(name=version) where the version may have wildcards as apt-get takes them.
    type: list
    elements: str
    required: true
  folder:
    description: Where packages lie that no repository has. Of a name that is wanted without a version, it is
      the version there.
    type: path
  lists_valid_seconds:
    description: Package lists older than that, or than a source, are fetched before anything is installed.
    type: int
    default: 3600
  lock_seconds:
    description: How long to wait for another process that installs packages.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: The locked driver, and the newest chrony
  clusterwright.cluster.debs:
    packages: [nvidia-driver-cuda=595.91.07-1, chrony]
"""

RETURN = r"""
installed:
  description: What was missing, or had another version.
  type: list
  elements: str
  returned: always
  sample: ["nvidia-driver-cuda=595.91.07-1"]
"""

import contextlib
import fnmatch
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.clusterwright.cluster.plugins.module_utils import state

LISTS = "/var/lib/apt/lists"
READ = "/var/lib/apt/clusterwright-lists-read"
"""As old as the lists: from when all of them were fetched."""
SOURCES = "/etc/apt/sources.list.d"
TRANSPORTS = "/etc/clusterwright/apt-transports"
MARKS = "/var/lib/apt/extended_states"
JOURNAL = "/var/lib/dpkg/updates"
POLICY = "/usr/sbin/policy-rc.d"
ASIDE = f"{POLICY}.aside"
FORM = "${db:Status-Abbrev}|${Package}|${Architecture}|${Version}|${Provides}\n"
APT = ("apt-get", "--quiet", "--yes", "-o", "Acquire::Retries=3")
DPKG = ("-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold")
SILENT = {"DEBIAN_FRONTEND": "noninteractive", "DEBIAN_PRIORITY": "critical", "LC_ALL": "C.UTF-8"}


def look(module: AnsibleModule) -> tuple[Mapping[str, set], bool]:
    """Versions by installed name, `""` for what another package provides; and whether dpkg has work left."""
    found: dict[str, set] = {}
    unfinished = os.path.isdir(JOURNAL) and any(map(str.isdigit, os.listdir(JOURNAL)))
    _, listed, _ = module.run_command(["dpkg-query", "--show", "--showformat", FORM], check_rc=True)
    for line in listed.splitlines():
        status, name, architecture, version, provides = line.split("|", 4)
        if status[0] not in "ih":
            continue
        if status[1] in "UFWt":
            unfinished = True
        elif status.strip()[1:] == "i":
            found.setdefault(name, set()).add(version)
            found.setdefault(f"{name}:{architecture}", set()).add(version)
            for provided in filter(None, provides.split(",")):
                found.setdefault(provided.split()[0], set()).add("")
    return found, unfinished


def is_there(wanted: str, found: Mapping[str, set]) -> bool:
    name, _, version = wanted.partition("=")
    return any(not version or fnmatch.fnmatchcase(one, version) for one in found.get(name, ()))


def from_folder(module: AnsibleModule) -> tuple[list, list]:
    """What is wanted, with the versions of the folder's files; and how apt is told of these."""
    wishes, folder = module.params["packages"], module.params["folder"]
    files = sorted(glob.glob(f"{glob.escape(folder)}/*.deb")) if folder else []
    found = {}
    for file in files:
        if os.path.basename(file).partition("_")[0] in wishes:
            _, said, _ = module.run_command(["dpkg-deb", "--field", file, "Version"], check_rc=True)
            found[os.path.basename(file).partition("_")[0]] = said.strip()
    wanted = [f"{wish}={found[wish]}" if wish in found else wish for wish in wishes]
    return wanted, [word for file in files for word in ("--with-source", file)]


@contextlib.contextmanager
def nothing_starts() -> Iterator[None]:
    """As invoke-rc.d reads it: 101 forbids. A policy of the site's own comes back, after a killed run too."""
    if os.path.exists(POLICY) and not os.path.exists(ASIDE):
        os.rename(POLICY, ASIDE)
    state.replace(POLICY, b"#!/bin/sh\nexit 101\n", 0o755)
    try:
        yield
    finally:
        if os.path.exists(ASIDE):
            os.rename(ASIDE, POLICY)
        else:
            os.unlink(POLICY)


def run(module: AnsibleModule, words: list) -> None:
    code, output, error = module.run_command(words)
    if code:
        said = [line for line in error.splitlines() if line.startswith(("E:", "dpkg:"))] or error.splitlines()
        module.fail_json(msg="\n".join(said[-8:]) or output[-800:], rc=code, stdout=output, stderr=error)


def installing(module: AnsibleModule) -> list:
    wait = f"DPkg::Lock::Timeout={module.params['lock_seconds']}"
    return [*APT, *DPKG, "-o", wait, "install", "--no-install-recommends"]


def transports(found: Mapping[str, set]) -> Iterator[tuple[str, str]]:
    """Scheme and package of each that is missing."""
    for scheme in sorted(os.listdir(TRANSPORTS)) if os.path.isdir(TRANSPORTS) else ():
        with open(os.path.join(TRANSPORTS, scheme), encoding="ascii") as stream:
            package = stream.read().strip()
        if package not in found:
            yield scheme, package


def learn(module: AnsibleModule, scheme: str, package: str) -> None:
    """From the other sources: with one that it cannot read apt fetches no list at all without an error."""
    with tempfile.TemporaryDirectory(prefix="transport-") as folder:
        sources, lists = os.path.join(folder, "sources"), os.path.join(folder, "lists")
        os.makedirs(os.path.join(lists, "partial"))
        os.mkdir(sources)
        for file in sorted(glob.glob(f"{SOURCES}/*")):
            with open(file, encoding="utf-8") as stream:
                if f"{scheme}:" not in stream.read():
                    shutil.copy(file, sources)
        apart = ("-o", f"Dir::Etc::SourceParts={sources}", "-o", f"Dir::State::Lists={lists}")
        run(module, [*APT, *apart, "update", "--error-on=any"])
        run(module, [*installing(module), *apart, package])


def refresh(module: AnsibleModule) -> None:
    """What apt itself leaves of a list's age says nothing of one that was fetched in part."""
    there = any("_Packages" in name for name in os.listdir(LISTS))
    read = os.stat(READ).st_mtime if os.path.exists(READ) else 0.0
    newer = any(os.stat(file).st_mtime > read for file in glob.glob(f"{SOURCES}/*"))
    if newer or not there or time.time() - read > module.params["lists_valid_seconds"]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(READ)
        run(module, [*APT, "update", "--error-on=any"])
        with open(READ, "w", encoding="ascii"):
            pass


def keep(module: AnsibleModule) -> None:
    """No autoremove takes what was wanted by name, though it once came along with something else."""
    try:
        with open(MARKS, encoding="utf-8") as stream:
            stanzas = [
                dict(row.split(": ", 1) for row in one.splitlines()) for one in stream.read().split("\n\n")
            ]
    except FileNotFoundError:
        return
    automatic = {one["Package"] for one in stanzas if one.get("Auto-Installed") == "1"}
    wanted = {wish.partition("=")[0].partition(":")[0] for wish in module.params["packages"]}
    if automatic & wanted:
        run(module, ["apt-mark", "manual", *sorted(automatic & wanted)])


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "str", "required": True},
            "folder": {"type": "path"},
            "lists_valid_seconds": {"type": "int", "default": 3600},
            "lock_seconds": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    module.run_command_environ_update = SILENT
    found, unfinished = look(module)
    wishes, sources = from_folder(module)
    missing = [wish for wish in wishes if not is_there(wish, found)]
    if not module.check_mode:
        with nothing_starts() if missing or unfinished else contextlib.nullcontext():
            if unfinished:
                run(module, ["dpkg", "--force-confdef", "--force-confold", "--configure", "--pending"])
            if missing:
                for scheme, package in transports(found):
                    learn(module, scheme, package)
                refresh(module)
                run(module, [*installing(module), *sources, "--allow-change-held-packages", *missing])
        keep(module)
    names = [wish.partition("=")[0] for wish in missing]
    before = "".join(
        f"{name}={version}\n" for name in names for version in sorted(found.get(name, ())) if version
    )
    module.exit_json(
        changed=bool(missing or unfinished),
        installed=missing,
        diff={"before": before, "after": "".join(f"{wish}\n" for wish in missing)},
    )


if __name__ == "__main__":
    main()

"""Module `debs`, run as Ansible runs it, with real apt and dpkg on a root of a few packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

PACKAGES = {
    "tool_1": "Depends: library",
    "tool_2": "Depends: library",
    "library_1": "",
    "postfix_1": "Provides: mail (= 1), smtp",
}


@dataclass
class Node:
    """A root with apt, and what was asked of it."""

    root: Path
    module: Any
    read: Callable[[], str]

    def debs(self, *packages: str, **more: Any) -> dict[str, Any]:
        given = {"packages": list(packages), **more}
        with patch_module_args(given), pytest.raises(SystemExit):
            self.module.main()
        answer: dict[str, Any] = json.loads(self.read())
        return answer

    def asked(self) -> list[str]:
        """What apt was to do since this was last asked."""
        log = self.root / "asked"
        words = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return [word for word in words if word in ("update", "install", "manual")]

    def installed(self) -> set[str]:
        form = "${db:Status-Abbrev}${Package}=${Version}\\n"
        listed = subprocess.run(
            [str(self.root / "bin" / "dpkg-query"), "--show", "--showformat", form],
            capture_output=True,
            text=True,
            check=True,
        )
        return {line.split()[1] for line in listed.stdout.splitlines() if line.startswith("ii")}


METHOD = """#!/bin/sh
# apt's own way of reading files, for addresses that are called otherwise.
sed -u 's/play+file:/file:/' | /usr/lib/apt/methods/file | sed -u 's/file:/play+file:/'
"""


def build(folder: Path, name: str, version: str, more: str, programs: Mapping[str, str] = {}) -> None:
    control = folder / f".{name}" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    text = (
        f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\n"
    )
    control.write_text(f"{text}Description: small\n{more}\n".replace("\n\n", "\n"))
    for place, script in programs.items():
        program = control.parents[1] / place
        program.parent.mkdir(parents=True)
        program.write_text(script)
        program.chmod(0o755)
    words = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(control.parents[1]), str(folder)]
    subprocess.run(words, check=True, capture_output=True)
    subprocess.run(["rm", "-r", str(control.parents[1])], check=True)


def listed(folder: Path) -> Path:
    index = subprocess.run(["apt-ftparchive", "packages", "."], cwd=folder, capture_output=True, check=True)
    (folder / "Packages").write_bytes(index.stdout)
    return folder


def programs(root: Path) -> Path:
    """apt and dpkg of this machine, at work in `root`, each call noted."""
    folder, methods = root / "bin", root / "files/methods"
    folder.mkdir()
    shutil.copytree("/usr/lib/apt/methods", methods, symlinks=True)
    settings = root / "apt.conf"
    settings.write_text(
        f'Dir "{root}/";\nDir::State::status "{root}/var/lib/dpkg/status";\nDir::Bin::dpkg "{folder}/dpkg";\n'
        f'Dir::Etc::main "apt.conf";\nDir::Etc::parts "none/";\nAPT::Sandbox::User "root";\n'
        f'Dir::Bin::methods "{methods}";\n'
    )
    database = f"--admindir={root}/var/lib/dpkg"
    for name, options in (
        ("apt-get", ""),
        ("apt-mark", ""),
        ("dpkg", f"{database} --instdir={root}/files --log=/dev/null"),
        ("dpkg-query", database),
    ):
        keep = f"cp {root}/policy-rc.d {root}/policy-seen 2>/dev/null\n" if name == "dpkg" else ""
        text = f'#!/bin/sh\necho "{name} $*" >>{root}/asked\n{keep}export APT_CONFIG={settings}\n'
        (folder / name).write_text(f'{text}exec /usr/bin/{name} {options} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    for package, more in PACKAGES.items():
        build(folder, *package.split("_"), more)
    return listed(folder)


@pytest.fixture
def node(
    plugin: Callable[[str], Any],
    archive: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Node:
    module = plugin("modules.debs")
    for place in (
        "etc/apt",
        "var/lib/apt/lists/partial",
        "var/cache/apt/archives/partial",
        "var/log/apt",
    ):
        (tmp_path / place).mkdir(parents=True)
    for place in ("var/lib/dpkg/updates", "var/lib/dpkg/info"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").touch()
    (tmp_path / "etc/apt/sources.list").write_text(f"deb [trusted=yes] file:{archive} ./\n")
    monkeypatch.setenv("PATH", f"{programs(tmp_path)}:{os.environ['PATH']}")
    for name, path in (
        ("LISTS", "var/lib/apt/lists"),
        ("READ", "var/lib/apt/read"),
        ("MARKS", "var/lib/apt/extended_states"),
        ("SOURCES", "etc/apt/sources.list.d"),
        ("TRANSPORTS", "etc/clusterwright/apt-transports"),
        ("JOURNAL", "var/lib/dpkg/updates"),
        ("POLICY", "policy-rc.d"),
        ("ASIDE", "policy-rc.d.aside"),
    ):
        monkeypatch.setattr(module, name, str(tmp_path / path))
    return Node(tmp_path, module, lambda: capsys.readouterr().out)


def test_what_is_missing_comes_with_what_it_needs_and_only_once(node: Node) -> None:
    assert node.debs("tool=1", "mail", _ansible_check_mode=True)["installed"] == ["tool=1", "mail"]
    assert not node.asked()
    done = node.debs("tool=1", "postfix")
    assert (done["changed"], done["installed"]) == (True, ["tool=1", "postfix"])
    assert node.installed() == {"tool=1", "library=1", "postfix=1"}
    node.asked()
    again = node.debs("tool=1", "mail", "smtp")
    assert (again["changed"], again["installed"], node.asked()) == (False, [], [])


def test_lists_that_are_new_enough_are_not_fetched_again(node: Node) -> None:
    node.debs("library")
    assert node.asked() == ["update", "install"]
    node.debs("tool=1")
    assert node.asked() == ["install"]
    node.debs("tool=2", lists_valid_seconds=0)
    assert node.asked() == ["update", "install"]


def test_lists_that_were_removed_just_now_are_fetched(node: Node) -> None:
    (node.root / "var/lib/apt/read").touch()
    assert node.debs("library")["installed"] == ["library"]
    assert node.asked() == ["update", "install"]


def test_lists_of_which_one_could_not_be_fetched_are_fetched_again(node: Node) -> None:
    source = node.root / "etc/apt/sources.list.d/other.list"
    source.parent.mkdir()
    source.write_text(f"deb [trusted=yes] file:{node.root}/nothing ./\n")
    assert node.debs("library")["failed"]
    source.unlink()
    node.asked()
    assert node.debs("library")["installed"] == ["library"]
    assert node.asked() == ["update", "install"]


def test_a_source_that_is_newer_than_the_lists_is_read(node: Node) -> None:
    node.debs("library")
    node.asked()
    source = node.root / "etc/apt/sources.list.d/other.list"
    source.parent.mkdir()
    source.touch()
    ahead = time.time() + 5
    os.utime(source, (ahead, ahead))
    node.debs("tool=1")
    assert node.asked() == ["update", "install"]


def test_what_brings_a_way_of_fetching_comes_before_the_sources_that_need_it(
    node: Node, tmp_path: Path
) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    build(near, "transport-play", "1", "", {"methods/play+file": METHOD})
    build(far, "driver", "1", "Depends: tool")
    sources, transports = tmp_path / "etc/apt/sources.list.d", tmp_path / "etc/clusterwright/apt-transports"
    sources.mkdir()
    transports.mkdir(parents=True)
    (sources / "near.list").write_text(f"deb [trusted=yes] file:{listed(near)} ./\n")
    (sources / "far.list").write_text(f"deb [trusted=yes] play+file:{listed(far)} ./\n")
    assert "play+file could not be found" in node.debs("driver")["msg"]

    (transports / "play+file").write_text("transport-play\n")
    assert node.debs("driver")["installed"] == ["driver"]
    assert node.installed() == {"transport-play=1", "driver=1", "tool=2", "library=1"}
    node.asked()
    assert node.debs("driver", "postfix")["installed"] == ["postfix"]
    assert node.asked() == ["install"], "it is brought once"


def test_another_version_is_brought_up_and_never_down(node: Node) -> None:
    node.debs("tool=1")
    done = node.debs("tool=2*")
    assert done["diff"] == {"before": "tool=1\n", "after": "tool=2*\n"}
    assert "tool=2" in node.installed()
    back = node.debs("tool=1")
    assert back["failed"] and "downgraded" in back["msg"]
    assert "tool=2" in node.installed()


def test_a_build_that_no_repository_has_is_told_in_apt_s_words(node: Node) -> None:
    said = node.debs("tool=3")
    assert said["failed"] and "E: Version '3' for 'tool' was not found" in said["msg"]


def test_what_no_repository_has_comes_from_a_folder_with_its_version_there(node: Node) -> None:
    folder = node.root / "packages"
    folder.mkdir()
    for name, version, more in (
        ("efa", "1-1", "Depends: verbs (>= 2), library"),
        ("verbs", "2", ""),
        ("mpi", "9", ""),
    ):
        build(folder, name, version, more)
    done = node.debs("efa", "tool=1", folder=str(folder))
    assert done["installed"] == ["efa=1-1", "tool=1"]
    assert node.installed() == {"efa=1-1", "verbs=2", "library=1", "tool=1"}
    node.asked()
    assert not node.debs("efa", "tool=1", folder=str(folder))["changed"] and not node.asked()
    (folder / "efa_1-1_all.deb").unlink()
    build(folder, "efa", "2-1", "Depends: verbs")
    assert node.debs("efa", folder=str(folder))["installed"] == ["efa=2-1"]
    assert "efa=2-1" in node.installed()
    assert not node.debs("efa")["changed"], "without the folder what is there does"


def test_nothing_starts_and_a_policy_of_the_site_comes_back(node: Node) -> None:
    policy, seen = node.root / "policy-rc.d", node.root / "policy-seen"
    node.debs("library")
    assert seen.read_text().endswith("exit 101\n") and not policy.exists()
    policy.write_text("site")
    policy.rename(node.root / "policy-rc.d.aside")  # as a killed run leaves it
    policy.write_text("ours")
    node.debs("postfix")
    assert policy.read_text() == "site"
    assert not (node.root / "policy-rc.d.aside").exists()


def test_what_a_killed_run_left_unpacked_is_configured(node: Node, archive: Path) -> None:
    words = [str(node.root / "bin" / "dpkg"), "--unpack", str(archive / "library_1_all.deb")]
    subprocess.run(words, check=True, capture_output=True)
    assert node.installed() == set()
    assert node.debs("library")["changed"]
    assert node.installed() == {"library=1"}
    (node.root / "var/lib/dpkg/updates/tmp.i").touch()  # dpkg's own, and no work
    assert not node.debs("library")["changed"]


def test_what_was_removed_and_left_half_is_nobody_s_work_here(node: Node) -> None:
    node.debs("library")
    status = node.root / "var/lib/dpkg/status"
    status.write_text(status.read_text().replace("install ok installed", "deinstall ok half-configured"))
    assert not node.debs()["changed"]
    assert node.debs("library")["installed"] == ["library"]


def test_what_is_wished_for_by_name_is_no_longer_taken_away_by_itself(node: Node) -> None:
    node.debs("tool=1")
    marks = node.root / "var/lib/apt/extended_states"
    assert "Package: library" in marks.read_text()
    node.debs("tool=1", "library")
    assert "Package: library" not in marks.read_text()

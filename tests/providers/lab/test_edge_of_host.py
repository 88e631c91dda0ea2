"""What the lab reads from its host: package sources, addresses, control groups, preconditions."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from ipaddress import IPv4Network
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from clusterwright.finding import Refused
from clusterwright.providers.lab import apt, host, kernel, network, ssh, state
from clusterwright.providers.lab.cgroup import CgroupFacts, cgroup_facts, hierarchies
from clusterwright.providers.lab.files import write_atomically
from clusterwright.providers.lab.home import LabHome

DEB822 = """\
Types: deb deb-src
# the archive as it was
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://mirror.example/debian-security/
Suites: bookworm-security
Components: main

Types: deb
Enabled: no
URIs: http://old.example/debian
Suites: bookworm
Components: main

Types: deb
URIs: https://vendor.example/apt
Suites: bookworm
Components: vendor
"""


def test_sources_of_a_host_are_renamed_to_the_suite_of_nodes(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    sources = apt.rewritten(apt.configured(tmp_path), "bookworm", "trixie")
    assert [str(source) for source in sources] == [
        "deb http://mirror.example/debian trixie main",
        "deb http://mirror.example/debian-security trixie-security main",
        "deb http://mirror.example/debian trixie-updates main",
    ]


def test_one_line_sources_are_read_with_their_options(tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text(
        "# deb http://old.example/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian/ bookworm main non-free # mine\n"
        "deb-src http://mirror.example/debian bookworm main\n"
    )
    assert apt.configured(tmp_path) == [
        apt.Source("http://mirror.example/debian", "bookworm", ("main", "non-free"))
    ]


def test_a_host_without_the_release_archive_leaves_the_choice_to_mmdebstrap() -> None:
    only_updates = [apt.Source("http://mirror.example/debian", "bookworm-updates", ("main",))]
    assert apt.rewritten(only_updates, "bookworm", "trixie") == []


def test_a_named_mirror_wins() -> None:
    assert apt.sources_for("trixie", "http://inside.example/debian/") == [
        apt.Source("http://inside.example/debian", "trixie", ("main",))
    ]


def test_a_subnet_overlaps_nothing_that_is_taken() -> None:
    first = network.free_subnet("0000002a", [])
    assert first == IPv4Network("10.64.42.0/24")
    assert network.free_subnet("0000002a", [first]) == IPv4Network("10.64.43.0/24")
    wide = [IPv4Network("10.64.0.0/11")]
    assert network.free_subnet("0000002a", wide) == IPv4Network("10.96.0.0/24")
    with pytest.raises(Refused, match="CW7040"):
        network.free_subnet("0000002a", [IPv4Network("10.0.0.0/8")])


def test_a_name_server_on_the_loopback_is_no_use_to_a_node() -> None:
    assert network.nameservers("nameserver 127.0.0.53\nnameserver ::1\noptions edns0\n") == []
    assert [str(a) for a in network.nameservers("nameserver 192.0.2.53\nnameserver fe80::1%eth0\n")] == [
        "192.0.2.53"
    ]


def test_control_groups_of_both_versions_call_for_the_v1_plugin() -> None:
    both = "\n".join(
        [f"30 25 0:2{n} / /sys/fs/cgroup/{c} rw - cgroup cgroup rw,{c}" for n, c in enumerate(_V1)]
        + [
            "39 25 0:39 / /sys/fs/cgroup/systemd rw - cgroup systemd rw,xattr,name=systemd",
            "40 25 0:40 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw",
        ]
    )
    found = hierarchies(both)
    assert found["cpu,cpuacct"] == Path("/sys/fs/cgroup/cpu,cpuacct")
    assert {"name=systemd", "unified"} < set(found)
    assert cgroup_facts(found) == CgroupFacts("cgroup/v1", "/run/cgroup-v1")


def test_control_groups_of_version_2_alone_call_for_the_v2_plugin() -> None:
    found = hierarchies("40 25 0:40 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n")
    assert cgroup_facts(found) == CgroupFacts("cgroup/v2", "/sys/fs/cgroup")


_V1 = ("cpu,cpuacct", "cpuset", "devices", "freezer", "memory")


def test_everything_that_a_host_lacks_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(host.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(host.shutil, "disk_usage", lambda _path: type("Usage", (), {"free": 0}))
    codes = [finding.code for finding in host.missing(LabHome(tmp_path / "c", tmp_path / "s"))]
    assert codes[0] == "CW7002"
    assert {"CW7003", "CW7005"} < set(codes)
    assert {"mmdebstrap", "systemd-container", "nftables"} <= set(host.packages_to_install())
    assert not (tmp_path / "s").exists()


def test_homes_follow_the_xdg_variables(tmp_path: Path) -> None:
    environ = {"HOME": "/home/u", "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": "not/absolute"}
    home = LabHome.of_user(environ)
    assert home.state == tmp_path / "clusterwright" / "lab"
    assert home.cache == Path("/home/u/.cache/clusterwright/lab")


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    write_atomically(path, "old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"


OTHER_RELEASE = '{"version": 2, "name": "a", "subnet": "10.64.0.0/24"}'
OTHER_LAB = '{"version": 1, "name": "b", "subnet": "10.64.0.0/24"}'
NO_SUBNET = '{"version": 1, "name": "a", "subnet": "here"}'


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 1}', OTHER_RELEASE, OTHER_LAB, NO_SUBNET])
def test_a_state_that_cannot_be_believed_is_a_finding(home: LabHome, content: str) -> None:
    folder = state.folder(home, "a")
    folder.mkdir(parents=True)
    (folder / "state.json").write_text(content)
    with pytest.raises(Refused, match=r"CW7031.*clusterwright destroy a"):
        state.load(home, "a")


def test_a_state_is_read_as_it_was_written(home: LabHome) -> None:
    known = state.LabState("a", IPv4Network("10.64.1.0/24"))
    state.save(home, known)
    assert state.load(home, "a") == known
    assert json.loads((state.folder(home, "a") / "state.json").read_text())["subnet"] == "10.64.1.0/24"


@pytest.mark.parametrize(("hung", "answers"), [(False, True), (True, False)])
def test_a_node_is_asked_again_after_this_machine_stood_still(
    monkeypatch: pytest.MonkeyPatch, hung: bool, answers: bool
) -> None:
    """It stood still with this machine: only a try of after that says whether it hangs."""
    now = [0.0]

    def greeted(_address: str) -> bool:
        now[0] += 99.0
        return now[0] > 99.0 and not hung

    monkeypatch.setattr(ssh, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda _: None))
    monkeypatch.setattr(ssh, "answers", greeted)
    assert ssh.wait_until_answering("10.64.0.10", 10.0, repeat(True)) == answers


@pytest.mark.parametrize(
    ("bridges", "machines", "left"),
    [
        ("[]", {}, "0\n"),
        ('[{"ifname": "docker0"}]', {}, "1"),
        ("[]", {"cw-0123abcd-gpu-001": 7}, "1"),  # in another network namespace
    ],
)
def test_kernel_settings_are_given_back_by_who_is_alone_and_nobody_comes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bridges: str, machines: dict[str, int], left: str
) -> None:
    home, file = LabHome(tmp_path / "cache", tmp_path / "state"), tmp_path / "ip_forward"
    home.state.mkdir()
    file.write_text("0\n")
    setting = kernel.Setting("ip_forward", file, 1)
    monkeypatch.setattr(kernel, "FORWARDING", setting)
    monkeypatch.setattr(kernel, "INOTIFY_INSTANCES", setting)

    def ip(_argv: Sequence[str]) -> str:
        with (home.cache / "locks/kernel").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return bridges

    monkeypatch.setattr(kernel, "run", ip)
    monkeypatch.setattr(kernel, "running_machines", lambda _prefix: machines)
    kernel.raise_to_need(home, setting)
    assert file.read_text() == "1"
    kernel.give_back(home)
    assert file.read_text() == left

"""Own machines: what their words mean, what a survey warns of, and how a password comes in."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from clusterwright.bundle.build import Bundle
from clusterwright.converge.result import NodeResult
from clusterwright.converge.target import Target
from clusterwright.event import Event
from clusterwright.finding import Refused, Severity
from clusterwright.handoff import Handoff, Node
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.keys import no_keys
from clusterwright.operate.own import machines
from clusterwright.operate.own.asking import Machine, answer, command
from clusterwright.operate.own.batches import Batches
from clusterwright.operate.own.bootstrap import How, bootstrap
from clusterwright.operate.own.contact import Contact, finding, secret_in
from clusterwright.operate.own.harm import harm, together
from clusterwright.operate.own.machines import OwnMachines
from clusterwright.operate.own.play import Play
from clusterwright.operate.own.record import Known, Record
from clusterwright.operate.own.seen import others
from clusterwright.operate.own.site import OwnSite
from clusterwright.operate.own.trust import Trust
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.remote import Answer
from clusterwright.operate.source import Source
from clusterwright.plan.model import Ground
from clusterwright.render import render

EXAMPLE = Path(__file__).parents[2] / "clusters/onprem-hgx-h100.yaml"


@pytest.fixture(scope="module")
def handoff() -> Handoff:
    return prepare(described(Source(EXAMPLE))).handoff


@pytest.fixture(scope="module")
def gpu(handoff: Handoff) -> Node:
    return handoff.with_role("compute")[0]


@pytest.fixture(scope="module")
def here(handoff: Handoff, gpu: Node) -> Machine:
    """This machine, asked as a machine of a site is."""
    wanted = Bundle(handoff, render(handoff), no_keys(handoff), {}).wanted(gpu)
    done = subprocess.run(["sh", "-c", command(wanted, ["/nowhere"])], capture_output=True, text=True)
    found = answer(f"some banner\r\n{done.stdout}")
    assert found, done.stderr
    return found


def test_a_machine_is_asked_in_one_command_line(here: Machine) -> None:
    assert here.seen["system"]["cpus"] == os.cpu_count()
    assert here.seen["name"] == os.uname().nodename
    assert "slurmd" in here.changes["install"] or "slurmd" in str(here.changes)
    assert not here.applied


def test_what_is_no_answer_is_none() -> None:
    assert answer("") is None
    assert answer('{"seen": {}') is None


HARMS: Mapping[str, tuple[Mapping[str, Any], str, Severity, str]] = {
    "jobs": ({"slurm": {"jobs": [4711, 4712]}}, "CW8186", Severity.ERROR, "4711, 4712"),
    "slurm": (
        {"slurm": {"conf": "/etc/slurm/slurm.conf", "cluster": "old"}},
        "CW8187",
        Severity.WARNING,
        "'old'",
    ),
    "driver": ({"gpus": {"nvidia_driver": "550.54.15"}}, "CW8187", Severity.WARNING, "550.54.15 is loaded"),
    "login": ({"collisions": ["ada has the number 1001"]}, "CW8188", Severity.ERROR, "1001"),
    "directory": ({"people": {"directory": ["sss"]}}, "CW8189", Severity.NOTE, "sss"),
    "system": ({"system": {"distribution": "rocky-9.4"}}, "CW8189", Severity.ERROR, "runs rocky-9.4"),
    "firewall": ({"firewall": {"by": ["firewalld"], "rules": 12}}, "CW8189", Severity.WARNING, "12 firewall"),
    "puppet": ({"services": ["puppet"]}, "CW8189", Severity.WARNING, "puppet keeps"),
    "name": ({"name": "localhost"}, "CW8189", Severity.NOTE, "calls itself localhost"),
    "GPU": ({"gpus": {"cards": 7}}, "CW8189", Severity.WARNING, "7 GPUs of 8"),
    "share": ({"hidden": ["/home"]}, "CW8187", Severity.WARNING, "would hide"),
}


@pytest.fixture(scope="module")
def clean(here: Machine, handoff: Handoff, gpu: Node) -> Machine:
    """A machine as the description says, with nothing on it yet."""
    seen, kind = deepcopy(dict(here.seen)), handoff.hardware[gpu.machine]
    seen["system"] |= {
        "distribution": handoff.software["distribution"],
        "cpus": kind.cpus,
        "memory_mib": kind.memory_mib,
    }
    seen["gpus"] |= {"cards": len(kind.gpus), "nvidia_driver": ""}
    seen["slurm"] |= {"jobs": [], "daemons": [], "conf": ""}
    seen["people"]["directory"] = []
    seen |= {
        "collisions": [],
        "hidden": [],
        "services": [],
        "name": gpu.name,
        "firewall": {"by": [], "rules": 0},
    }
    return Machine(seen, {})


def test_a_clean_machine_is_nothing_to_warn_of(handoff: Handoff, gpu: Node, clean: Machine) -> None:
    assert list(harm(handoff, gpu, clean)) == []


@pytest.mark.parametrize(
    ("treatments", "applied", "severity"),
    [({}, False, Severity.WARNING), ({}, True, None), ({"sssd": "skip"}, False, Severity.NOTE)],
)
def test_a_directory_that_the_description_would_replace_is_told_of_before_it_is(
    treatments: dict[str, str],
    applied: bool,
    severity: Severity | None,
    handoff: Handoff,
    gpu: Node,
    clean: Machine,
) -> None:
    asked = {"servers": ["ldaps://ldap.example"], "bind": None}
    surroundings = {**handoff.cluster["surroundings"], "directory": asked}
    described = replace(
        handoff,
        cluster={**handoff.cluster, "surroundings": surroundings},
        software={**handoff.software, "treatments": {gpu.pool: treatments}},
    )
    seen = {**clean.seen, "people": {**clean.seen["people"], "directory": ["sss"]}}
    machine = replace(clean, seen=seen, applied=applied)
    found = [one.severity for one in harm(described, gpu, machine) if "directory" in one.what]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize("case", HARMS)
def test_harm_is_named(case: str, handoff: Handoff, gpu: Node, clean: Machine) -> None:
    change, code, severity, words = HARMS[case]
    seen = deepcopy(dict(clean.seen))
    for what, value in change.items():
        seen[what] = {**seen[what], **value} if isinstance(value, dict) else value
    [found] = harm(handoff, gpu, replace(clean, seen=seen))
    assert (found.code, found.severity, found.where.path) == (code, severity, gpu.name)
    assert words in found.what


def test_another_firewall_beside_the_one_of_the_description_is_named(
    handoff: Handoff, gpu: Node, clean: Machine
) -> None:
    described = {**handoff.site[gpu.site], "firewall": {"operators_from": ["10.0.0.0/8"]}}
    seen = {**clean.seen, "firewall": {"by": ["ufw"], "rules": 9, "closed": ["ip filter"]}}
    filtered = replace(handoff, site={**handoff.site, gpu.site: described})
    [found] = harm(filtered, gpu, replace(clean, seen=seen))
    assert (found.code, found.severity) == ("CW8290", Severity.WARNING)
    assert "kept by ufw" in found.what and "(ip filter)" in found.what
    assert list(harm(filtered, gpu, clean)) == []


def test_the_table_of_the_cluster_is_nobody_elses() -> None:
    listed = """\
table ip filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy drop;
\t}
}
table inet clusterwright {
\tchain input {
\t\ttcp dport 22 accept
\t}
}
"""
    [(table, lines)] = others(listed).items()
    assert table == "ip filter" and "policy drop" in lines[1]


def test_packages_that_would_go_down_and_files_that_would_go_are_named(
    handoff: Handoff, gpu: Node, clean: Machine
) -> None:
    there = Machine(clean.seen, {"replace": ["/etc/hosts"]}, lowered=("libnccl2",))
    words = [found.what for found in harm(handoff, gpu, there)]
    assert any("libnccl2" in text for text in words)
    assert any("/etc/hosts" in text for text in words)
    assert list(harm(handoff, gpu, replace(there, applied=True))) == []


def test_the_same_of_many_nodes_is_one_finding(handoff: Handoff, clean: Machine) -> None:
    seen = {**clean.seen, "services": ["puppet"], "name": ""}
    nodes = handoff.with_role("compute")
    found = [one for node in nodes for one in harm(handoff, node, Machine({**seen, "name": node.name}, {}))]
    assert len(found) == len(nodes) > 1
    [one] = together(found)
    assert "[" in one.where.path


WORDS = {
    "root@10.0.0.1: Permission denied (publickey,password).": "CW8176",
    "ssh: connect to host 10.0.0.1 port 22: Connection refused": "CW8178",
    "Incorrect sudo password": "CW8179",
    "Missing sudo password": "CW8179",
    "python3 could not be installed: E: Unable to locate package": "CW8180",
    "sudo: unable to resolve host; python3 could not be installed": "CW8180",
}


@pytest.mark.parametrize("words", WORDS)
def test_words_of_a_machine_become_its_finding(words: str, gpu: Node, tmp_path: Path) -> None:
    result = NodeResult("failed", message=words)
    assert finding(gpu, Contact(), result, tmp_path / "none").code == WORDS[words]


def test_a_password_comes_from_a_private_file_or_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("open sesame\n")
    file.chmod(0o600)
    assert secret_in(str(file)) == "open sesame"
    file.chmod(0o640)
    with pytest.raises(Refused, match="CW8185 others may read it"):
        secret_in(str(file))
    reading, writing = os.pipe()
    os.write(writing, b"from a program\n")
    os.close(writing)
    assert secret_in(f"/dev/fd/{reading}") == "from a program"
    os.close(reading)
    with pytest.raises(Refused, match="CW8185"):
        secret_in(str(tmp_path / "absent"))


def test_a_password_is_in_no_words_of_what_holds_it() -> None:
    assert "sesame" not in repr(Contact(password="sesame", become_password="sesame"))


def test_what_was_seen_of_control_groups_reaches_the_plan(tmp_path: Path) -> None:
    record = Record(ClusterHome("own", tmp_path))
    record.add({"a": Known("10.0.0.2", 22, "cgroup/v2", "/sys/fs/cgroup")})
    assert record.ground() == Ground()
    record.add({"b": Known("10.0.0.3", 22, "cgroup/v1", "/run/cgroup")})
    assert record.ground() == Ground(cgroup_plugin="cgroup/v1", cgroup_mountpoint="/run/cgroup")
    record.forget(["b"])
    assert set(record.read()) == {"a"}


def test_a_controller_that_runs_no_slurmd_says_nothing_of_control_groups(handoff: Handoff, gpu: Node) -> None:
    controller, seen = handoff.with_role("controller")[0], ("cgroup/v1", "/run/cgroup")
    assert "compute" not in controller.roles
    assert Known.of(controller, 22, seen) == Known(controller.address, 22)
    assert Known.of(gpu, 22, seen) == Known(gpu.address, 22, *seen)


def test_a_busy_machine_may_take_a_while_to_greet(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(machines, "_CONNECT_SECONDS", 0.1)

    def taken(_address: object, seconds: float) -> socket.socket:
        ours.settimeout(seconds)
        return ours

    monkeypatch.setattr(socket, "create_connection", taken)
    Timer(0.3, theirs.sendall, [b"SSH-2.0-busy\r\n"]).start()
    assert machines.greets(Known("10.0.0.2", 22))
    theirs.close()


def site_of(folder: Path) -> OwnSite:
    """Of the example, with a state folder that nobody has used."""
    prepared = prepare(described(Source(EXAMPLE)))
    home = ClusterHome("hgx", folder)
    return OwnSite(
        Desired(home, prepared.handoff, prepared.files, EXAMPLE.parent), OwnMachines(home, ("main",))
    )


def test_up_goes_on_with_those_that_were_bootstrapped_and_names_the_others(tmp_path: Path) -> None:
    site, told = site_of(tmp_path), list[Event]()
    with pytest.raises(Refused, match="CW8184"):
        site.machines.ensure(site.handoff, {}, told.append)
    first, second, *_ = site.handoff.nodes
    Record(site.home).add({first.name: Known(first.address, 2222)})
    [target] = site.machines.ensure(site.handoff, {}, told.append).values()
    assert (target.name, target.port, target.user) == (first.name, 2222, "clusterwright-admin")
    assert (second.name, "unreachable") in {(event.node, event.status) for event in told}
    assert set(site.targets) == set(site.handoff.by_name), "acceptance asks all of them"


def test_root_is_had_by_sudo_and_the_operator_trusts_one_line(tmp_path: Path) -> None:
    target = next(iter(site_of(tmp_path).targets.values()))
    assert target.argv("id -u; true")[-1] == "sudo -n sh -c 'id -u; true'"
    assert (tmp_path / "known_hosts").read_text().startswith("@cert-authority * ssh-ed25519 ")
    assert (tmp_path / "keys/hosts_ed25519").stat().st_mode & 0o077 == 0


def test_no_batch_begins_after_one_of_which_too_many_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, asked = site_of(tmp_path), list[str]()

    def fail(_: Play, nodes: Sequence[Node], *__: object) -> Mapping[str, NodeResult]:
        asked.extend(node.name for node in nodes)
        return {
            node.name: NodeResult("unreachable", message="Permission denied (password)") for node in nodes
        }

    monkeypatch.setattr(Play, "run", fail)
    nodes = site.handoff.nodes[:5]
    ended = bootstrap(site, nodes, Contact(), How(batches=Batches("2")), lambda _: None)
    assert asked == [node.name for node in nodes[:2]]
    assert ended.untouched == tuple(node.name for node in nodes[2:])
    assert [one.code for one in ended.findings] == ["CW8176", "CW8176", "CW8182"]
    asked.clear()
    ended = bootstrap(site, nodes, Contact(), How(batches=Batches("40%", 100)), lambda _: None)
    assert (len(asked), ended.untouched, ended.ok) == (5, (), False)
    with pytest.raises(Refused, match="CW8174"):
        bootstrap(site, nodes, Contact(), How(batches=Batches("all")), lambda _: None)


def test_a_machine_of_which_nothing_was_proven_did_not_get_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ansible gives up on all machines of a run at times, and says nothing of some."""
    site = site_of(tmp_path)
    monkeypatch.setattr(
        Play, "run", lambda _, nodes, *__: {node.name: NodeResult("changed") for node in nodes}
    )
    ended = bootstrap(site, site.handoff.nodes[:1], Contact(), How(), lambda _: None)
    assert [one.code for one in ended.findings] == ["CW8180"]
    assert Record(site.home).read() == {}


FINE, GONE = Answer(0, "", ""), Answer(255, "", "Connection closed by remote host")


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ({"touch": [FINE], "reboot": [GONE], "test": [Answer(1, "", ""), GONE, FINE]}, ""),
        ({"touch": [GONE], "reboot": [], "test": []}, "could not be told to reboot: Connection closed"),
        ({"touch": [FINE], "reboot": [Answer(1, "", "inhibited")], "test": []}, "to reboot: inhibited"),
    ],
)
def test_a_machine_that_was_not_told_to_reboot_is_not_taken_for_one_that_came_back(
    answers: Mapping[str, list[Answer]], wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(tmp_path)

    def answer(_: Target, command: str, **__: object) -> Answer:
        return answers["reboot" if "reboot" in command else command.split()[0]].pop(0)

    monkeypatch.setattr(machines, "run_on", answer)
    monkeypatch.setattr(machines.time, "sleep", lambda _: None)
    one = replace(site.handoff, nodes=site.handoff.nodes[:1])
    if wrong:
        with pytest.raises(Refused, match=f"CW8178 .*{wrong}"):
            site.machines.reboot(one, {}, lambda _: None)
    else:
        site.machines.reboot(one, {}, lambda _: None)
    assert not any(answers.values())


def test_a_journal_that_cannot_be_read_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(tmp_path)
    name = site.handoff.nodes[0].name
    Record(site.home).add({name: Known("127.0.0.1", 9)})
    with pytest.raises(Refused, match=f"CW8087 .*Connection refused.*bmc console hgx {name}"):
        site.machines.logs(name)
    monkeypatch.setattr(Target, "argv", lambda _, command: ["echo", command])
    monkeypatch.setattr("clusterwright.operate.journal.run_on", lambda *_, **__: FINE)
    assert [*site.machines.logs(name, last=7)] == ["exec journalctl --quiet --no-pager --lines=7 --boot"]


def test_keys_that_many_make_at_once_are_one_pair(tmp_path: Path) -> None:
    def made(_: int) -> str:
        return Trust(ClusterHome("own", tmp_path)).authority.with_suffix(".pub").read_text()

    with ThreadPoolExecutor(16) as pool:
        publics = set(pool.map(made, range(16)))
    private = tmp_path / "keys/hosts_ed25519"
    told = subprocess.run(["ssh-keygen", "-y", "-f", private], capture_output=True, text=True, check=True)
    assert publics == {told.stdout}

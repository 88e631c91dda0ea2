"""Machines with an operating system, SSH and a password, and nothing else, become an accepted cluster."""

from __future__ import annotations

import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from tests.bmc import ipmi_bmc

from clusterwright.operate.lab.shares import lab_shares
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.providers.lab.machine import LabNode

from .bare import KNOWN, PASSWORD, Floor, filled, floor_of, private
from .ground import Desk

pytestmark = pytest.mark.lab

DESCRIPTION = """\
cluster: bare
site:
  provider: onprem
  network: NETWORK
  machines: machines.csv
  boot: {}
  firewall: {operators_from: OPERATOR/32}
pools:
  head: {roles: [controller, login, compute], machine: generic-x86-2c, partitions: main}
  box: {roles: compute, machine: generic-x86-2c, partitions: main, nodes: "box[1-3]"}
users:
  ada: {uid: 2001}
software: {distribution: debian-13, monitoring: false}
scheduler: {accounting: false}
"""
MACHINES = """\
node,mac
box1,0c:42:a1:00:00:01
box2,0c:42:a1:00:00:02
box3,0c:42:a1:00:00:03
"""
# A machine that boots an image of the site's own, behind a BMC that speaks IPMI.
BMC = "127.0.9.3"
BMCS = f"""\
  bmc_network: 127.0.9.0/24
  bmc_credentials: file:bmc-login
  bmc: {{protocols: [ipmi], ipmi_port: {ipmi_bmc.PORT}, ipmi_cipher_suite: 3}}
"""
IMAGED = "  imaged: {roles: compute, machine: generic-x86-2c, partitions: main, nodes: box3, image: theirs}\n"
REMOVE_PYTHON = "dpkg --purge --force-all python3 python3-minimal 2>/dev/null; ! command -v python3"


@pytest.fixture(scope="module")
def floor(desk: Desk) -> Iterator[Floor]:
    with floor_of(desk, DESCRIPTION, MACHINES, ("head", "box1", "box2")) as made:
        for name in ("head", "box1"):
            made.on(name, KNOWN)
        made.on("box2", "echo 'ops:another' | chpasswd")
        made.on("box1", REMOVE_PYTHON)
        yield made


def last(said: str) -> Any:
    return json.loads(said.strip().splitlines()[-1])


def codes(outcome: Any) -> dict[str, str]:
    return {
        finding["path"]: finding["code"] for finding in outcome["findings"] if finding["severity"] == "error"
    }


def test_survey_tells_what_is_there_and_changes_nothing(desk: Desk, floor: Floor) -> None:
    before = floor.tree("head")
    said = desk.run("survey", "cluster.yaml", *floor.reached("--accept-new"), "--json", code=1)
    survey = last(said)["survey"]
    assert set(survey["groups"]) == {"head"}
    head = survey["groups"]["head"]
    assert head["seen"]["system"]["distribution"] == "debian-13"
    assert {"slurmctld", "slurmd"} <= set(head["changes"]["install"])
    assert codes(survey) == {"box2": "CW8176", "box3": "CW8178"}
    assert "CW8180" in {finding["code"] for finding in survey["findings"] if finding["path"] == "box1"}
    assert floor.tree("head") == before


def test_nobody_is_trusted_at_first_sight(desk: Desk, floor: Floor) -> None:
    shown = floor.on("head", "ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub").split()[1]
    said = desk.run("bootstrap", "cluster.yaml", "head", *floor.reached(), code=1)
    assert "CW8175" in said and shown in said


def test_check_tells_and_changes_nothing(desk: Desk, floor: Floor) -> None:
    before = floor.tree("head")
    words = ["bootstrap", "cluster.yaml", "head", *floor.reached("--accept-new"), "--check", "--json"]
    changes = last(desk.run(*words))["outcome"]["nodes"]["head"]["drift"]
    assert {"login clusterwright-admin", "host certificate"} <= set(changes)
    assert floor.tree("head") == before


def test_killed_in_the_middle_the_next_run_finishes_and_the_others_have_their_finding(
    desk: Desk, floor: Floor
) -> None:
    words = ["bootstrap", "cluster.yaml", *floor.reached("--accept-new"), "--json"]
    floor.on("box1", "touch /var/lib/dpkg/updates/0000")  # as a dpkg leaves it that was killed
    desk.kill(desk.until('"changed"', *words))
    outcome = last(desk.run(*words, code=1))["outcome"]
    assert codes(outcome) == {"box2": "CW8176", "box3": "CW8178"}, outcome["findings"]
    assert {name for name, node in outcome["nodes"].items() if node["status"] in ("ok", "changed")} == {
        "head",
        "box1",
    }
    assert floor.on("box1", "command -v python3") == "/usr/bin/python3\n"


def test_second_run_needs_no_password_and_changes_nothing(desk: Desk, floor: Floor) -> None:
    before = floor.tree("head")
    outcome = last(desk.run("bootstrap", "cluster.yaml", "head,box1", "--json"))["outcome"]
    assert {(node["status"], node["changed"]) for node in outcome["nodes"].values()} == {("ok", 0)}
    assert floor.tree("head") == before


def test_password_stands_nowhere(desk: Desk, floor: Floor) -> None:
    files = [file for file in desk.state.glob("clusterwright/clusters/**/*") if file.is_file()]
    assert files
    assert not [file for file in files if PASSWORD.encode() in file.read_bytes()]
    assert PASSWORD not in floor.on("head", "journalctl --no-pager --quiet")


def test_password_login_ends_when_asked(desk: Desk, floor: Floor) -> None:
    assert "passwordauthentication yes" in floor.on("head", "sshd -T")
    words = ["bootstrap", "cluster.yaml", "head", "--passwords-off", "--json"]
    assert last(desk.run(*words))["outcome"]["nodes"]["head"]["drift"] == ["password login off"]
    assert "passwordauthentication no" in floor.on("head", "sshd -T")


def test_up_brings_them_to_an_accepted_cluster(desk: Desk, floor: Floor) -> None:
    text = filled(DESCRIPTION, floor.lab).replace("box[1-3]", "box1")
    desk.describe(text)
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    said = desk.run("ssh", "bare", "--user", "ada", "--", "srun", "-N2", "hostname")
    assert sorted(said.split()) == ["box1", "head"]
    boots = "systemctl is-active clusterwright-boot-dhcp clusterwright-boot-http"
    assert floor.on("head", f"{boots} && ! systemctl is-active --quiet nginx") == "active\nactive\n"
    outcome = desk.outcome("up", "cluster.yaml")
    assert {(node["status"], node["tasks"]) for node in outcome["nodes"].values()} == {("ok", 0)}


def test_what_the_site_keeps_is_told_and_left(desk: Desk, floor: Floor) -> None:
    text = (desk.folder / "cluster.yaml").read_text()
    kept = 'nodes: "box1", ansible_roles: {users: observe}'
    desk.describe(text.replace('nodes: "box1"', kept))
    floor.on("box1", "usermod --shell /bin/sh ada && rm /etc/sudoers.d/clusterwright")
    outcome = desk.outcome("up", "cluster.yaml")
    told = ["/etc/sudoers.d/clusterwright: missing", "user ada: shell /bin/sh should be /bin/bash"]
    assert outcome["nodes"]["box1"]["observed"] == told
    assert outcome["nodes"]["head"]["observed"] == []
    assert [note["path"] for note in outcome["findings"] if note["code"] == "CW8270"] == ["box1"]
    assert floor.on("box1", "getent passwd ada").strip().endswith("/bin/sh")
    survey = last(desk.run("survey", "cluster.yaml", "box1", "--json"))["survey"]
    assert survey["groups"]["box1"]["changes"]["observed"] == told
    assert desk.run("ssh", "bare", "--user", "ada", "--", "srun", "-wbox1", "hostname") == "box1\n"


def test_only_the_operator_is_let_in_from_outside(floor: Floor) -> None:
    [head] = floor.lab.targets(["head"])
    assert floor.on("head", "/usr/lib/clusterwright/firewall check") == "head.nft is loaded\n"
    slurmctld = "exec 3<>/dev/tcp/head/6817 && echo open"
    assert floor.on("box1", f"bash -c '{slurmctld}'") == "open\n"
    with pytest.raises(TimeoutError):
        socket.create_connection((head.address, 6817), timeout=2)


def test_a_firewall_that_locks_the_operator_out_takes_itself_back(desk: Desk, floor: Floor) -> None:
    soon = "/run/systemd/system/clusterwright-nftables-undo.timer.d"
    sooner = f"printf '[Timer]\\nOnActiveSec=\\nOnActiveSec=4\\n' >{soon}/soon.conf"
    for name in ("head", "box1"):
        floor.on(name, f"mkdir -p {soon} && {sooner} && systemctl daemon-reload")
    text = (desk.folder / "cluster.yaml").read_text()
    desk.describe(re.sub("operators_from: [0-9.]+", "operators_from: 192.0.2.1", text))
    nodes = desk.outcome("up", "cluster.yaml", code=1)["nodes"]
    assert {node["status"] for node in nodes.values()} == {"failed"}
    assert all("put back the rules before it" in node["message"] for node in nodes.values())
    for name in ("head", "box1"):
        floor.on(name, f"rm -r {soon} && systemctl daemon-reload")
    desk.describe(text)


def test_a_flushed_firewall_takes_the_node_from_slurm_until_it_is_back(desk: Desk, floor: Floor) -> None:
    gate = "/usr/lib/clusterwright/gate --quick"
    said = floor.on("box1", f"nft flush ruleset; ! {gate}")
    assert "FAIL firewall: expected the rules of the description, loaded, seen the table" in said
    shown = "sinfo --noheader --nodes=box1 --format='%T %E'"
    assert "clusterwright: gate firewall" in floor.on("head", shown)
    nodes = desk.outcome("up", "cluster.yaml", "--no-accept")["nodes"]
    assert nodes["box1"]["drift"] == ["firewall: the table inet clusterwright is gone"]
    assert nodes["head"]["tasks"] == 0
    floor.on("box1", gate)
    assert floor.on("head", shown).startswith("idle")


def test_a_firewall_that_is_no_longer_described_is_gone(desk: Desk, floor: Floor) -> None:
    text = (desk.folder / "cluster.yaml").read_text()
    desk.describe(re.sub("  firewall: .*\\n", "", text))
    desk.outcome("up", "cluster.yaml", "--no-accept")
    left = "/etc/clusterwright/firewall/*.nft /usr/lib/clusterwright/firewall /var/lib/clusterwright/firewall"
    for name in ("head", "box1"):
        assert floor.on(name, f"nft list tables; ls {left} 2>/dev/null || true") == ""


@pytest.fixture
def behind_bmc(desk: Desk, floor: Floor, tmp_path: Path) -> Iterator[Path]:
    """box3, which is started by nobody but its BMC. The folder has what that was told."""
    if not (shutil.which("ipmi_sim") and shutil.which("ipmitool")):
        pytest.skip("needs openipmi and ipmitool")
    private(desk.folder / "bmc-login", f"{ipmi_bmc.USER}:{ipmi_bmc.PASSWORD}\n")
    lines = [f"{line},{BMC}" if line.startswith("box3") else f"{line}," for line in MACHINES.splitlines()]
    (desk.folder / "machines.csv").write_text(
        "\n".join([MACHINES.splitlines()[0] + ",bmc_address", *lines[1:]])
    )
    text = (desk.folder / "cluster.yaml").read_text()
    desk.describe(text.replace("pools:\n", f"{BMCS}pools:\n{IMAGED}"))
    handoff = prepare(described(Source(desk.folder / "cluster.yaml"))).handoff
    box = LabNode("box3", IPv4Address(handoff.by_name["box3"].address))
    ended = threading.Event()

    def machine() -> None:
        while (tmp_path / "power").read_text() != "1\n":
            if ended.wait(0.05):
                return
        floor.lab.ensure([box], lambda *_: None, image=floor.image, shares=lab_shares(handoff))

    with ipmi_bmc.served(BMC, tmp_path, "SN3"):
        running = threading.Thread(target=machine)
        running.start()
        try:
            yield tmp_path
        finally:
            ended.set()
            running.join()


def test_a_machine_comes_from_off_to_certified(desk: Desk, floor: Floor, behind_bmc: Path) -> None:
    key = floor.lab.targets(["head"])[0].key_file
    words = ["provision", "cluster.yaml", "--identity", str(key), "--accept-new", "--json"]
    said = desk.run(*words, code=2)
    assert "CW8302" in said  # the controller was not told of it yet
    desk.run("up", "cluster.yaml", "--no-accept")
    images = "/srv/clusterwright/www/images/theirs"
    floor.on("head", f"mkdir -p {images} && touch {images}/root.squashfs")
    desk.kill(desk.until('"step": "wait"', *words))
    outcome = last(desk.run(*words))["outcome"]
    assert outcome["nodes"] == {"box3": {"status": "changed", "switched": ""}}
    told = (behind_bmc / "told").read_text()
    assert told.count("set power 1") == 1
    assert "set boot pxe" in told
    assert desk.run("ssh", "bare", "box3", "--", "hostname") == "box3\n"
    assert last(desk.run(*words))["outcome"]["nodes"]["box3"]["status"] == "ok"

"""What is rendered for machines that boot: real dnsmasq and nginx, asked as firmware asks."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from .head import HEAD, Head, head
from .wires import Machine, daemon, room

KNOWN, UNKNOWN = "0c:42:a1:00:00:01", "0c:42:a1:00:00:99"
SERVING = "{gateway: 10.74.0.1, name_servers: [10.74.0.1], unknown: 10.74.0.240-10.74.0.250}"
CLOSED = "{}"
BESIDE = "{dhcp_server: 10.74.0.1}"
START = f"http://{HEAD}:8008/start.ipxe"
PROGRAM = Path(__file__).parents[2] / "roles/network_boot/files/other-dhcp"
_OTHER = [
    "dnsmasq",
    "--keep-in-foreground",
    "--log-facility=-",
    "--conf-file=/dev/null",
    "--port=0",
    "--user=root",
]


def other_dhcp(folder: Path) -> list[str]:
    """A DHCP server that a network has already, or that somebody brought."""
    range_ = "--dhcp-range=10.74.0.100,10.74.0.120,10m"
    return [*_OTHER, range_, "--no-ping", f"--dhcp-leasefile={folder / 'leases' / 'other'}"]


def until(log: Head, words: str) -> None:
    """Until dnsmasq has said so."""
    end = time.monotonic() + 60
    while words not in log.log:
        assert time.monotonic() < end, log.log
        time.sleep(0.05)


@pytest.mark.parametrize("boot", [SERVING, CLOSED, BESIDE])
def test_the_real_programs_take_what_is_rendered(folder: Path, boot: str) -> None:
    made = head(folder, boot)
    conf = folder / "etc/clusterwright/boot"
    programs = (
        ["dnsmasq", "--test", "-C", f"{conf}/dnsmasq.conf"],
        ["nginx", "-t", "-c", f"{conf}/nginx.conf"],
    )
    with room({"head": f"{HEAD}/24"}) as machines:
        for words in programs:
            words = machines["head"].words(*words)
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert not done.returncode and "warn" not in done.stderr, done.stderr
    assert made.path("/srv/clusterwright/www/start.ipxe").read_text().startswith("#!ipxe\n")


def test_a_known_machine_gets_its_address_and_its_loader_by_its_firmware(folder: Path) -> None:
    made = head(folder, SERVING)
    with room({"head": f"{HEAD}/24", "work1": ""}) as machines, made.dnsmasq(machines["head"]):
        machine = machines["work1"]
        loaders = {}
        for arch in (0, 7, 9):
            [answer] = machine.asks(KNOWN, "--arch", str(arch))
            loaders[arch] = answer["boots"]
            assert (answer["address"], answer["name"]) == ("10.74.0.11", "work1")
            assert (answer["router"], answer["dns"]) == ("10.74.0.1", "10.74.0.1")
            assert answer["next"] == answer["server"] == HEAD
        assert loaders == {0: "undionly.kpxe", 7: "snponly.efi", 9: "snponly.efi"}
        [again] = machine.asks(KNOWN, "--ipxe")
        assert again["boots"] == START
        machine.run("ip", "address", "add", "10.74.0.11/24", "dev", "eth0")
        loader = Path("/usr/lib/ipxe/undionly.kpxe").read_bytes()
        fetched = machine.run(
            "python3", str(Path(__file__).with_name("firmware.py")), "tftp", HEAD, "undionly.kpxe"
        )
        assert fetched.strip() == hashlib.sha256(loader).hexdigest()


def test_scripts_and_images_come_over_http(folder: Path) -> None:
    made = head(folder, SERVING)
    images = made.path("/srv/clusterwright/www/images/small-1")
    images.mkdir(parents=True)
    (images / "vmlinuz").write_bytes(b"a kernel")
    with room({"head": f"{HEAD}/24", "work1": "10.74.0.11/24"}) as machines, made.nginx(machines["head"]):
        base = f"http://{HEAD}:8008"
        start = fetched(machines["work1"], f"{base}/start.ipxe")
        assert f"{base}/nodes/${{netX/mac:hexhyp}}.ipxe" in start
        script = fetched(machines["work1"], f"{base}/nodes/{KNOWN.replace(':', '-')}.ipxe")
        kernel = next(line.split()[1] for line in script.splitlines() if line.startswith("kernel"))
        assert fetched(machines["work1"], kernel) == "a kernel"
        assert "systemd.hostname=work1" in script
        disk = fetched(machines["work1"], f"{base}/nodes/0c-42-a1-00-00-03.ipxe")
        assert "sanboot" in disk and "kernel" not in disk
        with pytest.raises(AssertionError, match="404"):
            fetched(machines["work1"], f"{base}/nodes/{UNKNOWN.replace(':', '-')}.ipxe")


def fetched(machine: Machine, url: str) -> str:
    words = [
        "curl",
        "--silent",
        "--show-error",
        "--fail",
        "--retry",
        "30",
        "--retry-connrefused",
        "--retry-delay",
        "1",
    ]
    return machine.run(*words, url)


def test_an_unknown_machine_is_lent_an_address_or_gets_none_and_is_in_the_log(folder: Path) -> None:
    open_, closed = folder / "open", folder / "closed"
    made = head(open_, SERVING)
    with room({"head": f"{HEAD}/24", "work1": ""}) as machines, made.dnsmasq(machines["head"]):
        [answer] = machines["work1"].asks(UNKNOWN, "--ipxe")
        assert 240 <= int(str(answer["address"]).rpartition(".")[2]) <= 250
        assert answer["boots"] == START
    made = head(closed, CLOSED)
    with room({"head": f"{HEAD}/24", "work1": ""}) as machines, made.dnsmasq(machines["head"]):
        [answer] = machines["work1"].asks(KNOWN)
        assert "router" not in answer and "dns" not in answer
        assert machines["work1"].asks(UNKNOWN, "--servers", "0") == []
        until(made, f"{UNKNOWN} no address available")


def test_a_machine_that_is_added_is_known_after_a_reload(folder: Path) -> None:
    made = head(folder, CLOSED)
    with room({"head": f"{HEAD}/24", "work1": ""}) as machines, made.dnsmasq(machines["head"]) as process:
        machines["work1"].asks(KNOWN)
        hosts = made.path("/etc/clusterwright/boot/hosts")
        hosts.write_text(hosts.read_text() + f"{UNKNOWN},10.74.0.19,work9,12h\n")
        process.send_signal(signal.SIGHUP)
        [answer] = machines["work1"].asks(UNKNOWN)
        assert (answer["address"], answer["name"]) == ("10.74.0.19", "work9")


def test_nothing_is_answered_on_another_interface(folder: Path) -> None:
    made = head(folder, SERVING)
    with room({"head": f"{HEAD}/24", "work1": "", "office": ""}) as machines:
        switch, there, office = machines["switch"], machines["head"], machines["office"]
        switch.run("ip", "link", "delete", "office")
        peer = ["peer", "name", "eth0", "netns", str(office.pid)]
        switch.run("ip", "link", "add", "office", "netns", str(there.pid), "type", "veth", *peer)
        there.run("ip", "address", "add", "192.168.9.1/24", "dev", "office")
        there.run("ip", "link", "set", "office", "up")
        office.run("ip", "link", "set", "eth0", "up")
        with made.dnsmasq(there):
            machines["work1"].asks(KNOWN)
            assert office.asks(UNKNOWN, "--servers", "0") == []
            [answer] = machines["work1"].asks(KNOWN)
            assert answer["address"] == "10.74.0.11"
            assert UNKNOWN not in made.log
            listening = [line.split()[3] for line in there.run("ss", "-Hlun").splitlines()]
            assert [address for address in listening if address.endswith(":69")] == [f"{HEAD}:69"]


def test_beside_another_dhcp_server_only_known_machines_are_told_what_to_start(folder: Path) -> None:
    made = head(folder, BESIDE)
    names = {"head": f"{HEAD}/24", "there": "10.74.0.1/24", "work1": ""}
    with ExitStack() as stack:
        machines = stack.enter_context(room(names))
        stack.enter_context(made.dnsmasq(machines["head"]))
        with daemon(machines["there"], other_dhcp(folder), folder / "other.log"):
            machine = machines["work1"]
            answers = {row["server"]: row for row in machine.asks(KNOWN, "--servers", "2")}
            assert answers["10.74.0.1"]["address"].startswith("10.74.0.1")
            assert answers[HEAD]["address"] == "0.0.0.0"
            assert answers[HEAD]["class"] == "PXEClient"
            own = answers["10.74.0.1"]["address"]
            machine.run("ip", "address", "add", f"{own}/24", "dev", "eth0")
            for arch, loader in (("0", "undionly.kpxe"), ("7", "snponly.efi")):
                assert chosen(machine, own, "--arch", arch) == loader
                assert chosen(machine, own, "--arch", arch, "--ipxe") == START
            [left] = machine.asks(UNKNOWN)
            assert left["server"] == "10.74.0.1"
            until(made, f"{UNKNOWN} proxy-ignored")


def chosen(machine: Machine, own: str, *firmware: str) -> str:
    """What a machine starts that takes the only item of the menu which the proxy offers, if it offers one."""
    answers = {row["server"]: row for row in machine.asks(KNOWN, "--servers", "2", *firmware)}
    items = answers[HEAD].get("items") or [""]
    assert len(items) == 1
    words = ["--own", own, "--to", HEAD, *(["--item", items[0]] if items[0] else [])]
    [answer] = machine.asks(KNOWN, *firmware, *words)
    return str(answer["boots"])


def test_a_second_dhcp_server_is_found_and_named(folder: Path) -> None:
    made = head(folder, CLOSED)
    network = made.path("/etc/clusterwright/boot/network.json")
    with room({"head": f"{HEAD}/24", "intruder": "10.74.0.66/24"}) as machines:
        there = machines["head"]
        with made.dnsmasq(there):
            machines["intruder"].asks(KNOWN)
            assert asked(there, network) == []
        with daemon(machines["intruder"], other_dhcp(folder), folder / "other.log"):
            there.asks(UNKNOWN)
            [found] = heard(there, network)
            assert found["server"] == "10.74.0.66"
            words = there.words(str(PROGRAM), "--only-one", "--network", str(network))
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout) == (1, "")
            assert f"10.74.0.66 ({found['mac']}) answers DHCP on eth0 too" in done.stderr


def test_the_described_dhcp_server_may_be_there(folder: Path) -> None:
    made = head(folder, BESIDE)
    network = made.path("/etc/clusterwright/boot/network.json")
    names = {"head": f"{HEAD}/24", "there": "10.74.0.1/24"}
    with ExitStack() as stack:
        machines = stack.enter_context(room(names))
        stack.enter_context(daemon(machines["there"], other_dhcp(folder), folder / "other.log"))
        machines["head"].asks(UNKNOWN)
        assert [row["server"] for row in heard(machines["head"], network)] == ["10.74.0.1"]
        machines["head"].run(str(PROGRAM), "--only-one", "--network", str(network))


def heard(machine: Machine, network: Path) -> list[dict[str, str]]:
    """Who answers, asked until somebody does."""
    end = time.monotonic() + 60
    while not (servers := asked(machine, network)):
        assert time.monotonic() < end
    return servers


def asked(machine: Machine, network: Path) -> list[dict[str, str]]:
    said = machine.run(str(PROGRAM), "--network", str(network), "--patience", "1")
    servers: list[dict[str, str]] = json.loads(said)["servers"]
    return servers

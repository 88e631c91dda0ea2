"""`provision`: machines behind emulated BMCs, which answer while they are on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.bmc.conftest import Hall
from tests.boot.test_heard import MAC as MAC_HEARD
from tests.boot.test_heard import ROM_ASKS, ROM_HAS_IT, SYSTEM_ASKS

from clusterwright.converge.result import NodeResult
from clusterwright.converge.runner import Run
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.render.boot import ROOT
from clusterwright.spec.nodeset import expand

ADDRESS = "10.70.0.1{}"
GPUS = ("gpu1", "gpu2", "gpu3")
MAC = "0c:42:a1:00:00:0{}"
PAGE = (Path(__file__).parents[2] / "docs/netboot.md").read_text()
[SHOWN] = re.findall(
    r"^```console\n(\$ clusterwright provision hall.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
)
KILLED = """\
import sys
from clusterwright.cli import main
from clusterwright.operate.own import site
site.greets = lambda _: False
sys.exit(main())
"""
SSH = """\
#!/bin/sh
cd {folder} || exit 9
for word; do case "$word" in *@*) at="${{word#*@}}" ;; esac; done
case "$*" in
*sha256sum*) . ./up; cat listing ;;
*journalctl*) test ! -e unheard || exit 9; cat journal ;;
*"rm -f /srv/clusterwright/www/orders/"*) echo withdrawn >>orders ;;
*/www/orders/*) echo "$*" >>orders ;;
*sinfo*) echo 'gpu1|allocated|none' ;;
*squeue*) cat jobs ;;
*"sh -c true") test -e "certified/$at" || exit 255 ;;
esac
"""


@dataclass
class Floor:
    """The machines themselves: a server that says who answers, while a machine is on."""

    hall: Hall
    folder: Path
    asleep: set[str] = field(default_factory=lambda: {"gpu5"})
    """Machines that never come up, of which gpu5 has no BMC that answers either."""
    reached: dict[str, dict[str, str]] = field(default_factory=dict)
    """What Ansible was told of each."""

    def answers(self, address: str) -> bool:
        number = address[-1]
        if f"gpu{number}" in self.asleep:
            return False
        if number == "4":
            return (self.hall.old / "power").read_text() == "1\n"
        return bool(self.system(f"gpu{number}")["power_state"] == "On")

    def system(self, node: str) -> dict[str, Any]:
        return self.hall.bmcs.system(f"127.0.7.{node[-1]}")

    def orders(self, node: str) -> list[str]:
        return list(self.system(node).get("told", []))

    def certify(self, *nodes: str) -> None:
        for node in nodes:
            (self.folder / f"certified/{ADDRESS.format(node[-1])}").touch()

    def deliver(self) -> None:
        """What `up` brings to the controller."""
        self.hall.write()
        lines = [
            f"{hashlib.sha256((file.content or '').encode()).hexdigest()}  {file.path.removeprefix(ROOT)[1:]}"
            for file in prepare(described(Source(Path(self.hall.file)))).files
            if file.path.startswith(f"{ROOT}/nodes/")
        ]
        assert len(lines) == 5
        (self.folder / "listing").write_text("\n".join([*lines, "images/theirs/root.squashfs\n"]))

    def words(self, nodes: str = "", *options: str) -> list[str]:
        named = [nodes] if nodes else []
        return ["provision", self.hall.file, *named, *options]

    def provision(self, nodes: str = "", *options: str) -> tuple[int, Any]:
        """Exit code, and what is told in the end, with codes of errors by their place."""
        code, body = self.hall.told(*self.words(nodes, *options))
        assert "outcome" in body, body
        told = body["outcome"]
        codes = {one["path"]: one["code"] for one in told["findings"] if one["severity"] == "error"}
        return code, {**told, "findings": codes}

    def describe(self, old: str, new: str) -> None:
        text = Path(self.hall.file).read_text()
        assert old in text
        Path(self.hall.file).write_text(text.replace(old, new))

    def hears(self, journal: str | None) -> None:
        """What the controller wrote down; None where it cannot be asked."""
        heard = (journal or "").replace(MAC_HEARD, MAC.format(1 if journal == SYSTEM_ASKS else 2))
        (self.folder / "journal").write_text(heard)
        if journal is None:
            (self.folder / "unheard").touch()

    def steps(self, nodes: str) -> dict[str, str]:
        return dict(self.hall.told(*self.words(nodes, "--check"))[1]["check"]["steps"])

    @property
    def begun(self) -> Any:
        file = ClusterHome.of("hall").root / "provision.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def settled(self, node: str) -> bool:
        """Whether its BMC says that it is on, which it says a moment late."""
        return not self.system(node).get("looks")

    def killed_at(self, order: str, nodes: str, *options: str) -> None:
        """Killed once all of them were told that. None of them has come up by then."""
        self.hall.write()
        argv = [sys.executable, "-c", KILLED, *self.words(nodes, *options)]
        with subprocess.Popen(argv, start_new_session=True) as run:
            while not all(order in self.orders(node) and self.settled(node) for node in expand(nodes)):
                assert run.poll() is None
                time.sleep(0.02)
            os.killpg(run.pid, signal.SIGKILL)

    def refused(self, nodes: str = "", *options: str) -> dict[str, dict[str, Any]]:
        """Findings by code."""
        code, out, _ = self.hall.run(*self.words(nodes, *options), "--json")
        assert code == 2, out
        found = [json.loads(line)["finding"] for line in out.splitlines()]
        assert not [node for node in GPUS if self.orders(node)]
        return {one["code"]: one for one in found}


@pytest.fixture
def floor(hall: Hall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Floor:
    """gpu1 to gpu4 are off, their image is served, and nobody was let in anywhere."""
    made = Floor(hall, tmp_path)
    for name in ("bin", "certified"):
        (tmp_path / name).mkdir()
    ssh = tmp_path / "bin/ssh"
    ssh.write_text(SSH.format(folder=tmp_path))
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    for name in ("jobs", "journal", "up"):
        (tmp_path / name).touch()
    for node, row in hall.rows.items():
        row |= {"mac": MAC.format(node[-1]), "address": ADDRESS.format(node[-1])}
    text = Path(hall.file).read_text().replace("10.70.0.0/24", "10.70.0.0/24\n  boot: {}")
    Path(hall.file).write_text(text.replace("rtx4090-workstation,", "rtx4090-workstation, image: theirs,"))
    made.deliver()
    monkeypatch.setattr(Run, "play", _playing(made))

    monkeypatch.setattr("clusterwright.operate.own.site.greets", lambda known: made.answers(known.address))
    return made


def _playing(floor: Floor) -> Any:
    """Bootstrap's playbook needs machines that it may change: tests/story has them."""

    def play(
        run: Run, _playbook: str, inventory: Path, nodes: Collection[str], _extra: object
    ) -> Mapping[str, NodeResult]:
        floor.certify(*nodes)
        floor.reached |= json.loads(inventory.read_text())["all"]["hosts"]
        for node in nodes:
            assert run.hear
            run.hear(node, "", {"msg": "proven"})
        return {node: NodeResult("changed", changed=1) for node in nodes}

    return play


def test_machines_come_from_off_to_certified_and_are_left_alone_then(floor: Floor) -> None:
    code, told = floor.provision("gpu[1-4]")
    assert (code, told["findings"]) == (0, {})
    assert told["nodes"] == {f"gpu{n}": {"status": "changed", "switched": "on"} for n in (1, 2, 3, 4)}
    assert [floor.system(node)["boot_device"] for node in GPUS] == ["Pxe"] * 3
    assert "set boot" in (floor.hall.old / "told").read_text()
    assert [floor.system(node)["beside"] for node in GPUS] == [0, 0, 0]  # `starts: 1` of their PDU
    assert not floor.begun
    code, told = floor.provision("gpu[1-4]")
    assert (code, {one["status"] for one in told["nodes"].values()}) == (0, {"ok"})
    assert [floor.orders(node) for node in GPUS] == [["On"]] * 3


def test_without_a_node_set_it_is_all_with_an_image_and_a_dead_bmc_stops_no_other(floor: Floor) -> None:
    code, told = floor.provision()
    assert (code, told["findings"]) == (1, {"gpu5": "CW8192"})
    ended = {node: one["status"] for node, one in told["nodes"].items()}
    assert ended == {**{f"gpu{n}": "changed" for n in (1, 2, 3, 4)}, "gpu5": "failed"}


def test_what_machines_lack_is_said_at_its_line_and_at_once(floor: Floor) -> None:
    floor.hall.rows["gpu3"]["bmc_address"] = ""
    found = floor.refused("head,gpu[1-3]")
    assert found.keys() == {"CW8300", "CW8190"}
    assert (found["CW8300"]["file"], found["CW8300"]["path"]) == (floor.hall.file, "pools.head")
    assert Path(floor.hall.file).read_text().splitlines()[found["CW8300"]["line"] - 1].startswith("  head:")
    assert (Path(found["CW8190"]["file"]).name, found["CW8190"]["line"]) == ("machines.csv", 4)


def test_what_the_page_shows_appears(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(floor.folder)
    for address in ("127.0.7.1", "127.0.7.3"):
        floor.hall.bmcs.change(address, power_state="On")
    floor.certify("gpu1")
    seen = ""
    for command in re.findall(r"^\$ (.*)$", SHOWN, re.MULTILINE):
        seen += f"$ {command}\n{floor.hall.run(*shlex.split(command)[1:])[1]}"
    assert seen == SHOWN


def test_without_any_image_there_is_nothing_to_start(floor: Floor) -> None:
    floor.describe("image: theirs,", "")
    assert floor.refused()["CW8300"]["path"] == "pools"


def test_keys_that_the_built_image_makes_have_to_be_taken(floor: Floor) -> None:
    floor.describe("rtx4090-workstation, image: theirs", "generic-x86-16c, image: built")
    assert floor.refused("gpu[1-3]").keys() == {"CW8304"}
    assert floor.refused("gpu[1-3]", "--accept-new").keys() == {"CW8302"}


def test_a_host_key_is_kept_in_mind_where_the_image_has_it(floor: Floor) -> None:
    """One that is made as the image starts is another one after the next boot."""
    for node, options in {"gpu1": [], "gpu2": ["--accept-new"]}.items():
        assert floor.provision(node, *options)[0] == 0
    kept = {
        node: "first_contact" in words["ansible_ssh_common_args"] for node, words in floor.reached.items()
    }
    assert kept == {"gpu1": True, "gpu2": False}
    assert {words["ansible_user"] for words in floor.reached.values()} == {"root"}


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        ("printf 'exit 255\\n' >> up", "CW8301", "does not let clusterwright in"),
        ("printf 'exit 9\\n' >> up", "CW8301", "do not both run there"),
        ("sed -i /00-02.ipxe/d listing", "CW8302", "no script"),
        ("sed -i 's/^[0-9a-f]*  \\(.*00-02.ipxe\\)/00  \\1/' listing", "CW8302", "another script"),
        ("sed -i /theirs/d listing", "CW8302", "images/theirs/root.squashfs is not on head"),
    ],
)
def test_nothing_is_switched_where_the_controller_would_start_something_else(
    floor: Floor, spoil: str, code: str, words: str
) -> None:
    subprocess.run(["sh", "-c", spoil], cwd=floor.folder, check=True)
    found = floor.refused("gpu[1-3]")
    assert found.keys() == {code}
    assert words in found[code]["what"]


def test_a_machine_that_is_on_and_not_let_in_is_asked_about(floor: Floor) -> None:
    floor.hall.bmcs.change("127.0.7.1", power_state="On")
    assert floor.refused("gpu[1-2]").keys() == {"CW9012"}
    code, told = floor.provision("gpu[1-2]", "--yes")
    assert (code, told["findings"]) == (0, {})
    assert {node: one["switched"] for node, one in told["nodes"].items()} == {"gpu1": "off, on", "gpu2": "on"}
    assert floor.orders("gpu1") == ["GracefulShutdown", "On"]


def test_running_jobs_are_not_lost(floor: Floor) -> None:
    floor.hall.bmcs.change("127.0.7.1", power_state="On")
    ClusterHome.of("hall").record_applied(prepare(described(Source(Path(floor.hall.file)))).handoff, ())
    (floor.folder / "jobs").write_text("17 gpu1\n")
    assert floor.refused("gpu1", "--yes").keys() == {"CW8006"}
    assert floor.provision("gpu1", "--yes", "--disturb")[0] == 0


def test_check_switches_nothing(floor: Floor) -> None:
    floor.hall.bmcs.change("127.0.7.1", power_state="On")
    floor.hall.bmcs.change("127.0.7.2", power_state="On")
    floor.certify("gpu2")
    code, told = floor.hall.told(*floor.words("gpu[1-3]", "--check"))
    assert (code, told["check"]["steps"]) == (0, {"gpu1": "restart", "gpu2": "nothing", "gpu3": "start"})
    assert [floor.orders(node) for node in GPUS] == [[], [], []]
    out = floor.hall.run(*floor.words("gpu[1-3]", "--check"))[1]
    assert "gpu3  off    start it from its network, bootstrap it\n" in out


@pytest.mark.parametrize(
    ("journal", "code"),
    [(None, "CW8303"), ("", "CW8255"), (ROM_ASKS, "CW8256"), (ROM_ASKS + ROM_HAS_IT, "CW8258")],
)
def test_of_one_that_does_not_come_it_is_said_how_far_it_came(
    floor: Floor, journal: str | None, code: str
) -> None:
    floor.hears(journal)
    floor.asleep.add("gpu2")
    ended, told = floor.provision("gpu[1-2]", "--timeout", "0 s")
    assert (ended, told["findings"]) == (1, {"gpu2": code})
    assert told["nodes"]["gpu1"]["status"] == "changed"
    # Later than it was waited for: what came in the end is not begun anew, what did not is.
    assert floor.steps("gpu2") == {"gpu2": "restart"}
    floor.asleep.clear()
    assert floor.provision("gpu2")[0] == 0
    assert floor.orders("gpu2") == ["On"]


def test_one_that_came_from_its_disk_is_not_let_in(floor: Floor) -> None:
    floor.hears(SYSTEM_ASKS)
    code, told = floor.provision("gpu[1-2]")
    assert (code, told["findings"]) == (1, {"gpu1": "CW8257"})
    assert {node: one["status"] for node, one in told["nodes"].items()} == {
        "gpu1": "failed",
        "gpu2": "changed",
    }
    assert floor.steps("gpu1") == {"gpu1": "restart"}


def on_disks(floor: Floor) -> None:
    """The same machines, with a disk that the image is written to."""
    disk = "install_to: /dev/disk/by-path/pci-0000:01:00.0-nvme-1"
    floor.describe("rtx4090-workstation, image: theirs", f"generic-x86-16c, image: built, {disk}")
    floor.deliver()
    boot = prepare(described(Source(Path(floor.hall.file)))).handoff.site["main"]["boot"]
    digest = boot["images"]["gpu"].partition(":")[2]
    with (floor.folder / "listing").open("a") as listing:
        listing.write(f"images/{digest}.ipxe\n")


def ordered(floor: Floor) -> list[str]:
    """What the controller was told of disks, in order, and what may be written over."""
    file = floor.folder / "orders"
    lines = file.read_text().splitlines() if file.exists() else []
    told = [
        line for line in lines if "clusterwright.write=" in line or "chain" in line or line == "withdrawn"
    ]
    return [re.sub(r".*(clusterwright\.write=[a-z]*).*|.*(chain).*", r"\1\2", line) for line in told]


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ([], ["chain", "withdrawn"]),
        (["--erase"], ["clusterwright.write=erase", "chain", "withdrawn"]),
        (["--rewrite"], ["clusterwright.write=rewrite", "chain", "withdrawn"]),
    ],
)
def test_a_disk_is_written_by_an_order_that_is_withdrawn(
    floor: Floor, options: list[str], order: list[str]
) -> None:
    on_disks(floor)
    code, told = floor.provision("gpu1", "--accept-new", *options)
    assert (code, told["findings"]) == (0, {})
    assert ordered(floor) == order


def test_only_rewrite_touches_a_machine_that_is_ready(floor: Floor) -> None:
    on_disks(floor)
    assert floor.provision("gpu1", "--accept-new")[0] == 0
    code, told = floor.provision("gpu1", "--accept-new", "--erase")
    assert (code, told["nodes"]["gpu1"]) == (0, {"status": "ok", "switched": ""})
    code, told = floor.provision("gpu1", "--accept-new", "--rewrite", "--yes")
    assert (code, told["nodes"]["gpu1"]) == (0, {"status": "changed", "switched": "off, on"})


def test_one_that_leaves_its_disk_as_it_is_is_not_waited_for(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusterwright.operate.provision.wait._LISTEN_SECONDS", 0.1)
    on_disks(floor)
    floor.asleep.add("gpu1")
    floor.hears(f"{ADDRESS.format(1)} 404 153 /refused/foreign-disk\n")
    code, told = floor.provision("gpu1", "--accept-new", "--timeout", "10 min")
    assert (code, told["findings"]) == (1, {"gpu1": "CW8310"})
    floor.asleep.clear()
    code, told = floor.provision("gpu1", "--accept-new", "--erase", "--yes")
    assert (code, told["findings"]) == (0, {})


def test_no_batch_begins_after_one_of_which_too_many_failed(floor: Floor) -> None:
    floor.asleep.add("gpu1")
    code, told = floor.provision("gpu[1-3]", "--timeout", "0 s", "--serial", "1")
    assert (code, told["untouched"]) == (1, ["gpu2", "gpu3"])
    assert told["findings"] == {"gpu1": "CW8255", "hall": "CW8182"}
    assert [floor.orders(node) for node in GPUS] == [["On"], [], []]


def test_a_run_that_was_killed_while_machines_boot_is_gone_on_with(floor: Floor) -> None:
    floor.killed_at("On", "gpu[1-2]")
    assert floor.begun == {"gpu1": "starting", "gpu2": "starting"}
    assert floor.provision("gpu[1-3]", "--yes")[0] == 0
    assert [floor.orders(node) for node in GPUS] == [["On"]] * 3
    assert not floor.begun


def test_a_run_that_was_killed_while_a_machine_ends_is_gone_on_with(floor: Floor) -> None:
    floor.asleep.add("gpu1")
    assert floor.provision("gpu1", "--timeout", "0 s")[0] == 1
    floor.hall.bmcs.change("127.0.7.1", stubborn=True)
    floor.killed_at("GracefulShutdown", "gpu1", "--yes")
    floor.asleep.clear()
    assert floor.steps("gpu1") == {"gpu1": "restart"}  # it still answers, and is the system from before
    floor.hall.bmcs.change("127.0.7.1", stubborn=False, power_state="Off")
    assert floor.provision("gpu1")[0] == 0  # it went off in the end, so nobody is asked
    assert floor.orders("gpu1") == ["On", "GracefulShutdown", "On"]


def test_one_whose_boot_device_is_refused_stays_off(floor: Floor) -> None:
    settings = {"Boot": {"BootSourceOverrideTarget@Redfish.AllowableValues": ["Hdd"]}}
    floor.hall.bmcs.change("127.0.7.1", says={"/redfish/v1/Systems/ID": {"SerialNumber": "SN1", **settings}})
    code, told = floor.provision("gpu[1-2]")
    assert (code, told["findings"]) == (1, {"gpu1": "CW8197"})
    assert floor.orders("gpu1") == []
    assert told["nodes"]["gpu2"]["status"] == "changed"

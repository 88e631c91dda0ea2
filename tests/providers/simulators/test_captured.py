"""Every public capture of captured/ against what the simulators print for the same machine and driver."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
from dataclasses import dataclass, replace

import pytest
from shapes import CAPTURED, Capture, Fact, captures, differences, shape_of
from simulated_machines import MACHINES, World

from clusterwright.providers.lab.simulators.faults import inject
from clusterwright.providers.lab.simulators.hardware import Hardware
from clusterwright.providers.lab.simulators.kernel_log import lines as kernel_lines
from clusterwright.providers.lab.simulators.launch import simulator_of
from clusterwright.providers.lab.simulators.rdma import devices, tree

VERSIONS = {"dcgmi": "4.4.2", "fi_info": "2.1.0", "lctl": "2.15.8", "lfs": "2.15.8", "lnetctl": "2.15.8"}
LEFT_OUT = CAPTURED / "deviations.csv"
WORDS = "words: "


@dataclass(frozen=True, slots=True)
class Deviation:
    """What ours does otherwise, and why it stays: a difference, or after `words:` what is printed besides."""

    program: str
    difference: str
    reason: str

    def covers(self, program: str, difference: str) -> bool:
        return self.program in ("*", program) and re.fullmatch(self.difference, difference) is not None


def deviations() -> list[Deviation]:
    with LEFT_OUT.open(encoding="utf-8", newline="") as stream:
        return [Deviation(**row) for row in csv.DictReader(stream)]


def printed(capture: Capture, world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[Fact, ...]:
    """The shape of what the lab's node prints: of the last command, after those before it."""
    head = capture.head
    hardware = MACHINES[head["lab"]]
    if "driver" in head:
        hardware = replace(hardware, driver_version=head["driver"])
    for name, index in (fault.split() for fault in head.get("faults", "").split(",") if fault):
        hardware = inject(hardware, name, int(index))
    world.show(hardware)
    for module, _, version in (word.partition("=") for word in head.get("modules", "").split()):
        world.load(module, version)
    world.mount(*head.get("mounted", "").split())
    for daemon in head.get("running", "").split():
        world.run(daemon)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in ("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "CUDA_VISIBLE_DEVICES", "NCCL_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    if capture.program == "xid":
        return _shown(capture, "".join(f"{line}\n" for line in kernel_lines(hardware)))
    if capture.program == "ibstat":
        return _shown(capture, _ibstat(hardware))
    for command in capture.commands:
        labels = ",".join(fact.path.partition(" [")[0] for fact in capture.shape)
        program, *arguments = shlex.split(command.replace("{labels}", labels))
        given = simulator_of(program)(world.node(head.get("version", VERSIONS.get(program, ""))), arguments)
    return _shown(capture, given.text or given.error)


def _shown(capture: Capture, text: str) -> tuple[Fact, ...]:
    """Without the words that say that a program is simulated."""
    for deviation in deviations():
        if deviation.program in ("*", capture.program) and deviation.difference.startswith(WORDS):
            text = re.sub(deviation.difference.removeprefix(WORDS), "", text, flags=re.MULTILINE)
    return shape_of(capture.kind, text)


def _ibstat(hardware: Hardware) -> str:
    """As the real ibstat (infiniband-diags) writes the files of /sys/class/infiniband down."""
    files = tree(hardware)
    text = ""
    for name, _ in devices(hardware):
        told = {path.removeprefix(f"infiniband/{name}/"): value for path, value in files.items()}
        port = {path.removeprefix("ports/1/"): value for path, value in told.items()}
        text += f"CA '{name}'\n" + "".join(
            f"\t{line}\n"
            for line in (
                f"CA type: {told['hca_type']}",
                "Number of ports: 1",
                f"Firmware version: {told['fw_ver']}",
                f"Hardware version: {int(told['hw_rev'], 16):x}",
                f"Node GUID: 0x{told['node_guid'].replace(':', '')}",
                f"System image GUID: 0x{told['sys_image_guid'].replace(':', '')}",
                "Port 1:",
                f"\tState: {port['state'].partition(': ')[2].title()}",
                f"\tPhysical state: {port['phys_state'].partition(': ')[2]}",
                f"\tRate: {port['rate'].partition(' ')[0]}",
                f"\tBase lid: {int(port['lid'], 16)}",
                f"\tLMC: {port['lid_mask_count']}",
                f"\tSM lid: {int(port['sm_lid'], 16)}",
                f"\tCapability mask: 0x{int(port['cap_mask'], 16):08x}",
                f"\tPort GUID: 0x{''.join(port['gids/0'].split(':')[4:])}",
                f"\tLink layer: {port['link_layer']}",
            )
        )
    return text


@pytest.mark.parametrize("capture", captures(), ids=lambda capture: f"{capture.program}/{capture.name}")
def test_a_simulator_prints_what_the_capture_has(
    capture: Capture, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = printed(capture, world, monkeypatch)
    kept = deviations()
    found = [
        each
        for each in differences(capture, ours, captures())
        if not any(deviation.covers(capture.program, each) for deviation in kept)
    ]
    assert not found, "\n".join(found)


def test_captures_say_where_and_when_and_of_what_they_are() -> None:
    assert len(captures()) >= 50
    for capture in captures():
        assert re.match(r"(github\.com|docs\.[\w.]+)/\S+", capture.head["source"]), capture.name
        assert re.fullmatch(r"(about )?\d{4}(-\d\d(-\d\d)?)?", capture.head["date"]), capture.name
        assert capture.head["machine"] and capture.head["lab"] in MACHINES, capture.name


def test_every_deviation_is_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """None stays in the list after its fault is mended, and each says why it stays."""
    unused = [each for each in deviations() if not each.difference.startswith(WORDS)]
    for capture in captures():
        for folder in (world.state, world.own, world.markers):
            shutil.rmtree(folder, ignore_errors=True)
        found = differences(capture, printed(capture, world, monkeypatch), captures())
        unused = [each for each in unused if not any(each.covers(capture.program, line) for line in found)]
    assert unused == []
    assert all(len(each.reason) > 20 for each in deviations())


REPORT = """GPU {bus}
    Product Name: {words}
    FB Memory Usage
        Total: {n} MiB
        Free: {n} MiB
"""
TOTAL = "GPU {bus} / FB Memory Usage / Total"
CAPTURE = Capture("report", "one", {}, (), shape_of("tree", REPORT))


@pytest.mark.parametrize(
    ("wrong", "right", "difference"),
    [
        ("", "", ""),
        ("        Free: 9 MiB\n", "", "lacks: GPU {bus} / FB Memory Usage / Free"),
        ("Total: 9 MiB", "Total: 9 GiB", f"form: {TOTAL}: '{{n}} MiB' is no form of '9 GiB'"),
        ("Product Name: H100", "Product Name:", "form: GPU {bus} / Product Name: '{words}' is no form of ''"),
        ("        Free: 9 MiB\n", "    Free: 9 MiB\n", "lacks: GPU {bus} / FB Memory Usage / Free"),
        ("Free: 9 MiB\n", "Free: 9 MiB\n        Used: 0 MiB\n",
         "extra: GPU 00000000:1B:00.0 / FB Memory Usage / Used"),
        ("        Total: 9 MiB\n        Free: 9 MiB\n", "        Free: 9 MiB\n        Total: 9 MiB\n",
         "order: GPU {bus} / FB Memory Usage / Free"),
    ],
)  # fmt: skip
def test_another_shape_is_seen(wrong: str, right: str, difference: str) -> None:
    ours = REPORT.replace("{bus}", "00000000:1B:00.0").replace("{words}", "H100").replace("{n}", "9")
    found = differences(CAPTURE, shape_of("tree", ours.replace(wrong, right)), [CAPTURE])
    assert difference in found if difference else found == []


def test_what_another_capture_has_may_be_there_when_its_driver_is_no_newer() -> None:
    more = Capture("report", "two", {"driver": "590.48.01"}, (), shape_of("tree", "EDPp Multiplier: {f}%"))
    ours = shape_of("tree", "EDPp Multiplier: 100.00%")
    older, newer = (Capture("report", "mine", {"driver": driver}, (), ()) for driver in ("580.1", "595.1"))
    assert differences(older, ours, [older, more]) == ["extra: EDPp Multiplier"]
    assert differences(newer, ours, [newer, more]) == []

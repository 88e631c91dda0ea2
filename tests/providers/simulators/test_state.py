"""The state file and what derives from it: faults that come and go, data that can be read, old files too."""

from __future__ import annotations

import ast
import csv
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from simulated_machines import MACHINES

from clusterwright.providers.lab import simulate, simulators
from clusterwright.providers.lab.simulators.bandwidth import bus_bandwidth
from clusterwright.providers.lab.simulators.facts import cuda_of, model_named
from clusterwright.providers.lab.simulators.faults import FAULTS, NoSuchPart, clear, inject
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedShare
from clusterwright.providers.lab.simulators.partitions import profiles

HGX = MACHINES["hgx-h100"]
PACKAGE = Path(simulators.__file__).parent


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_changes_the_state_survives_its_file_and_can_be_taken_back(name: str) -> None:
    healthy = MACHINES["mi300x"] if FAULTS[name].vendor == "amd" else HGX
    kind = name.partition("-")[0]
    share = SimulatedShare(kind if kind in ("beegfs", "cephfs", "weka") else "lustre", "x", ("s",), "/x")
    healthy = replace(healthy, shares=(share,))
    broken = inject(healthy, name)
    assert broken != healthy
    assert Hardware.from_json(broken.as_json()) == broken
    assert broken.without_faults() == healthy
    assert inject(broken, name) == broken
    assert clear(broken, name) == healthy


def test_faults_stand_beside_each_other() -> None:
    both = inject(inject(HGX, "ecc", 1), "nic-slow", 7)
    assert (both.gpus[1].ecc.uncorrected, both.nics[7].rate_gbps) == (2, 100)
    assert clear(both, "ecc") == inject(HGX, "nic-slow", 7)
    assert clear(both) == HGX


def test_a_fault_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(NoSuchPart, match="no fault colour; known: ecc, "):
        inject(HGX, "colour")
    with pytest.raises(NoSuchPart, match="no gpu 8"):
        inject(HGX, "ecc", 8)
    with pytest.raises(NoSuchPart, match="no nic 0"):
        inject(MACHINES["l4"], "nic-down")
    with pytest.raises(NoSuchPart, match="xgmi-down is no fault of GPU 0 of the node, NVIDIA H100"):
        inject(HGX, "xgmi-down")
    with pytest.raises(NoSuchPart, match="xid is no fault of GPU 3 of the node, AMD Instinct"):
        inject(MACHINES["mi300x"], "xid", 3)


def test_a_state_of_before_and_of_later_can_be_read() -> None:
    older = {
        "simulated": True,
        "driver_version": "1",
        "gpus": [{"minor": 0, "model": "m", "pci": "p", "uuid": "u"}],
    }
    assert Hardware.from_json(older).gpus[0].state == "ok"
    assert Hardware.from_json({**HGX.as_json(), "colour": "green"}) == HGX
    with pytest.raises(TypeError):
        Hardware.from_json({"gpus": 8})


def test_the_slowest_part_sets_the_pace() -> None:
    assert bus_bandwidth(HGX, "nvlink") == 478.12
    assert bus_bandwidth(inject(HGX, "nvlink-down"), "nvlink") < 478
    assert bus_bandwidth(HGX, "network") == 388.0
    assert bus_bandwidth(inject(HGX, "nic-missing"), "network") == pytest.approx(388 * 7 / 8, abs=0.01)
    assert bus_bandwidth(inject(HGX, "nic-slow"), "network") == 97.0
    assert bus_bandwidth(inject(HGX, "network-slow"), "network") == 194.0
    plain = replace(MACHINES["l4"], ethernet_gbps=25)
    assert bus_bandwidth(plain, "network") == pytest.approx(25 / 8, rel=0.05)
    assert bus_bandwidth(inject(plain, "network-slow"), "network") == pytest.approx(25 / 16, rel=0.05)


def test_what_the_kernel_says_of_a_fault(tmp_path: Path) -> None:
    simulate.write_words(tmp_path, inject(HGX, "xid", 2))
    assert "NVRM: Xid (PCI:0000:52:00): 79, pid='<unknown>'" in (tmp_path / "kernel-log").read_text()
    assert (tmp_path / "driver").read_text() == "580.95.05\n"
    assert (tmp_path / "nics").read_text().splitlines()[0] == "infiniba0 active"


@pytest.mark.parametrize(
    "table",
    [
        "models.csv",
        "drivers.csv",
        "mig_profiles.csv",
        "amd_smi/sheet.csv",
        "amd_smi/releases.csv",
        "amd_smi/options.csv",
    ],
)
def test_every_row_has_a_source_and_a_date(table: str) -> None:
    for row in csv.DictReader((PACKAGE / table).read_text().splitlines()):
        assert row["source"] and row["date"], row
        assert None not in row and None not in row.values(), row


def test_every_model_and_branch_can_be_read() -> None:
    for row in csv.DictReader((PACKAGE / "models.csv").read_text().splitlines()):
        model = model_named(row["model"])
        assert model.architecture
        assert bool(profiles(model.mig)) == bool(model.mig)
    assert model_named("NVIDIA Something").links == 0
    assert cuda_of("580.95.05") == "13.0"
    assert cuda_of("999.1") is None


def test_amd_smi_has_facts_of_every_model_of_amds() -> None:
    told = {row["model"] for row in csv.DictReader((PACKAGE / "amd_smi/sheet.csv").read_text().splitlines())}
    models = csv.DictReader((PACKAGE / "models.csv").read_text().splitlines())
    assert told == {row["model"] for row in models if row["brand"] == "AMD"}


def test_the_simulators_need_nothing_that_a_node_may_not_have() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            outside = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
            assert outside <= {"mpi4py"}, (path, outside)

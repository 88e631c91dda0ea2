"""The gate program against made trees: a healthy node passes, and one change fails exactly one gate."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import gate_tree
import pytest
import yaml
from gate_tree import FILES, Tree, needs_mknod, smi

from clusterwright.providers.lab.simulators import faults


@pytest.fixture
def healthy(tmp_path: Path) -> Tree:
    return gate_tree.healthy(tmp_path)


def no_gpu_0_in_the_driver(tree: Tree) -> None:
    shutil.rmtree(next((tree.root / "proc/driver/nvidia/gpus").iterdir()))


def a_file_for_a_device(tree: Tree) -> None:
    (tree.root / "dev/nvidia3").unlink()
    (tree.root / "dev/nvidia3").touch()


def one_cpu_offline(tree: Tree) -> None:
    text = (tree.root / "proc/cpuinfo").read_text()
    tree.write("/proc/cpuinfo", text.replace("processor\t: 191\n", ""))


def renamed(tree: Tree) -> None:
    assert tree.failed() == []
    card = tree.root / "sys/bus/pci/drivers/mlx5_core/0000:e0:01.0/infiniband"
    (card / "mlx5_0").rename(card / "ibp1s0")


def shown(old: str, new: str) -> Callable[[Tree], None]:
    """Something else in what nvidia-smi tells."""
    assert old in smi(8)
    return lambda tree: tree.program("nvidia-smi", smi(8).replace(old, new))


def holds(path: str, text: str) -> Callable[[Tree], None]:
    return lambda tree: tree.write(path, text)


def dpkg(**rows: str) -> Callable[[Tree], None]:
    return lambda tree: tree.packages(**rows)


NEXT_KERNEL = "/lib/modules/6.12.48-amd64/modules.order"
OTHER_DRIVER = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  (root)\n"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:12 UTC 2025\n"
XID = "NVRM: Xid (PCI:0000:52:00): {}, pid='<unknown>', name=<unknown>, {}\n"
CHANGED = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
DARK = "Link 3: <inactive>"
LAST_LINK = "\\n\\t Link 17: 26.562 GB/s"
CHANGES: dict[str, tuple[str, Callable[[Tree], object]]] = {
    "another host name": ("name", lambda t: t.write("/proc/sys/kernel/hostname", "gpu-009")),
    "seven GPUs": ("gpus", lambda t: t.program("nvidia-smi", smi(7))),
    "nine GPUs": ("gpus", lambda t: t.program("nvidia-smi", smi(9))),
    "another model": ("gpus", lambda t: t.program("nvidia-smi", smi(8, model="NVIDIA L4"))),
    "half the GPU memory": ("gpus", lambda t: t.program("nvidia-smi", smi(8, memory=40000))),
    "GPU memory not readable": ("gpus", lambda t: t.program("nvidia-smi", smi(8, memory="[N/A]"))),
    "no GPU at all": ("gpus", lambda t: t.program("nvidia-smi", "echo 'No devices were found'; exit 6")),
    "no driver": ("user-driver", lambda t: t.program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")),
    "no nvidia-smi": ("user-driver", lambda t: (t.bin / "nvidia-smi").unlink()),
    "driver without one": ("gpu-driver", no_gpu_0_in_the_driver),
    "device node missing": ("gpu-devices", lambda t: (t.root / "dev/nvidia3").unlink()),
    "device node is a file": ("gpu-devices", a_file_for_a_device),
    "control device missing": ("gpu-devices", lambda t: (t.root / "dev/nvidiactl").unlink()),
    "another driver loaded": ("driver-loaded", holds("/proc/driver/nvidia/version", OTHER_DRIVER)),
    "closed modules": ("driver-loaded", holds("/proc/driver/nvidia/version", CLOSED)),
    "no driver loaded": ("driver-loaded", holds("/proc/driver/nvidia/version", "")),
    "a package of another version": ("stack", dpkg(nvidia_open="590.1-1 hold installed")),
    "a package removed": ("stack", dpkg(nvidia_open="580.95.05-1 hold config-files")),
    "a package gone": ("stack", dpkg(nvidia_driver="")),
    "a package not held": ("stack", dpkg(nvidia_fabricmanager="580.95.05-1 install installed")),
    "an RPM of another version": ("stack", lambda t: t.rpms(version="590.1-1.el9")),
    "an RPM gone": ("stack", lambda t: t.rpms(gone="nvidia-fabricmanager")),
    "an RPM not held": ("stack", lambda t: t.rpms(unheld="nvidia-fabricmanager")),
    "rpm's database broken": ("stack", lambda t: (t.rpms(), t.program("rpm", "echo 'error: db'; exit 1"))),
    "nouveau loaded": ("modules", holds("/sys/module/nouveau/initstate", "live")),
    "a module not loaded": ("modules", lambda t: shutil.rmtree(t.root / "sys/module/gdrdrv")),
    "not built for the next kernel": ("modules", holds(NEXT_KERNEL, "")),
    "not built for this kernel": ("modules", lambda t: (t.root / "built/6.12.43-amd64/nvidia").unlink()),
    "the kernel's own module": ("modules", holds("/built/6.12.43-amd64/gdrdrv", "kernel/drivers/gdrdrv.ko")),
    "another kernel": ("kernel", holds("/proc/sys/kernel/osrelease", "6.1.0-40-amd64\n")),
    "Fabric Manager failed": ("gpu-services", lambda t: t.services(nvidia_fabricmanager="failed")),
    "DCGM stopped": ("gpu-services", lambda t: t.services(nvidia_dcgm="inactive")),
    "persistence off": ("persistence", shown("Enabled, 0", "Disabled, 0")),
    "eight lanes": ("pci-link", shown("5, 16,", "5, 8,")),
    "an older PCI": ("pci-link", shown("5, 16,", "4, 16,")),
    "a dark NVLink": ("nvlink", shown("Link 3: 26.562 GB/s", DARK)),
    "NVLinks gone": ("nvlink", shown(LAST_LINK, "")),
    "fabric not set up": ("nvlink-fabric", lambda t: t.inject("fabric-manager")),
    "too hot": ("throttle", lambda t: t.inject("thermal-slowdown", 2)),
    "power brake": ("throttle", lambda t: t.inject("power-brake", 7)),
    "an Xid for a reboot": ("xid", lambda t: t.write("/kernel.log", XID.format(79, "fallen off the bus"))),
    "an Xid that tells its action": ("xid", lambda t: t.write("/kernel.log", XID.format(154, CHANGED))),
    "a GPU that somebody cut": ("mig", shown("Completed, Disabled", "Completed, Enabled")),
    "a row waits": ("ecc", shown("0, No, No", "0, Yes, No")),
    "no spare row": ("ecc", shown("0, No, No", "0, No, Yes")),
    "uncorrected errors": ("ecc", shown("0, No, No", "2, No, No")),
    "a card gone": ("fabric-cards", lambda t: t.inject("nic-missing", 3)),
    "a card down": ("fabric-cards", lambda t: t.inject("nic-down", 4)),
    "a slow card": ("fabric-cards", lambda t: t.inject("nic-slow", 5)),
    "64 KiB may be locked": ("memlock", lambda t: t.write("/memlock", "65536\n")),
    "a card renamed": ("link-names", renamed),
    "home not mounted": ("mounts", lambda t: t.mounted("overlay / overlay rw 0 0")),
    "home read-only": ("mounts", lambda t: t.mounted("server:/home /home nfs4 ro,hard 0 0")),
    "home does not answer": ("mounts", lambda t: t.program("stat", "echo 'Stale file handle'; exit 1")),
    "clock not synchronised": ("clock", lambda t: t.program("timedatectl", "echo no")),
    "a memory module gone": ("memory", lambda t: t.memory(1_900_000_000, 900_000_000)),
    "memory all used": ("memory", lambda t: t.memory(1 << 31, 4096)),
    "a CPU offline": ("cpus", one_cpu_offline),
}  # fmt: skip


@needs_mknod
def test_a_healthy_node_passes_every_gate(healthy: Tree) -> None:
    code, gates, report = healthy.run()
    assert code == 0
    assert set(gates.values()) == {"pass"}
    assert list(gates) == [
        "plan", "name", "stack", "driver-loaded", "user-driver", "kernel", "secure-boot", "modules",
        "gpus", "gpu-driver", "gpu-devices", "gpu-services", "persistence", "pci-link", "nvlink",
        "nvlink-fabric", "mig", "ecc",
        "throttle", "xid", "fabric-cards", "link-names", "memlock", "mounts", "clock", "disk",
        "memory", "cpus",
    ]  # fmt: skip
    assert report["passed"] and report["node"] == "gpu-001" and report["version"] == 1


@needs_mknod
def test_a_node_of_dnf_passes_as_one_of_apt_does(healthy: Tree) -> None:
    healthy.rpms()
    assert healthy.failed() == []


@needs_mknod
@pytest.mark.parametrize("change", CHANGES)
def test_one_change_fails_exactly_its_gate(change: str, healthy: Tree) -> None:
    gate, apply = CHANGES[change]
    apply(healthy)
    assert healthy.failed() == [gate]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 2, "hardware": {"gpus": []}}', "\x00"])
def test_a_damaged_plan_is_a_failed_gate_and_no_traceback(healthy: Tree, text: str) -> None:
    healthy.write("/etc/clusterwright/node.json", text)
    code, gates, _ = healthy.run()
    assert (code, gates) == (1, {"plan": "fail"})


@needs_mknod
def test_slurm_told_to_believe_the_configuration_changes_the_bound_and_not_the_gate(healthy: Tree) -> None:
    healthy.expected["config_overrides"] = True
    healthy.plan()
    healthy.memory(8_000_000, 4_000_000)
    one_cpu_offline(healthy)
    _, gates, report = healthy.run()
    assert gates["memory"] == gates["cpus"] == "pass"
    assert "191 CPUs, Slurm counts 192" in str(report["gates"])
    healthy.memory(8_000_000, 1000)
    assert healthy.run()[1]["memory"] == "fail"


FAULTS: dict[str, set[str]] = {
    "ecc": {"ecc", "xid"},
    "ecc-corrected": set(),
    "row-remap-failed": {"ecc", "xid"},
    "xid": {"user-driver", "xid"},
    "gpu-missing": {"gpus"},
    "nvlink-down": {"nvlink", "xid"},
    "thermal-slowdown": {"throttle"},
    "power-brake": {"throttle"},
    "nic-missing": {"fabric-cards"},
    "nic-down": {"fabric-cards"},
    "nic-slow": {"fabric-cards"},
    "driver-mismatch": {"driver-loaded", "user-driver"},
    "fabric-manager": {"nvlink-fabric"},
}


@needs_mknod
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_hardware_is_caught_and_clears(fault: str, healthy: Tree) -> None:
    sound = healthy.hardware
    healthy.inject(fault, 1 if faults.FAULTS[fault].of != "node" else 0)
    assert set(healthy.failed("--quick")) == FAULTS[fault]
    healthy.show(sound)
    assert healthy.failed("--quick") == []


LUSTRE_FAULTS: dict[str, tuple[str, str]] = {
    "lustre-evicted": ("lustre", "scratch-MDT0000 EVICTED"),
    "lustre-target-down": ("lustre", "scratch-OST0001 DISCONN"),
    "lustre-over-tcp": ("lustre", "over tcp"),
    "share-away": ("lustre", "scratch-OST0001 DISCONN and 2 more"),
}


@needs_mknod
@pytest.mark.parametrize("fault", LUSTRE_FAULTS)
def test_a_fault_of_lustre_is_caught_and_clears(fault: str, healthy: Tree) -> None:
    healthy.with_lustre()
    sound = healthy.hardware
    assert healthy.failed("--quick") == []
    assert healthy.seen("lustre") == "5 targets of scratch connected over o2ib"
    gate, words = LUSTRE_FAULTS[fault]
    healthy.show(faults.inject(sound, fault))
    assert healthy.failed("--quick") == [gate]
    assert words in healthy.seen(gate)
    healthy.show(sound)
    assert healthy.failed("--quick") == []


@needs_mknod
def test_a_rail_without_a_link_is_told_by_lnet_too(healthy: Tree) -> None:
    healthy.with_lustre()
    healthy.show(faults.inject(healthy.hardware, "nic-down", 1))
    assert healthy.failed("--quick") == ["fabric-cards", "lnet"]
    assert healthy.seen("lnet") == "1 up, 2 configured"


@needs_mknod
def test_another_file_system_at_the_place_is_not_the_planned_one(healthy: Tree) -> None:
    healthy.with_lustre()
    healthy.expected["file_systems"]["/scratch"]["file_system"] = "work"
    healthy.plan()
    assert healthy.failed() == ["lustre"]
    assert healthy.seen("lustre") == "scratch"


@needs_mknod
def test_without_lnet_the_mount_is_named_and_not_its_targets(healthy: Tree) -> None:
    healthy.with_lustre()
    healthy.mounted("overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0")
    assert healthy.failed("--quick") == ["mounts"]
    assert healthy.seen("lustre") == "/scratch is not mounted, see mounts"


def test_every_fault_that_a_node_can_see_is_tried() -> None:
    between_nodes = {"diag-fails", "diag-hangs", "nvlink-slow", "network-slow", "share-slow"}
    assert set(FAULTS) | set(LUSTRE_FAULTS) | between_nodes == set(faults.FAULTS)


def cut(tree: Tree) -> None:
    """GPU 2 in two instances, as planned."""
    tree.simulator("nvidia-smi")
    tree.expected["mig"] = {str(gpu): [] for gpu in range(8)}
    tree.expected["mig"]["2"] = [{"profile": "3g.40gb", "id": 9, "start": start} for start in (0, 4)]
    tree.plan()
    for link in ("2.0-instance", "2.0-compute", "2.4-instance", "2.4-compute"):
        tree.write(f"/dev/mig/{link}", "")
    ask(tree, "-i", "2", "-mig", "1")
    ask(tree, "mig", "-i", "2", "-cgi", "9:0,9:4", "-C")


def ask(tree: Tree, *words: str) -> None:
    done = subprocess.run([tree.bin / "nvidia-smi", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@needs_mknod
def test_instances_are_where_they_are_planned(healthy: Tree) -> None:
    cut(healthy)
    assert healthy.failed("--quick") == []
    assert healthy.seen("mig", "--quick") == "2 instances as planned"


@needs_mknod
@pytest.mark.parametrize(
    ("seen", "commands"),
    [
        ("no such instance", [["-gi", "2", "-dci"], ["-gi", "2", "-dgi"]]),
        ("instance 2 has no compute instance", [["-gi", "2", "-dci"]]),
        ("no such instance", [["-dci"], ["-dgi"], ["-cgi", "0", "-C"]]),
    ],
)
def test_an_instance_that_is_gone_is_named(healthy: Tree, seen: str, commands: list[list[str]]) -> None:
    cut(healthy)
    for words in commands:
        ask(healthy, "mig", "-i", "2", *words)
    assert healthy.failed("--quick") == ["mig"]
    assert healthy.seen("mig", "--quick") == seen


@needs_mknod
def test_a_link_that_leads_nowhere_is_named(healthy: Tree) -> None:
    cut(healthy)
    (healthy.root / "dev/mig/2.4-compute").unlink()
    assert healthy.seen("mig", "--quick") == "/dev/mig/2.4-compute leads nowhere"


@needs_mknod
def test_a_mismatch_is_named_as_such(healthy: Tree) -> None:
    healthy.inject("driver-mismatch")
    assert healthy.seen("driver-loaded") == "driver 535.183.01"
    assert "Driver/library version mismatch" in healthy.seen("user-driver")


def test_a_repair_settles_what_the_kernel_logged(healthy: Tree) -> None:
    healthy.write("/kernel.log", XID.format(48, "DBE"))
    assert healthy.seen("xid") == "Xid 48 of the GPU at 0000:52:00 (RESET): DBE"
    healthy.run("--repaired")
    assert healthy.seen("xid", "--quick") == "none"


def test_the_worst_xid_is_told_and_harmless_ones_pass(healthy: Tree) -> None:
    healthy.write("/kernel.log", XID.format(13, "Graphics Exception") + XID.format(31, "MMU Fault"))
    assert healthy.seen("xid") == "only to be watched: 13, 31"
    healthy.write("/kernel.log", "".join(XID.format(number, "x") for number in (48, 79, 54, 13)))
    assert healthy.seen("xid").startswith("Xid 54 ")


def test_a_moment_of_slowdown_is_no_fault(healthy: Tree) -> None:
    once = f"if [ -e {healthy.root}/asked ]; then\n{smi(8)}\nelse\ntouch {healthy.root}/asked\n"
    healthy.program("nvidia-smi", once + smi(8).replace("Not Active, 5", "Active, 5") + "\nfi")
    assert "throttle" not in healthy.failed("--quick")


def test_a_daemon_that_is_started_anew_is_no_fault(healthy: Tree) -> None:
    unit, active = healthy.root / "units/nvidia-dcgm.service", healthy.root / "active"
    unit.rename(active)
    unit.write_text(active.read_text().replace("=active", "=activating"))
    healthy.program("nvidia-smi", f"(sleep 0.3; cp {active} {unit}) >/dev/null 2>&1 &\n{smi(8)}")
    assert "gpu-services" not in healthy.failed("--quick")


def test_a_field_that_this_driver_does_not_know_is_left_out(healthy: Tree) -> None:
    refusal = "echo 'Field \"fabric.state\" is not a valid field to query.'; exit 2"
    old = smi(8).replace(", Completed, Disabled'", ", Disabled'")
    healthy.program("nvidia-smi", f'case "$*" in *fabric.state*) {refusal} ;; esac\n{old}')
    _, gates, _ = healthy.run()
    assert gates["gpus"] == gates["ecc"] == gates["nvlink-fabric"] == "pass"


@needs_mknod
def test_a_next_kernel_with_the_modules_passes(healthy: Tree) -> None:
    healthy.kernel("6.12.48-amd64")
    assert healthy.failed() == []
    assert healthy.seen("kernel") == "6.12.43-amd64; 6.12.48-amd64 boots next"
    assert healthy.seen("modules").endswith("; built for 6.12.43-amd64, 6.12.48-amd64")


@needs_mknod
def test_a_module_that_is_missing_is_named_with_its_kernel_and_why(healthy: Tree) -> None:
    """Without headers nothing is built; a build that failed leaves its log."""
    healthy.write(NEXT_KERNEL, "")
    assert healthy.seen("modules") == "not there, and no headers of 6.12.48-amd64 to build it with"
    healthy.kernel("6.12.48-amd64")
    (healthy.root / "built/6.12.48-amd64/nvidia_uvm").unlink()
    conf = 'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="580.95.05"\nBUILT_MODULE_NAME[1]="nvidia-uvm"\n'
    healthy.write("/usr/src/nvidia-580.95.05/dkms.conf", conf)
    healthy.write("/var/lib/dkms/nvidia/580.95.05/build/make.log", "error: …")
    [gate] = [one for one in healthy.run()[2]["gates"] if one["name"] == "modules"]
    assert gate["expected"] == "module nvidia_uvm (driver) built for kernel 6.12.48-amd64"
    assert gate["seen"] == "not there; its build failed, see /var/lib/dkms/nvidia/580.95.05/build/make.log"


@needs_mknod
def test_secure_boot_asks_for_the_key_that_signs_modules(healthy: Tree) -> None:
    state, enrolled = "SecureBoot enabled", "is not enrolled"
    script = 'case $1 in --sb-state) echo "{}" ;; *) echo "$2 {}" ;; esac'
    healthy.program("mokutil", script.format("SecureBoot disabled", enrolled))
    assert healthy.seen("secure-boot") == "not asked for by the firmware"
    healthy.program("mokutil", script.format(state, enrolled))
    assert healthy.seen("secure-boot") == "DKMS has no key"
    healthy.write("/var/lib/dkms/mok.pub", "")
    assert healthy.failed() == ["secure-boot"]
    assert healthy.seen("secure-boot") == "/var/lib/dkms/mok.pub is not enrolled"
    healthy.write("/etc/dkms/framework.conf.d/site.conf", "mok_certificate=/etc/dkms/site.der\n")
    healthy.write("/etc/dkms/site.der", "")
    healthy.program("mokutil", script.format(state, "is already enrolled"))
    assert healthy.seen("secure-boot") == "/etc/dkms/site.der is enrolled"


@needs_mknod
def test_a_container_does_not_pretend_to_run_the_locked_kernel(healthy: Tree) -> None:
    healthy.write("/run/systemd/container", "systemd-nspawn\n")
    healthy.write("/proc/sys/kernel/osrelease", "5.4.0\n")
    assert healthy.failed() == []
    assert healthy.seen("kernel").startswith("not to be seen: a container runs its machine's kernel 5.4.0")


@needs_mknod
def test_a_kernel_whose_name_does_not_tell_its_version_is_known_by_its_package(healthy: Tree) -> None:
    healthy.expected["stack"] = {"kernel": {**gate_tree.STACK["kernel"], "version": "6.1.192"}}
    healthy.plan()
    healthy.write("/proc/sys/kernel/osrelease", "6.1.0-49-amd64\n")
    healthy.program("dpkg-query", "echo 6.1.192-2")
    assert healthy.run()[1]["kernel"] == "pass"
    healthy.program("dpkg-query", "echo 6.1.176-1")
    assert healthy.run()[1]["kernel"] == "fail"


@needs_mknod
def test_a_renamed_card_is_told_until_the_names_are_forgotten(healthy: Tree) -> None:
    renamed(healthy)
    assert healthy.seen("link-names") == "ibp1s0 at 0000:e0:01.0"
    (healthy.root / "var/lib/clusterwright/links.json").unlink()
    assert healthy.failed() == []


@needs_mknod
@pytest.mark.parametrize(
    ("machine", "cards"),
    [
        ("p5.48xlarge", "32 efa cards active"),
        ("a4-highgpu-8g", "8 mrdma cards active"),
        ("gb200-nvl72-tray", "4 infiniband cards active at 400 Gb/s"),
        ("hgx-b200-8gpu", "8 infiniband cards active at 400 Gb/s"),
        ("p4d.24xlarge", "4 efa cards active"),
        ("rtx4090-workstation", None),
        ("l4-server", None),
    ],
)
def test_the_fabric_is_that_of_the_machine_type(machine: str, cards: str | None, tmp_path: Path) -> None:
    tree = gate_tree.healthy(tmp_path, machine)
    code, gates, report = tree.run()
    assert code == 0, report
    assert ("fabric-cards" in gates) == (cards is not None)
    assert cards is None or tree.seen("fabric-cards") == cards


@needs_mknod
def test_200_clean_runs_have_no_false_alarm(healthy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FILES))
    monkeypatch.setenv("PATH", f"{healthy.bin}:/usr/bin:/bin")
    healthy.program("nvidia-smi", smi(8))
    gate = gate_tree.loaded()
    alarms = []
    for _ in range(200):
        report = gate.examine(gate.Node(str(healthy.root), 3.0), "quick")
        alarms += [row for row in report["gates"] if row["status"] != "pass"]
    assert alarms == []


def test_a_node_without_gpus_has_no_gpu_gates(healthy: Tree) -> None:
    healthy.expected["hardware"]["gpus"] = []
    healthy.plan()
    assert not {"gpus", "gpu-driver", "gpu-devices", "ecc", "nvlink"} & set(healthy.run()[1])


def test_a_system_that_may_not_set_the_clock_is_not_asked_to(healthy: Tree) -> None:
    healthy.write("/proc/1/status", "CapBnd:\t00000000fdecbfff\n")
    healthy.program("timedatectl", "echo no")
    assert healthy.run()[1]["clock"] == "pass"


def test_what_nvidia_smi_said_last_is_what_was_seen(healthy: Tree) -> None:
    healthy.program("nvidia-smi", "echo a note >&2; echo 'No devices were found'; exit 6")
    _, _, report = healthy.run()
    [seen] = [gate["seen"] for gate in report["gates"] if gate["name"] == "gpus"]
    assert seen == "nvidia-smi failed: No devices were found"


def test_a_hung_program_is_named(healthy: Tree) -> None:
    healthy.program("nvidia-smi", "exec sleep 30")
    _, gates, report = healthy.run("--quick")
    assert gates["user-driver"] == "fail"
    assert gates["gpus"] == gates["ecc"] == gates["nvlink"] == "skip", "it is asked once"
    assert "no answer in 8 s" in str(report["gates"])


def test_boot_waits_for_a_mount_that_comes_late(healthy: Tree) -> None:
    healthy.mounted("overlay / overlay rw 0 0")
    late = "server:/home /home nfs4 rw,hard 0 0"
    mounts = healthy.root / "proc/self/mounts"
    healthy.program("nvidia-smi", f"(sleep 1; echo '{late}' > {mounts}) >/dev/null 2>&1 & {smi(8)}")
    _, gates, report = healthy.run("--boot")
    assert gates["mounts"] == "pass"
    assert next(gate["seconds"] for gate in report["gates"] if gate["name"] == "mounts") >= 0.5


def test_a_full_disk_fails(monkeypatch: pytest.MonkeyPatch, healthy: Tree) -> None:
    monkeypatch.syspath_prepend(str(FILES))
    host, node = import_module("gates.host"), import_module("gates.node")
    machine = node.Node(str(healthy.root), 3.0)
    full = os.statvfs_result((4096, 4096, 1000, 10, 10, 1000, 500, 500, 0, 255))
    monkeypatch.setattr(host.os, "statvfs", lambda _: full)
    with pytest.raises(node.Unmet, match="256 MiB free in /"):
        host.disk(machine)
    no_inodes = os.statvfs_result((4096, 4096, 1 << 30, 1 << 30, 1 << 30, 1000, 0, 0, 0, 255))
    monkeypatch.setattr(host.os, "statvfs", lambda _: no_inodes)
    with pytest.raises(node.Unmet, match="free inodes in /"):
        host.disk(machine)


class Slurm:
    """A scontrol that shows one node and records what it was told."""

    def __init__(self, tree: Tree, state: str, reason: str = "") -> None:
        self._log = tree.root / "scontrol.log"
        self._log.touch()
        shown = f"NodeName=gpu-001 Arch=x86_64 State={state} ThreadsPerCore=2"
        shown += f" Reason={reason} [root@2026-11-21T13:51:26]" if reason else ""
        tree.program("scontrol", f'echo "$@" >> {self._log}\n[ "$1" = show ] && echo "{shown}"\nexit 0')

    @property
    def told(self) -> list[str]:
        return [line for line in self._log.read_text().splitlines() if line.startswith("update")]

    @property
    def asked(self) -> int:
        return len(self._log.read_text().splitlines())


def test_quick_drains_with_its_own_reason(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    healthy.program("nvidia-smi", smi(7))
    assert healthy.run("--quick")[0] == 1
    expected = "8 x NVIDIA H100 80GB HBM3, seen 7 GPUs by nvidia-smi"
    reason = f"reason=clusterwright: gate gpus: expected {expected}"
    assert slurm.told == [f"update nodename=gpu-001 state=drain {reason}"]


OWN = "clusterwright: gate gpus: expected 8 x NVIDIA H100, seen 7 GPUs by nvidia-smi"


@needs_mknod
@pytest.mark.parametrize("reason", [OWN, "gres/gpu count reported lower than configured (7 < 8)"])
def test_quick_undrains_what_it_drained(healthy: Tree, reason: str) -> None:
    slurm = Slurm(healthy, "IDLE+DRAIN", reason)
    assert healthy.run("--quick")[0] == 0
    assert slurm.told == ["update nodename=gpu-001 state=undrain"]


@needs_mknod
@pytest.mark.parametrize("reason", ["fan 3", "clusterwright: replaced by the operator", "Kill task failed"])
def test_quick_never_undoes_the_drain_of_another(healthy: Tree, reason: str) -> None:
    slurm = Slurm(healthy, "IDLE+DRAIN", reason)
    assert healthy.run("--quick")[0] == 0
    healthy.program("nvidia-smi", smi(7))
    assert healthy.run("--quick")[0] == 1
    assert slurm.told == []


@needs_mknod
def test_a_healthy_node_asks_slurm_once_per_boot(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    for _ in range(3):
        healthy.run("--quick")
    assert slurm.asked == 1


def test_the_same_failure_is_told_once(healthy: Tree) -> None:
    healthy.program("nvidia-smi", smi(7))
    slurm = Slurm(healthy, "IDLE+DRAIN", OWN)
    healthy.run("--quick")
    assert slurm.told == []


@needs_mknod
def test_only_quick_talks_to_slurm(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    healthy.run()
    healthy.run("--boot")
    assert slurm.asked == 0


@pytest.mark.parametrize(
    "file", [FILES / "gate", *sorted((FILES / "gates").glob("*.py"))], ids=lambda f: f.name
)
def test_the_oldest_python_of_a_node_reads_it(file: Path) -> None:
    ast.parse(file.read_text(), feature_version=(3, 9))


def test_every_module_is_placed_on_nodes() -> None:
    rows = yaml.safe_load((FILES.parent / "node.yml").read_text())["files"]
    placed = {row["path"] for row in rows if row["source"].startswith("gates/")}
    assert placed == {f"/usr/lib/clusterwright/gates/{file.name}" for file in (FILES / "gates").glob("*.py")}


@needs_mknod
def test_libfabric_finds_every_efa_card(tmp_path: Path) -> None:
    tree = gate_tree.healthy(tmp_path, "p5.48xlarge")
    efa = {"version": "1.51.0", "flavour": "", "packages": {}, "services": [], "hold": []}
    tree.expected["stack"] = {**gate_tree.STACK, "efa": efa}
    tree.plan()
    tree.write("/sys/module/efa/initstate", "live")
    tree.simulator("fi_info")
    assert tree.seen("fabric-provider") == "fi_getinfo: -61 (No data available)", "its module is not loaded"
    modules = tree.simulated / "own" / "modules"
    modules.mkdir()
    (modules / "efa").write_text("2.17.2\n")
    assert tree.failed() == []
    tree.inject("nic-missing", 3)
    assert tree.failed() == ["fabric-cards", "fabric-provider"]
    assert tree.seen("fabric-provider") == "31 domains"


def test_each_efa_card_counts_once(tmp_path: Path) -> None:
    """libfabric 2 lists it in the fabrics `efa` and `efa-direct`."""
    tree = gate_tree.healthy(tmp_path, "p4d.24xlarge")
    tree.expected["stack"] = {"efa": {"version": "1.51.0", "packages": {}, "services": [], "hold": []}}
    tree.plan()
    rows = "".join(
        f"provider: efa\\n    fabric: {fabric}\\n    domain: rdmap{16 + card}s27-rdm\\n"
        for fabric in ("efa", "efa-direct")
        for card in range(4)
    )
    tree.program("fi_info", f"printf '{rows}'")
    assert tree.seen("fabric-provider") == "4 domains"


@needs_mknod
def test_virtual_cards_are_counted_where_gpus_talk_over_them(tmp_path: Path) -> None:
    tree = gate_tree.healthy(tmp_path, "a3-megagpu-8g")
    assert tree.failed() == []
    assert tree.seen("virtual-cards") == "9 gVNIC cards up with MTU 8244"
    tree.inject("nic-missing", 3)
    assert tree.failed("--quick") == ["virtual-cards"]
    assert tree.seen("virtual-cards") == "8 of them"
    tree.inject("nic-down", 4)
    assert tree.seen("virtual-cards") == "7 of them; gvnic4 is down"
    sound = tree.hardware.without_faults()
    tree.show(replace(sound, nics=(replace(sound.nics[0], mtu=1460), *sound.nics[1:])))
    assert tree.seen("virtual-cards") == "8 of them; gvnic0 has MTU 1460"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ('[{"gpu": 0, "ecc": {"total_correctable_count": 5, "total_uncorrectable_count": 0}}]', "pass"),
        ('{"gpu_data": [{"gpu": 3, "ecc": {"total_uncorrectable_count": 1}}]}', "fail"),
        ('{"gpu_data": [{"gpu": 0, "ecc": {"total_uncorrectable_count": "N/A"}}]}', "pass"),
        ('[{"gpu": 0, "ecc": "N/A"}]', "pass"),
        ("ERROR: AMDSMI_STATUS_DRIVER_NOT_LOADED", "skip"),
    ],
)
def test_amd_smi_of_every_release_is_read(tmp_path: Path, said: str, status: str) -> None:
    """Rows in a list, or below a key: as amd-smi of ROCm 6 and of ROCm 7 print them."""
    tree = gate_tree.healthy(tmp_path, "mi300x-8gpu")
    tree.program("amd-smi", f"echo '{said}'")
    assert tree.run()[1]["ecc"] == status


def test_amd_gpus_are_counted_by_rocm_smi(tmp_path: Path) -> None:
    tree = gate_tree.healthy(tmp_path, "mi300x-8gpu")
    amdgpu = {"version": "30.30.4", "flavour": "", "packages": {}, "services": [], "hold": []}
    tree.expected["stack"] = {"amdgpu": amdgpu}
    tree.plan()
    assert tree.seen("modules") == "not loaded"
    tree.write("/sys/module/amdgpu/initstate", "live")
    tree.simulator("rocm-smi")
    modules = tree.simulated / "own" / "modules"
    modules.mkdir()
    (modules / "amdgpu").write_text("6.12.12\n")
    assert tree.failed() == []
    tree.inject("gpu-missing", 2)
    assert tree.seen("gpus") == "7 GPUs by rocm-smi"
    tree.show(tree.hardware.without_faults())
    tree.simulator("amd-smi")
    assert tree.failed() == []
    tree.inject("ecc", 5)
    assert tree.failed("--quick") == ["ecc"]
    assert tree.seen("ecc") == "GPU 5: 2 since the driver was loaded"
    small = replace(tree.hardware.gpus[0], memory_mib=65520)
    tree.show(replace(tree.hardware.without_faults(), gpus=(small, *tree.hardware.without_faults().gpus[1:])))
    assert tree.failed() == ["gpus"]
    assert tree.seen("gpus") == "card0 has 65520 MiB"
    tree.program("rocm-smi", "echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)'; exit 1")
    assert "Driver not initialized" in tree.seen("gpus")

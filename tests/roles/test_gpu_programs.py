"""The programs of the GPU roles, run as they are against what a node would show them."""

from __future__ import annotations

import os
import struct
import subprocess
import time
from pathlib import Path

import pytest

from . import solved

ROLES = Path(__file__).parents[2] / "roles"
TUNE = ROLES / "gpu_tuning/files/tune-gpu-host"
LOAD = ROLES / "nvidia_driver/files/load-nvidia"
DOMAIN = ROLES / "nvidia_imex/files/imex-domain"
EPILOG = ROLES / "slurm_gpu/files/gpu-epilog"
SECURE_BOOT = "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service"
NOT_BUILT = "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.12.0-1-amd64"
WRONG_FLAVOUR = "modprobe: ERROR: could not insert 'nvidia': No such device"


def program(folder: Path, name: str, body: str) -> dict[str, str]:
    """An environment whose PATH has this program first."""
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def run(*argv: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, env={**os.environ, **environment}, timeout=20)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SECURE_BOOT, "mokutil --import"),
        (NOT_BUILT, "dkms autoinstall"),
        (WRONG_FLAVOUR, "open or proprietary"),
        ("modprobe: ERROR: Exec format error", "does not load"),
    ],
)
def test_a_driver_that_does_not_load_says_why(tmp_path: Path, error: str, words: str) -> None:
    done = run(LOAD, **program(tmp_path, "modprobe", f'echo "{error}" >&2; exit 1'))
    assert done.returncode == 1
    assert words in done.stderr
    assert error in done.stderr


def test_a_module_signed_with_another_key_is_told_from_a_key_that_is_not_enrolled(tmp_path: Path) -> None:
    program(tmp_path, "mokutil", 'echo "$2 is already enrolled"')
    done = run(LOAD, **program(tmp_path, "modprobe", f'echo "{SECURE_BOOT}" >&2; exit 1'))
    assert done.returncode == 1
    assert "is enrolled: the module is not signed with it" in done.stderr


def test_a_driver_that_loads_says_nothing(tmp_path: Path) -> None:
    done = run(LOAD, **program(tmp_path, "modprobe", "exit 0"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def device(folder: Path, control: int, *, listed: bool = True) -> Path:
    """Configuration space with two extended capabilities, the second Access Control Services."""
    config = bytearray(4096)
    struct.pack_into("<I", config, 0x100, 0x0001 | 1 << 16 | 0x148 << 20)
    struct.pack_into("<I", config, 0x148, (0x000D if listed else 0x0002) | 1 << 16)
    struct.pack_into("<H", config, 0x148 + 6, control)
    folder.mkdir(parents=True)
    (folder / "config").write_bytes(config)
    return folder / "config"


def test_tuning_clears_access_control_and_nothing_else(tmp_path: Path) -> None:
    bridge = device(tmp_path / "bus/pci/devices/0000:00:01.0", 0x1D)
    other = device(tmp_path / "bus/pci/devices/0000:00:02.0", 0x1D, listed=False)
    plain = tmp_path / "bus/pci/devices/0000:00:03.0"
    plain.mkdir()
    (plain / "config").write_bytes(bytes(64))
    before = bridge.read_bytes()
    governor = tmp_path / "devices/system/cpu/cpu0/cpufreq/scaling_governor"
    governor.parent.mkdir(parents=True)
    governor.write_text("powersave\n")
    (governor.parent / "scaling_available_governors").write_text("performance powersave\n")
    first, second = (run(TUNE, "--sys", tmp_path) for _ in range(2))
    assert first.stdout == "2 of 4 changed, 0 failed\n", first.stderr
    assert second.stdout == "0 of 4 changed, 0 failed\n"
    assert bridge.read_bytes() == before[: 0x148 + 6] + b"\0\0" + before[0x148 + 8 :]
    assert other.read_bytes()[0x148 + 6] == 0x1D
    assert governor.read_text() == "performance\n"


def test_tuning_ends_on_a_list_that_turns_back(tmp_path: Path) -> None:
    config = bytearray(4096)
    struct.pack_into("<I", config, 0x100, 0x0001 | 1 << 16 | 0x100 << 20)
    folder = tmp_path / "bus/pci/devices/0000:00:01.0"
    folder.mkdir(parents=True)
    (folder / "config").write_bytes(config)
    assert run(TUNE, "--sys", tmp_path).returncode == 0


def test_each_tray_writes_the_same_list_of_its_domain(tmp_path: Path) -> None:
    domains = tmp_path / "imex-domains"
    domains.write_text("# domain, node, address\nb1 t1 10.0.0.1\nb1 t2 10.0.0.2\nb2 t3 10.0.0.3\n")
    lists = {}
    for node in ("t1", "t2.probe.internal", "t3"):
        assert run(DOMAIN, domains, tmp_path / node, node).returncode == 0
        lists[node] = (tmp_path / node).read_text()
    assert lists["t1"] == lists["t2.probe.internal"] == "10.0.0.1\n10.0.0.2\n"
    assert lists["t3"] == "10.0.0.3\n"
    stranger = run(DOMAIN, domains, tmp_path / "t9", "t9")
    assert stranger.returncode == 1
    assert "t9 is in no NVLink domain" in stranger.stderr
    assert not (tmp_path / "t9").exists()


@pytest.mark.parametrize(("smi", "status"), [("true", 0), ("echo 4711", 1), ("exit 9", 0), ("sleep 30", 0)])
def test_the_epilog_drains_only_for_what_is_left_on_the_jobs_gpus(
    tmp_path: Path, smi: str, status: int
) -> None:
    environment = program(tmp_path, "nvidia-smi", smi)
    started = time.monotonic()
    done = run(EPILOG, **environment, SLURM_JOB_GPUS="0,1", SLURM_JOB_ID="7")
    assert time.monotonic() - started < 3
    assert done.returncode == status
    assert ("4711" in done.stderr) == bool(status)


def test_the_epilog_of_a_job_without_gpus_asks_nothing(tmp_path: Path) -> None:
    environment = program(tmp_path, "nvidia-smi", f"touch {tmp_path}/asked")
    assert run(EPILOG, **environment, SLURM_JOB_GPUS="").returncode == 0
    assert not (tmp_path / "asked").exists()


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """The script of a machine whose vendor ships settings too, with its folder moved."""
    handoff = solved.handoff("a3-megagpu-8g", "ubuntu-24.04", provider="gcp")
    text = solved.files(handoff)["/etc/profile.d/clusterwright-fabric.sh"]
    vendor = tmp_path / "tcpxo"
    vendor.mkdir()
    (vendor / "nccl-env-profile.sh").write_text(
        'export NCCL_FASTRAK_USE_SNAP=1 NCCL_NET=other SEEN="$NCCL_LIB_DIR"\n'
    )
    file = tmp_path / "fabric.sh"
    file.write_text(text.replace("/var/lib/tcpxo/lib64", str(vendor)))
    return file


def tasks_environment(fabric: Path, **own: str) -> dict[str, str]:
    """What Slurm would take from the task prolog."""
    template = (ROLES.parent / "templates/node/task-prolog.j2").read_text()
    prolog = fabric.parent / "task-prolog"
    prolog.write_text(template.replace("/etc/profile.d/clusterwright-fabric.sh", str(fabric)))
    prolog.chmod(0o755)
    done = run(prolog, **own)
    assert done.returncode == 0, done.stderr
    lines = [line.removeprefix("export ").partition("=") for line in done.stdout.splitlines()]
    assert all(line.startswith("export ") for line in done.stdout.splitlines())
    return {name: value for name, _, value in lines}


def test_a_task_gets_the_fabric_and_its_vendors_settings(fabric: Path) -> None:
    told = tasks_environment(fabric)
    assert told["NCCL_NET"] == "FasTrak"  # the table comes after the vendor
    assert told["NCCL_FASTRAK_USE_SNAP"] == "1"
    assert told["NCCL_SOCKET_IFNAME"] == "enp0s12"
    assert told["LD_LIBRARY_PATH"].startswith(str(fabric.parent / "tcpxo"))
    assert "NCCL_LIB_DIR" not in told
    assert not [name for name in told if name.startswith("cw_")]


def test_what_a_user_has_set_stays(fabric: Path) -> None:
    told = tasks_environment(fabric, NCCL_NET="Socket", LD_LIBRARY_PATH="/home/ada/lib")
    assert told["NCCL_NET"] == "Socket"
    assert told["LD_LIBRARY_PATH"].endswith(":/home/ada/lib")


def test_a_node_without_a_fabric_tells_a_task_nothing(tmp_path: Path) -> None:
    assert tasks_environment(tmp_path / "none") == {}


def test_every_shell_program_is_posix_where_it_says_so() -> None:
    scripts = [file for file in ROLES.rglob("files/*") if file.is_file()]
    shells = [file for file in scripts if file.read_text(errors="replace").startswith("#!/bin/sh")]
    assert len(shells) > 3
    for file in shells:
        assert run("dash", "-n", file).returncode == 0, file

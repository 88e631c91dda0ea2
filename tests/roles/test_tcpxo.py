"""The program that places GPUDirect-TCPXO's plug-in and runs its daemon, over the lab's podman."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from clusterwright.providers.lab.simulate import write_words
from clusterwright.providers.lab.simulators import faults
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedGpu

from . import solved

REPOSITORY = Path(__file__).parents[2]
H100 = "NVIDIA H100 80GB HBM3"
SOUND = Hardware((SimulatedGpu(0, H100, "0000:04:00.0", "GPU-0", 81559),), driver_version="580.95.05")
EPILOG = REPOSITORY / "roles/slurm_gpu/files/gpu-epilog"


@dataclass
class Mega:
    """An A3 Mega as far as this program sees it, below `folder`."""

    folder: Path

    @property
    def libraries(self) -> Path:
        return self.folder / "tcpxo/lib64"

    @property
    def record(self) -> list[str]:
        return (self.folder / "tcpxo/clusterwright").read_text().splitlines()

    def show(self, hardware: Hardware) -> None:
        (self.folder / "hardware.json").write_text(json.dumps(hardware.as_json()))
        write_words(self.folder, hardware)

    def start(self, word: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PATH": f"{self.folder}/bin:/usr/bin:/bin"}
        command = ["sh", str(self.folder / "program"), word]
        return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)

    def run(self, word: str) -> tuple[int, str]:
        process = self.start(word)
        _, said = process.communicate(timeout=30)
        return process.returncode, said


@pytest.fixture
def mega(tmp_path: Path) -> Iterator[Mega]:
    text = solved.files(solved.handoff("a3-megagpu-8g", "ubuntu-24.04", provider="gcp"))[
        "/usr/lib/clusterwright/tcpxo"
    ]
    made = Mega(tmp_path)
    (tmp_path / "program").write_text(text.replace("/var/lib/tcpxo", str(tmp_path / "tcpxo")))
    (tmp_path / "tcpxo").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "own/modules").mkdir(parents=True)
    (tmp_path / "own/modules/import_helper").write_text("1.1\n")
    package = REPOSITORY / "src/clusterwright/providers/lab"
    (tmp_path / "bin/podman").write_text(
        f"#!{sys.executable} -S\nimport sys\nfrom pathlib import Path\nsys.path.insert(0, {str(package)!r})\n"
        "from simulators import podman\nfrom simulators.launch import main\n"
        f"here = Path({str(tmp_path)!r})\npodman.LIBRARIES = here / 'tcpxo/lib64'\n"
        "sys.exit(main('podman', state=here, own=here / 'own'))\n"
    )
    (tmp_path / "bin/curl").write_text("#!/bin/sh\nexit 6\n")
    for name in ("podman", "curl"):
        (tmp_path / "bin" / name).chmod(0o755)
    made.show(SOUND)
    yield made
    service = tmp_path / "own/services/tcpgpudmarxd"
    if service.exists():
        with suppress(ProcessLookupError):
            os.kill(int(service.read_text()), signal.SIGKILL)


def test_the_plug_in_is_placed_once_and_again_when_it_is_another(mega: Mega) -> None:
    assert mega.run("install") == (0, "")
    assert mega.record[0].endswith("/nccl-plugin-gpudirecttcpx-dev:v1.0.16")
    assert mega.record[1].endswith("  libnccl-net.so")
    placed = (mega.libraries / "libnccl.so.2").stat().st_mtime_ns
    assert mega.run("install") == (0, "")
    assert (mega.libraries / "libnccl.so.2").stat().st_mtime_ns == placed
    (mega.libraries / "libnccl-net.so").unlink()
    assert mega.run("install") == (0, "")
    assert (mega.libraries / "libnccl-net.so").exists()
    (mega.folder / "tcpxo/clusterwright").write_text("registry/plugin:v1.0.15\n")
    assert mega.run("install") == (0, "")
    assert mega.record[0].endswith(":v1.0.16")


def test_the_daemon_is_ready_when_it_has_its_buffers_and_ends_with_its_fault(mega: Mega) -> None:
    daemon = mega.start("serve")
    assert mega.run("ready") == (0, "")
    mega.show(faults.inject(SOUND, "rxdm"))
    assert "RxDM ended" in daemon.communicate(timeout=10)[1] and daemon.returncode == 1
    assert mega.run("serve")[0] == 1


def test_a_daemon_without_its_kernel_module_says_so(mega: Mega) -> None:
    (mega.folder / "own/modules/import_helper").unlink()
    code, said = mega.run("serve")
    assert code == 1
    assert "/dev/dmabuf_import_helper" in said


def test_an_image_that_cannot_be_pulled_is_named(mega: Mega) -> None:
    (mega.folder / "bin/podman").write_text("#!/bin/sh\nexit 125\n")
    code, said = mega.run("install")
    assert code == 1
    assert "cannot pull us-docker.pkg.dev/" in said and "the machine's right to read it" in said
    assert not (mega.folder / "tcpxo/clusterwright").exists()


def test_images_that_an_offline_bundle_brought_are_taken_from_there_by_their_tags(tmp_path: Path) -> None:
    rxdm, digest = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.22", "1" * 64
    made = solved.handoff("a3-megagpu-8g", "ubuntu-24.04", provider="gcp")
    source = {"source": "http://10.0.0.5/images", "digest": f"sha256:{digest}", "names": [rxdm]}
    offline = replace(made, software={**made.software, "images": source})
    files = solved.files(offline)
    assert json.loads(files["/etc/clusterwright/node.json"])["images"]["tcpxo"]["rxdm"] == rxdm
    program = files["/usr/lib/clusterwright/tcpxo"].replace("/var/lib/clusterwright/images", str(tmp_path))
    (tmp_path / "program").write_text(program)
    (tmp_path / "index.json").write_text(json.dumps({"manifests": [{"name": rxdm}]}, indent=1))
    podman = tmp_path / "podman"
    podman.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\n[ "$1" != image ]\n')
    podman.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", str(tmp_path / "program"), "serve"], env=environment, check=True)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[:2] == [f"image exists {rxdm}", f"pull --quiet oci:{tmp_path}:{rxdm}"]
    assert asked[2].startswith("run ") and rxdm in asked[2]


def test_the_epilog_knows_the_daemon_from_what_a_job_left(tmp_path: Path) -> None:
    for pid, group in (("41", "/system.slice/clusterwright-rxdm.service"), ("42", "/slurm/job_7")):
        (tmp_path / "proc" / pid).mkdir(parents=True)
        (tmp_path / "proc" / pid / "cgroup").write_text(f"0::{group}\n")
    epilog = tmp_path / "epilog"
    epilog.write_text(EPILOG.read_text().replace("/proc/", f"{tmp_path}/proc/"))
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_GPUS": "0", "SLURM_JOB_ID": "7"}
    for pids, status in ((["41"], 0), (["41", "42"], 1)):
        smi = tmp_path / "nvidia-smi"
        smi.write_text("#!/bin/sh\n" + "".join(f"echo {pid}\n" for pid in pids))
        smi.chmod(0o755)
        started = time.monotonic()
        done = subprocess.run(
            ["sh", str(epilog)], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "41" in done.stderr) == (status, False)
        assert time.monotonic() - started < 5

"""The examples have the form that they should: what needs no cluster is tried here, tests/story runs some."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
JOBS = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())
FLAGS = {"pyxis": "--container-image", "apptainer": "--help", "podman": "--help"}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_a_page_and_a_program_and_names_no_fabric(name: str) -> None:
    folder = EXAMPLES / name
    assert f"[{name}]({name}/README.md)" in (EXAMPLES / "README.md").read_text()
    assert (folder / "README.md").exists()
    for program in folder.glob("*.py"):
        compile(program.read_text(), str(program), "exec")
    text = "".join(file.read_text() for file in folder.iterdir())
    assert not [word for word in ("NCCL_", "FI_", "UCX_") if word in text]


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="needs shellcheck")
@pytest.mark.parametrize("name", JOBS)
def test_shellcheck_has_nothing_to_say(name: str) -> None:
    command = ["shellcheck", "--external-sources", "job.sh"]
    subprocess.run(command, cwd=EXAMPLES / name, check=True)


@pytest.mark.parametrize(
    ("runtime", "image", "expected"),
    [
        ("pyxis", "nvcr.io/nvidia/pytorch:1", "--container-image=nvcr.io#nvidia/pytorch:1"),
        ("pyxis", "horovod/horovod:1", "--container-image=horovod/horovod:1"),
        ("pyxis", "/home/ada/own.sqsh", "--container-image=/home/ada/own.sqsh"),
        ("apptainer", "nvcr.io/nvidia/pytorch:1", "docker://nvcr.io/nvidia/pytorch:1"),
        ("podman", "nvcr.io/nvidia/pytorch:1", "nvcr.io/nvidia/pytorch:1"),
        ("podman", "FOLDER", "--rootfs FOLDER"),
    ],
)
def test_a_container_is_started_by_what_the_cluster_has(
    tmp_path: Path, runtime: str, image: str, expected: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("srun", *(["apptainer"] if runtime == "apptainer" else [])):
        (programs / name).write_text(f"#!/bin/sh\necho '{FLAGS[runtime]}'\n")
        (programs / name).chmod(0o755)
    image, expected = (text.replace("FOLDER", str(tmp_path)) for text in (image, expected))
    script = '. "$0" "$1"; echo " ${container[*]} "'
    environment = {**os.environ, "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)}
    command = ["bash", "-euc", script, str(EXAMPLES / "container.sh"), image]
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    assert f" {expected} " in said
    assert (f" {runtime} " in said) == (runtime != "pyxis")

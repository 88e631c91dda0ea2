"""Every file of cases/: what is typed on one node, after what real output it answers, and what it prints."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
from simulated_machines import MACHINES, World

from clusterwright.providers.lab.simulators.launch import simulator_of

CASES = sorted(Path(__file__).with_name("cases").glob("*.txt"))
VERSIONS = {
    "amd-smi": "7.2.4",
    "dcgmi": "4.4.2",
    "nvcc": "13.0.2",
    "enroot": "4.0.1",
    "fi_info": "2.1.0",
    "lctl": "2.15.8",
    "lfs": "2.15.8",
    "lnetctl": "2.15.8",
    "ofed_info": "25.10-1.2.8",
    "nvidia-ctk": "1.18.0",
}


def head(text: str, name: str) -> str:
    found = re.search(rf"^# {name}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_program_answers_as_the_real_one(
    case: Path, world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    text = case.read_text()
    faults = [fault.split() for fault in head(text, "faults").split(",") if fault]
    world.machine(head(text, "machine"), *((name, int(index)) for name, index in faults))
    for module, _, version in (word.partition("=") for word in head(text, "modules").split()):
        world.load(module, version)
    world.mount(*head(text, "mounted").split())
    for daemon in head(text, "running").split():
        world.run(daemon)
    monkeypatch.setattr(os, "getpid", lambda: 4242)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in ("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "CUDA_VISIBLE_DEVICES", "NCCL_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    lines = text.partition("$ ")[0].splitlines()
    for command in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
        program, *arguments = shlex.split(command)
        given = simulator_of(program)(world.node(VERSIONS.get(program, "")), arguments)
        lines += [f"$ {command}", *f"{given.text}{given.error}".split("\n")]
        if lines[-1] == "":
            lines.pop()
        lines.append(f"[exit {given.status}]")
    answered = "".join(f"{line}\n" for line in lines)
    if request.config.getoption("--update-goldens"):
        case.write_text(answered)
        return
    assert answered == text


def test_every_case_says_what_real_output_it_is_made_after() -> None:
    for case in CASES:
        text = case.read_text()
        assert head(text, "after"), case.name
        assert head(text, "machine") in MACHINES, case.name


def test_the_cases_stand_on_many_public_captures() -> None:
    sources = {line for case in CASES for line in head(case.read_text(), "after").split("; ")}
    assert len(sources) >= 50, sorted(sources)
    address = r"([a-z0-9-]+\.)+[a-z]+(/| )\S+|tests/\S+"
    assert [source for source in sorted(sources) if not re.match(address, source)] == []

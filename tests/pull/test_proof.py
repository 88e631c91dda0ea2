"""The program that proves a whole cluster from one of its nodes: whom it waits for, and what it leaves."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusterwright.bundle import proof
from clusterwright.bundle.collection import root
from clusterwright.operate.pull import publish
from clusterwright.operate.pull.proof import Proof, proof_in

from .world import World

NODES = ("controller", "gpu-001", "gpu-002")
PROGRAM = root() / "roles" / "pull" / "files" / "prove"


@pytest.fixture(scope="module")
def prove() -> ModuleType:
    loader = SourceFileLoader("prove", str(PROGRAM))
    spec = importlib.util.spec_from_loader("prove", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


@pytest.fixture
def proven(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """A published cluster whose controller has seen the pointer."""
    wheel = tmp_path / "empty-1-py3-none-any.whl"
    zipfile.ZipFile(wheel, "w").close()
    monkeypatch.setattr(publish, "wheels_of", lambda *_: {"x86_64": {wheel.name: wheel}})
    world.publish()
    assert world.verify("controller").startswith("serial")
    return world


def prover(prove: ModuleType, world: World, node: str = "controller") -> Any:
    one = prove.Prover(str(world.node(node)))
    one.python = lambda *_: sys.executable
    world.agents.append(one)
    return one


def test_a_newer_python_that_the_agent_has_not_installed_is_waited_for(
    world: World, prove: ModuleType
) -> None:
    with pytest.raises(prove.pull.Later, match=r"/usr/bin/python3\.99 is not there yet"):
        prove.Prover(str(world.node("controller"))).base("python3.99", {})


def say(world: World, prove: ModuleType, node: str, state: str = "accepted", cause: str = "") -> None:
    digest = world.desired().wanted[node].digest
    text = json.dumps({"node": node, "state": state, "digest": digest, "cause": cause, "serial": 1})
    key = str(world.node(node) / "etc/ssh/ssh_host_ed25519_key")
    body = {"signed": text, "signature": prove.pull.sign(text, key, prove.pull.REPORT)}
    (world.stored / "reports" / node).write_text(json.dumps(body))


def said(world: World) -> Proof | None:
    handoff = world.desired().handoff
    return proof_in(world.store, handoff, {name: world.host_key(name) for name in handoff.by_name})


def attempt(prove: ModuleType, one: Any) -> str:
    try:
        return "done" if one.attempt() else "proven"
    except prove.pull.Later as later:
        return str(later)


def test_it_waits_for_every_node_and_tells_their_last_words(prove: ModuleType, proven: World) -> None:
    one = prover(prove, proven)
    say(proven, prove, "controller")
    say(proven, prove, "gpu-001", "failed", "FAIL ecc")
    assert attempt(prove, one) == "waits for gpu-001: failed FAIL ecc; gpu-002: said nothing yet"
    one.try_to_tell("waiting", "for gpu-001")
    found = said(proven)
    assert found and (found.words, found.acceptance) == ("waiting for gpu-001", None)


def test_the_gates_run_from_what_was_published_and_their_result_is_signed(
    prove: ModuleType, proven: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm is played by a program that knows of two nodes, which somebody drained."""
    scontrol = proven.folder / "bin" / "scontrol"
    scontrol.parent.mkdir()
    drained = "State=IDLE+DRAIN Partitions=gpu Reason=its fan [root@2026-11-22T03:00:00]"
    lines = [f"echo 'NodeName={node} {drained}'" for node in ("gpu-001", "gpu-002")]
    scontrol.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    scontrol.chmod(0o755)
    queue = scontrol.with_name("queue")
    queue.write_text("7 clusterwright-accept-0a1b\n8 train\n")
    scontrol.with_name("squeue").write_text(f"#!/bin/sh\ncat {queue}\n")
    scontrol.with_name("scancel").write_text(f"#!/bin/sh\nfor job; do sed -i /^$job\\ /d {queue}; done\n")
    for program in ("squeue", "scancel"):
        scontrol.with_name(program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{scontrol.parent}:/usr/bin:/bin")
    for node in NODES:
        say(proven, prove, node)
    one = prover(prove, proven)
    assert attempt(prove, one) == "proven"
    found, pointer = said(proven), proven.store.pointer(proven.signing.public)
    assert found and found.acceptance and pointer
    assert found.is_of(pointer) and found.state == "failed"
    assert queue.read_text() == "8 train\n", "what a killed run left is ended, and nothing of anybody else's"
    gates = {(gate.name, gate.node): gate for gate in found.acceptance.gates}
    assert gates["node-report", "controller,gpu-[001-002]"].status == "pass"
    assert gates["slurm-state", "gpu-002"].seen == "idle+drain, Reason: its fan"
    assert "slurm-state gpu-002: idle+drain, Reason: its fan" in found.cause
    assert attempt(prove, one) == "done", "the same is proven once"
    assert publish.ask_again(proven.store, proven.home)
    assert attempt(prove, one) == "this node has not verified the present pointer yet"
    proven.verify("controller")
    assert attempt(prove, one) == "proven", "somebody asked"


def test_only_the_node_that_the_bundle_names_proves(prove: ModuleType, proven: World) -> None:
    proven.verify("gpu-001")
    for node in NODES:
        say(proven, prove, node)
    assert attempt(prove, prover(prove, proven, "gpu-001")) == "done"
    assert said(proven) is None


def test_a_pointer_that_the_agent_did_not_verify_is_not_followed(prove: ModuleType, proven: World) -> None:
    proven.sign({"serial": 9})
    assert attempt(prove, prover(prove, proven)) == "this node has not verified the present pointer yet"


def test_publishing_goes_on_where_it_was_asked_before(proven: World) -> None:
    publish.ask_again(proven.store, proven.home)
    assert proven.publish() == [], "nothing else changed"
    pointer = proven.store.pointer(proven.signing.public)
    assert pointer and (pointer.asked, pointer.serial) == (1, 2)


def test_the_program_is_the_same_bytes_and_stands_without_what_is_not_in_it(tmp_path: Path) -> None:
    text = proof.program()
    assert text == proof.program()
    (tmp_path / "program.tar.gz").write_bytes(text)
    subprocess.run(["tar", "-xzf", "program.tar.gz"], cwd=tmp_path, check=True)
    code = "import sys, clusterwright.accept.here as h; assert h.__file__.startswith(sys.argv[1]), h.__file__"
    argv = [sys.executable, "-P", "-c", code, str(tmp_path)]
    subprocess.run(argv, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, check=True)


def test_what_the_gates_need_is_locked() -> None:
    """Everything that pydantic requires, and no more."""
    from importlib.metadata import requires

    from packaging.requirements import Requirement

    from clusterwright.operate.pull.wheels import NEEDED_TO_PROVE, lock

    found, left = set(), ["pydantic"]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            rows = map(Requirement, requires(name) or [])
            left += [row.name for row in rows if not row.marker or row.marker.evaluate({"extra": ""})]
    assert found == set(NEEDED_TO_PROVE)
    rows = [row.partition("=")[0] for row in lock(NEEDED_TO_PROVE).splitlines() if "==" in row]
    assert rows == list(NEEDED_TO_PROVE)

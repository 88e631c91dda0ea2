"""The machine's own side of a group: the program that asks what it is called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clusterwright.operate.pull.signing import Signing

from .crowd import grown, named
from .world import AGENT, World, key_pair

PROGRAM = AGENT.with_name("name")


def machine(world: World, identity: str) -> Path:
    """The root of a machine of a group, as user data leaves it."""
    root = world.node(identity)
    config = root / "etc/clusterwright/pull.json"
    body = {**json.loads(config.read_text()), "machine": "/instance-id", "signer": world.signing.public}
    body.pop("node", None)
    config.write_text(json.dumps(body))
    (root / "instance-id").write_text(f"{identity}\n")
    return root


def start(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def asked(world: World, identity: str) -> tuple[str, str]:
    """Who the machine is, once it knows, and what the program said until then."""
    root = machine(world, identity)
    with waiting(root) as done:
        said = done.communicate(timeout=60)[0]
    assert done.returncode == 0
    return (root / "etc/hostname").read_text().strip(), said


@contextmanager
def waiting(root: Path) -> Iterator[subprocess.Popen[str]]:
    running = start(root)
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def said_by(running: subprocess.Popen[str]) -> str:
    assert running.stdout
    return running.stdout.readline().strip()


def test_two_machines_that_wait_get_a_name_each(world: World) -> None:
    crowd = grown(2)
    with waiting(machine(world, "i-0001")) as one, waiting(machine(world, "i-0002")) as other:
        assert said_by(one) == "i-0001 has no name yet (status 404)"
        assert said_by(other) == "i-0002 has no name yet (status 404)"
        named(world, crowd, 2)
        assert (one.wait(60), other.wait(60)) == (0, 0)
    names = [(world.node(it) / "etc/hostname").read_text() for it in ("i-0001", "i-0002")]
    assert names == ["gpu-001\n", "gpu-002\n"]


def test_a_name_is_kept_without_the_store_and_not_by_another_machine(world: World) -> None:
    named(world, grown(2), 2)
    assert asked(world, "i-0001")[0] == "gpu-001"
    world.store.forget_names_but(["i-0002"])
    assert asked(world, "i-0001") == ("gpu-001", ""), "after a boot nobody is asked"
    root = machine(world, "i-0001")
    (root / "instance-id").write_text("i-0002\n")
    with waiting(root) as running:
        assert running.wait(60) == 0
    assert (root / "etc/hostname").read_text() == "gpu-002\n", "a copy of its disk is another machine"


def test_killed_at_any_moment_it_is_called_so_in_the_end(world: World) -> None:
    named(world, grown(1), 1)
    root = machine(world, "i-0001")
    for pause in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3):
        with waiting(root):
            time.sleep(pause)
        hostname = root / "etc/hostname"
        assert not hostname.exists() or hostname.read_text() == "gpu-001\n"
    assert asked(world, "i-0001")[0] == "gpu-001"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("cut", "the name is truncated"),
        ("text", "the name was not signed by this cluster's operator"),
        ("stranger", "the name was not signed by this cluster's operator"),
        ("pointer", "the name was not signed by this cluster's operator"),
        ("other machine's", "the name is of i-0002 of far"),
    ],
)
def test_what_the_operator_did_not_say_is_no_name(world: World, what: str, words: str) -> None:
    named(world, grown(2), 2)
    file = world.stored / "names/i-0001"
    envelope = json.loads(file.read_text())
    match what:
        case "cut":
            file.write_text(file.read_text()[:-20])
        case "text":
            file.write_text(json.dumps({**envelope, "signed": envelope["signed"].replace("001", "002")}))
        case "stranger":
            key_pair(world.folder / "stranger")
            file.write_text(signed(world.folder / "stranger", envelope["signed"], "clusterwright-name"))
        case "pointer":
            file.write_text(signed(world.signing.key, envelope["signed"], "clusterwright-pointer"))
        case _:
            file.write_text((world.stored / "names/i-0002").read_text())
    with waiting(machine(world, "i-0001")) as running:
        assert said_by(running) == words
        assert not (world.node("i-0001") / "etc/hostname").exists()


def signed(key: Path, text: str, namespace: str) -> str:
    argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", namespace]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    return json.dumps({"signed": text, "signature": done.stdout})


def test_names_outlive_a_change_of_the_signing_key(world: World) -> None:
    crowd, keys = grown(2), world.home.keys
    crowd.there = dict(reversed(crowd.there.items()))
    before = named(world, crowd, 2).machines
    old = Signing.of(world.home).public
    for suffix in ("", ".pub"):
        (keys / f"signing_ed25519{suffix}").unlink()
    key_pair(keys / "signing_ed25519")
    (keys / "revoked.pub").write_text(f"{old}\n")
    assert named(world, crowd, 2).machines == before
    assert asked(world, "i-0001")[0] == "gpu-001", "and machines that come to read theirs trust the new one"

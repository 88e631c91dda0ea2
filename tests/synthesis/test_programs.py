"""Every example on a cloud: what its program declares, golden; and what comes out when its cloud answers."""

from __future__ import annotations

import fcntl
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml

from clusterwright.bundle.userdata import LIMIT
from clusterwright.catalog.replacements import replacements
from clusterwright.handoff import Handoff, loads
from clusterwright.handoff.document import Node
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.pull.crowds import nodes_of
from clusterwright.operate.source import Source
from clusterwright.providers.stack import build

from . import golden
from .harness import Synthesis, arguments, synthesise

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BUILT = {"aws", "gcp"}
SIGNER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFJlYWRPbmx5QnlUZXN0c09mUHJvZ3JhbXNPblRoZUNsb3Vk"
TOLD = {"clusterwright:signer": SIGNER, "clusterwright:operator": SIGNER}


def _providers(file: Path) -> set[str]:
    body = yaml.safe_load(file.read_text())
    sites = (body.get("site") or {}, *(body.get("sites") or {}).values())
    return {str(site.get("provider")) for site in sites}


EXAMPLES = [
    file
    for folder in (ROOT / "clusters", HERE / "cases")
    for file in sorted(folder.glob("*.yaml"))
    if not file.stem.endswith(".lock") and _providers(file) & BUILT
]


def declared(file: Path, *, preview: bool) -> Synthesis:
    description = described(Source(file))
    prepared = prepare(description)

    def program() -> None:
        import pulumi

        for name, value in build(file, prepared.plan, description.loaded.where).items():
            pulumi.export(name, value)

    return synthesise(program, preview=preview, config=TOLD)


@cache
def made(shared: Path, file: Path, *, preview: bool = False) -> Synthesis:
    """With what its cloud answers, or as a preview; declared once for all workers that look at it."""
    kept = shared / f"{file.stem}-{'preview' if preview else 'update'}.pickle"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(declared(file, preview=preview)))
    found: Synthesis = pickle.loads(kept.read_bytes())
    return found


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_program(file: Path, shared: Path, request: pytest.FixtureRequest) -> None:
    previewed = made(shared, file, preview=True)
    told = golden.text(previewed.resources)
    kept = HERE / "golden" / f"{file.stem}.txt"
    if request.config.getoption("--update-goldens"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(told)
    assert kept.read_text() == told

    came = made(shared, file)
    found = {one.urn: one.links for one in came.resources}
    assert {one.urn: one.links for one in previewed.resources} == found
    for one in came.of("aws:ec2/instance:Instance").values():
        assert len(one.inputs["userData"]) <= LIMIT
    for one in came.resources:
        assert not one.custom or set(one.inputs) <= arguments(one.type), one.urn
        for key in one.inputs if not one.type.startswith(("pulumi:", "clusterwright:")) else ():
            told = replacements()[one.type]
            assert any(name.partition(".")[0] == key for name in told.replace | told.update), (one.type, key)
    assert sorted(came.outputs) == ["cluster", "login_address", "ssh_command"]
    handoff = loads(came.outputs["cluster"])
    assert all(node.address for node in handoff.nodes)
    groups = {pool: one.inputs["maxSize"] for pool, one in came.of("aws:autoscaling/group:Group").items()}
    assert Counter(node.pool for node in handoff.nodes if node.pool in groups) == groups
    acceptances = came.of("clusterwright:pull:Acceptance").values()
    kept = {node.name for one in acceptances for node in _members(one.inputs.get("groups") or {}, handoff)}
    made_here = {node.name for node in handoff.nodes if handoff.site[node.site]["provider"] in BUILT}
    assert made_here - kept == _machines(came)


def _members(groups: Mapping[str, str], handoff: Handoff) -> Iterator[Node]:
    for key in groups:
        yield from nodes_of(key, handoff)


def _machines(made: Synthesis) -> set[str]:
    google = made.of("gcp:compute/instance:Instance").values()
    return {
        *made.of("aws:ec2/instance:Instance"),
        *(one.inputs["labels"]["clusterwright-node"] for one in google),
    }


def test_same_description_same_program() -> None:
    file = EXAMPLES[0]
    assert golden.text(declared(file, preview=True).resources) == golden.text(
        declared(file, preview=True).resources
    )

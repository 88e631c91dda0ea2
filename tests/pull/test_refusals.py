"""What a node refuses, each with its own words, and that it changes nothing then."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .world import World, key_pair


def published(world: World) -> None:
    assert world.publish() == [f"serial 1, {len(list((world.stored / 'objects').iterdir()))} objects"]
    assert world.verify("gpu-001").startswith("serial 1, digest ")


def test_what_was_published_is_verified(world: World) -> None:
    published(world)
    wanted = world.desired().wanted["gpu-001"].digest
    assert world.verify("gpu-001") == f"serial 1, digest {wanted}"


def text_changed(world: World) -> None:
    envelope = json.loads(world.current.read_text())
    envelope["signed"] = envelope["signed"].replace('"serial": 1', '"serial": 9')
    world.current.write_text(json.dumps(envelope))


def object_changed(world: World) -> None:
    for file in (world.stored / "objects").iterdir():
        file.write_bytes(b"X" + file.read_bytes()[1:])
    world.sign({"serial": 2, "tree": _tree(world)})


def object_cut(world: World) -> None:
    for file in (world.stored / "objects").iterdir():
        file.write_bytes(file.read_bytes()[:-1])


def pointer_cut(world: World) -> None:
    text = world.current.read_text()
    world.current.write_text(text[: len(text) // 2])


def _tree(world: World) -> object:
    return json.loads(json.loads(world.current.read_text())["signed"])["tree"]


def signed_by_stranger(world: World) -> None:
    text = json.loads(world.current.read_text())["signed"]
    for file in world.home.keys.glob("signing_ed25519*"):
        file.unlink()
    world.current.write_text(world.signing.envelope(text, "clusterwright-pointer"))


def signed_as_a_report(world: World) -> None:
    text = json.loads(world.current.read_text())["signed"]
    world.current.write_text(world.signing.envelope(text, "clusterwright-report"))


REFUSALS: dict[str, tuple[Callable[[World], None], str]] = {
    "tampered pointer": (text_changed, "refused: the pointer was tampered with: its signature"),
    "truncated pointer": (pointer_cut, "refused: the pointer is truncated"),
    "of another cluster": (lambda w: w.sign({"cluster": "near"}), "of another cluster, near"),
    "older": (lambda w: w.sign({"serial": 0}), "the pointer is older: serial 0, and 1 was seen"),
    "same serial, other content": (
        lambda w: w.sign({"revoked": ["ssh-x AAAA"]}),
        "is another one than the one",
    ),
    "unknown key": (signed_by_stranger, "signed by an unknown key, SHA256:"),
    "signed for another purpose": (signed_as_a_report, "refused: the pointer was tampered with"),
    "of a later format": (lambda w: w.sign({"schema": 2}), "has schema 2, and this node reads 1"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_refusal_has_its_own_words_and_changes_nothing(world: World, refusal: str) -> None:
    published(world)
    before = world.kept("gpu-001")
    seen = (world.node("gpu-001") / "var/lib/clusterwright/pull/seen.json").read_text()
    damage, words = REFUSALS[refusal]
    damage(world)
    assert words in world.verify("gpu-001")
    assert world.kept("gpu-001") == before
    assert (world.node("gpu-001") / "var/lib/clusterwright/pull/seen.json").read_text() == seen


@pytest.mark.parametrize(
    ("damage", "words"),
    [(object_changed, "was tampered with: its digest differs"), (object_cut, "is truncated")],
)
def test_object_that_is_not_what_was_signed(
    world: World, damage: Callable[[World], None], words: str
) -> None:
    world.publish()
    damage(world)
    assert words in world.verify("gpu-001")
    assert not list((world.node("gpu-001") / "var/lib/clusterwright/pull/objects").iterdir())


def test_key_is_followed_by_the_next_and_then_revoked(world: World) -> None:
    published(world)
    keys = world.home.keys
    old = world.signing.public
    key_pair(keys / "next_ed25519")
    assert world.publish()
    assert world.verify("gpu-001").startswith("serial 2")
    assert world.verify("gpu-002").startswith("serial 2")
    first = world.current.read_text()

    for suffix in ("", ".pub"):
        (keys / f"next_ed25519{suffix}").rename(keys / f"signing_ed25519{suffix}")
    (keys / "revoked.pub").write_text(f"{old} lost with a laptop\n")
    assert world.publish()
    assert world.verify("gpu-001").startswith("serial 3")
    world.current.write_text(first)
    assert "signed by a revoked key, SHA256:" in world.verify("gpu-001")
    assert world.verify("gpu-002").startswith("serial 2"), "it has not been told yet"


def test_node_that_is_not_in_the_bundle_waits(world: World) -> None:
    published(world)
    assert world.verify("stranger") == "later: stranger is not in serial 1"

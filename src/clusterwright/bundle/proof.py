"""What the node gets that proves the whole cluster: the hand-off, who the others are, and the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from clusterwright.bundle import index
from clusterwright.bundle.packed import packed
from clusterwright.bundle.pointer import Reference
from clusterwright.handoff import Handoff

_LIBRARY = Path(__file__).parents[1]
_PARTS = ("spec", "catalog", "plan", "handoff", "render", "bundle", "converge", "accept")
"""Packages of the library that the gates of a cluster need, with what they stand on."""


@dataclass(frozen=True, slots=True)
class Witnesses:
    """By node, the host key that its report is signed with, and what it is to become."""

    keys: Mapping[str, str]
    digests: Mapping[str, str]


def prover(handoff: Handoff, there: Mapping[str, object]) -> str | None:
    """The node that runs the gates of the cluster, of those that are there."""
    return next((node.name for node in handoff.entries if node.name in there), None)


def publish_proof(
    handoff: Handoff,
    witnesses: Witnesses,
    wheels: Mapping[str, Mapping[str, Reference]],
    put: Callable[[bytes], Reference],
) -> Mapping[str, Any] | None:
    """What the tree says of it; None where no node could ask Slurm. `wheels` by processor and name."""
    node = prover(handoff, witnesses.keys)
    if node is None:
        return None
    body = {
        "handoff": asdict(put(handoff.dumps().encode())),
        "program": asdict(put(program())),
        "nodes": {
            name: {"key": witnesses.keys[name], "digest": witnesses.digests[name]}
            for name in sorted(witnesses.keys)
        },
        "wheels": {
            machine: [asdict(files[name]) for name in sorted(files)]
            for machine, files in sorted(wheels.items())
        },
    }
    return {"node": node, "object": asdict(put(index.encoded(body)))}


@cache
def program() -> bytes:
    return packed(_files())


def _files() -> Iterator[tuple[str, Path]]:
    for file in _LIBRARY.glob("*.py"):
        yield f"clusterwright/{file.name}", file
    for part in _PARTS:
        for file in (_LIBRARY / part).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"clusterwright/{file.relative_to(_LIBRARY)}", file

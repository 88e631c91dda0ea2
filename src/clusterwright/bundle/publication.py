"""What a cluster's nodes pull, as objects named by their content. No input or output here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from clusterwright.bundle import index, rows
from clusterwright.bundle.archives import NO_PACKAGES, Files, files_of
from clusterwright.bundle.collection import root
from clusterwright.bundle.packed import packed
from clusterwright.bundle.pointer import Awaited, Reference
from clusterwright.bundle.proof import Witnesses, publish_proof
from clusterwright.bundle.turns import Order, Turn
from clusterwright.bundle.wanted import Kind, Wanted
from clusterwright.catalog.changes import Impact
from clusterwright.catalog.distributions import distribution
from clusterwright.handoff import Handoff

_PARTS = ("galaxy.yml", "meta", "playbooks", "plugins", "roles")
_PLACE = "collections/ansible_collections/clusterwright/cluster"
_LOOK = Path(__file__).parents[1] / "converge" / "look.py"
KEPT = 8
"""So many earlier states are known by what leaving them costs; from an older one a node drains first."""


@dataclass(frozen=True, slots=True)
class Wheels:
    """The Python packages that run the roles on machines of one processor."""

    files: Mapping[str, Reference]

    @property
    def digest(self) -> str:
        """Names the Python that is made of them."""
        return hashlib.sha256(
            "".join(sorted(row.sha256 for row in self.files.values())).encode()
        ).hexdigest()[:16]


@dataclass
class Publication:
    """The objects of one bundle. Those of files that are on the disk already are references only."""

    objects: dict[str, bytes] = field(default_factory=dict)

    def put(self, content: bytes) -> Reference:
        digest = hashlib.sha256(content).hexdigest()
        self.objects[digest] = content
        return Reference(digest, len(content))


@dataclass(frozen=True, slots=True)
class Proving:
    """Whose reports the proof of the cluster rests on, and what its program needs beside Ansible."""

    host_keys: Mapping[str, str]
    wheels: Mapping[str, Wheels]


Impacts = Mapping[str, str]
"""Node → what its change costs, in the words of `catalog.changes.Impact`."""
Earlier = Callable[[str], Mapping[str, Any] | None]
"""What was published for a node last, or None."""


def publish(
    into: Publication,
    handoff: Handoff,
    wanted: Mapping[str, Wanted],
    wheels: Mapping[str, Wheels],
    hooks: Mapping[str, str],
    impacts: Impacts,
    earlier: Earlier,
    proving: Proving,
    order: Order,
    packages: Files = NO_PACKAGES.files,
) -> Reference:
    """Add every object of this bundle; returns the reference of its tree. `hooks` are texts by path.

    `packages` are those of archives, each an object of its own that is on the disk already.
    """
    kinds: dict[str, Reference] = {}
    nodes: dict[str, Reference] = {}
    for name, one in wanted.items():
        node = handoff.by_name[name]
        shared = f"{one.kind.digest} {one.steps}"
        if shared not in kinds:
            kinds[shared] = into.put(index.encoded(_kind(into, one.kind, one.steps, hooks, packages)))
        body = {
            "node": name,
            "pool": node.pool,
            "groups": rows.groups(node.roles, node.pool),
            "digest": one.digest,
            "kind": asdict(kinds[shared]),
            "source": rows.source(one.own_files),
            "look": rows.looked_at(one.own_files),
            "since": _since(one.digest, impacts.get(name, "live"), earlier(name)),
            "turn": _turn(order.turns.get(name, Turn()), wanted, proving.host_keys),
        }
        nodes[name] = into.put(index.encoded(body))
    newer = distribution(handoff.software["distribution"]).newer_python
    python = {
        machine: {
            "digest": row.digest,
            "wheels": [asdict(row.files[name]) for name in sorted(row.files)],
            **({"package": newer} if newer else {}),
        }
        for machine, row in sorted(wheels.items())
    }
    tree = {
        "collection": asdict(into.put(collection())),
        "python": python,
        "index": asdict(index.write(nodes, into.put)),
        "proof": publish_proof(
            handoff,
            Witnesses(proving.host_keys, {name: one.digest for name, one in wanted.items()}),
            {machine: row.files for machine, row in proving.wheels.items()},
            into.put,
        ),
    }
    return into.put(index.encoded(tree))


def _kind(
    into: Publication,
    kind: Kind,
    steps: Sequence[tuple[str, str, str]],
    hooks: Mapping[str, str],
    packages: Files,
) -> Mapping[str, Any]:
    return {
        "source": rows.source(kind.files, kind),
        "variables": rows.variables(kind, files_of(kind.archives, packages)),
        "look": rows.question(kind),
        "secrets": [file.path for file in kind.files if file.content is None],
        "hooks": [
            {"at": at, "run": run, "object": asdict(into.put(hooks[run].encode()))}
            for at, run, _digest in steps
            if at != "before-accept"
        ],
    }


def _since(digest: str, impact: str, earlier: Mapping[str, Any] | None) -> Mapping[str, str]:
    """What it costs to come here from the states before: the heaviest of all the steps on the way."""
    if earlier is None or earlier["digest"] == digest:
        return earlier["since"] if earlier else {}
    before = {**earlier["since"], earlier["digest"]: "live"}
    kept = list(before.items())[-KEPT:]
    return {state: max(cost, impact, key=_weight) for state, cost in kept if state != digest}


def _turn(turn: Turn, wanted: Mapping[str, Wanted], host_keys: Mapping[str, str]) -> Mapping[str, Any]:
    def awaited(names: Sequence[str]) -> list[dict[str, Any]]:
        return [asdict(Awaited(name, host_keys[name], wanted[name].digest)) for name in names]

    return {"accepted": awaited(turn.accepted), "begun": awaited(turn.begun)}


def _weight(impact: str) -> int:
    return Impact(impact).weight


def collection() -> bytes:
    """The collection, and the program that looks at a node."""
    return packed(_files())


def _files() -> Iterator[tuple[str, Path]]:
    yield "look.py", _LOOK
    for part in _PARTS:
        path = root() / part
        for file in (path,) if path.is_file() else path.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and file.name != "README.md":
                yield f"{_PLACE}/{file.relative_to(root())}", file

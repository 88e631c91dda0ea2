"""What the engine does or would do to a resource."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi.automation import StepEventMetadata


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `op` is Pulumi's word: create, update, delete, replace, create-replacement …"""

    op: str
    type: str
    name: str
    urn: str
    changed: tuple[str, ...] = ()
    """Properties that differ."""
    protected: bool = False
    retained: bool = False
    """Whether it leaves the stack and stays with the cloud."""


def step(metadata: StepEventMetadata) -> Step:
    changed = metadata.diffs or sorted(metadata.detailed_diff or ())
    old = metadata.old
    return Step(
        str(metadata.op.value),
        metadata.type,
        metadata.urn.rpartition("::")[2],
        metadata.urn,
        tuple(sorted({path.replace("[", ".").partition(".")[0] for path in changed})),
        bool(old and old.protect),
        bool(old and old.retain_on_delete),
    )

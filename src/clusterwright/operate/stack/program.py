"""The one program of every stack: of `pulumi up` in the repository, and of `clusterwright up`."""

from __future__ import annotations

from pathlib import Path

from clusterwright.operate.baked import baked
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.providers.pace import keep_pace
from clusterwright.providers.stack import declare, refused_as_error


def declare_cluster(file: Path, *, image: bool = False) -> None:
    """Declare everything that this description asks for, and its outputs.

    With `image`, not its machines but those that become their images."""
    keep_pace()
    with refused_as_error():
        description = described(Source(file))
        prepared = prepare(description)
        images = baked(prepared.handoff, prepared.files, file.parent) if image else ()
        recipes = [one.recipe for one in images]
        declare(file, prepared.plan, prepared.findings, description.loaded.where, recipes)

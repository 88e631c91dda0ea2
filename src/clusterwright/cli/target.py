"""What a verb is about: a description file, or a cluster that was brought up, by its name."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.finding import Where, refuse

if TYPE_CHECKING:
    from clusterwright.operate.source import Source
    from clusterwright.plan.linked import Linked


def as_it_stands(target: str) -> Source:
    """A description file; for a name, how the cluster was brought up."""
    from clusterwright.operate.source import Source, is_description

    if is_description(target):
        return Source(Path(target))
    from clusterwright.operate.cluster import Cluster

    return Cluster.named(target).source()


def description(target: str) -> Path:
    """The file itself; for a name, the description that the cluster was brought up from."""
    return as_it_stands(target).file


def source(target: str, arguments: argparse.Namespace) -> Source:
    """The description and how it is meant: as it stands, or as a rehearsal in the lab.

    A name means the cluster as it was brought up, rehearsal or not.
    """
    counts, found = _counts(arguments), as_it_stands(target)
    return replace(found, rehearse=True, counts=counts) if arguments.lab else found


def is_on_cloud(source: Source) -> bool:
    """Whether a stack makes it, as against a lab or machines of one's own."""
    from clusterwright.operate.prepare import described
    from clusterwright.operate.stack.work import cloud_of

    return cloud_of(described(source).spec) is not None


def beside_own(source: Source) -> Linked | None:
    """The site in a cloud that a cluster of own machines has, whose machines a stack makes."""
    from clusterwright.operate.prepare import described
    from clusterwright.plan.linked import linked

    return linked(described(source).spec)


def _counts(arguments: argparse.Namespace) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in arguments.nodes:
        pool, _, count = word.partition("=")
        if not (pool and count.isdecimal() and int(count) > 0):
            where, remedy = Where(path=f"--nodes {word}"), "Write it as --nodes gpu=2"
            raise refuse("CW9004", where, "not a pool and a number of nodes", remedy)
        counts[pool] = int(count)
    if counts and not arguments.lab:
        remedy = "Add --lab, or change `count` in the description"
        raise refuse("CW9005", Where(path="--nodes"), "only a rehearsal can be scaled here", remedy)
    return counts

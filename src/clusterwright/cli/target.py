"""What a verb is about: a description file, or a cluster that was brought up, by its name."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.finding import Where, refuse

if TYPE_CHECKING:
    from clusterwright.operate.source import Source


def is_description(target: str) -> bool:
    """A file, as against a cluster's name: it has a slash or YAML's suffix."""
    return "/" in target or target.endswith((".yaml", ".yml"))


def description(target: str) -> Path:
    """The file itself; for a name, the description that the cluster was brought up from."""
    if is_description(target):
        return Path(target)
    from clusterwright.operate.cluster import Cluster

    return Cluster.named(target).source().file


def source(target: str, arguments: argparse.Namespace) -> Source:
    """The description and how it is meant: as it stands, or as a rehearsal in the lab.

    A name means the cluster as it was brought up, rehearsal or not.
    """
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.source import Source

    counts = _counts(arguments)
    if is_description(target):
        return Source(Path(target), rehearse=arguments.lab, counts=counts)
    known = Cluster.named(target).source()
    return replace(known, rehearse=True, counts=counts) if arguments.lab else known


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

"""What a verb is about: a description file, or a cluster that was brought up, by its name."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.finding import Where, refuse

if TYPE_CHECKING:
    from clusterwright.operate.source import Source


def is_description(target: str) -> bool:
    """A file, as against a cluster's name: it has a slash or YAML's suffix."""
    return "/" in target or target.endswith((".yaml", ".yml"))


def description(target: str) -> Path:
    """The file itself; for a name, the description that was last brought up under it."""
    if is_description(target):
        return Path(target)
    from clusterwright.operate.source import cluster_home

    return cluster_home(target).description_file


def source(target: str, arguments: argparse.Namespace) -> Source:
    """The description and how it is meant: as it stands, or as a rehearsal in the lab.

    A name means the cluster as it was last brought up, unless the arguments say otherwise.
    """
    from clusterwright.operate.home import ClusterHome
    from clusterwright.operate.source import Source, recorded

    file = description(target)
    asked = Source(file, rehearse=arguments.lab, counts=_counts(arguments))
    known = None if str(file) == target else recorded(ClusterHome.of(target))
    if known is None or arguments.lab:
        return asked
    return Source(file, rehearse=known.rehearse, counts=known.counts)


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

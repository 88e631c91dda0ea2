"""Nodes as somebody types them: a set, known to the cluster, or one alone."""

from __future__ import annotations

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.spec.nodeset import expand


def typed(text: str) -> tuple[str, ...]:
    """Raises Refused for what is no node set."""
    try:
        return tuple(expand(text))
    except ValueError as error:
        remedy = "Write it as Slurm does, for instance gpu-[001-004]"
        raise refuse("CW8011", Where(path=text), str(error), remedy) from error


def nodes_of(handoff: Handoff, text: str) -> tuple[str, ...]:
    """A node set of a cluster. Raises Refused with every name that is not one of its nodes."""
    names = typed(text)
    unknown = [name for name in names if name not in handoff.by_name]
    if unknown:
        there = ", ".join(list(handoff.by_name)[:8])
        what = f"cluster '{handoff.name}' has no node {', '.join(unknown)}"
        raise refuse("CW8012", Where(path=text), what, f"It has: {there}")
    return names


def node_of(handoff: Handoff, text: str) -> str:
    """One node of a cluster. Raises Refused for several: nobody would see that the others were left out."""
    first, *others = nodes_of(handoff, text)
    if others:
        raise refuse("CW8011", Where(path=text), f"these are {len(others) + 1} nodes", "Name one of them")
    return first

"""The page with the networks of examples on clouds: `python -m clusterwright.plan.picture_page`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from clusterwright.plan.aws import aws_plan
from clusterwright.plan.aws.picture import picture as amazon
from clusterwright.plan.build import plan
from clusterwright.plan.gcp import gcp_plan
from clusterwright.plan.gcp.picture import picture as google
from clusterwright.plan.model import ClusterPlan
from clusterwright.plan.picture import Picture, mermaid
from clusterwright.spec.load import load

FILE = Path("docs/networks.md")
_DRAWN = (
    "aws-p5",
    "aws-p6",
    "aws-storage",
    "aws-existing-vpc",
    "aws-closed",
    "hybrid",
    "gcp-a3-mega",
    "gcp-a3-ultra",
    "gcp-a4x",
    "gcp-a4x-max",
    "gcp-storage",
    "gcp-a2",
)
_PAINTERS: Mapping[str, Callable[[ClusterPlan], Picture]] = {
    "aws": lambda made: amazon(aws_plan(made)),
    "gcp": lambda made: google(gcp_plan(made)),
}


def text() -> str:
    """The page as the committed file holds it."""
    return "\n".join(["# The networks of the examples", "", *_LEAD, "", *_sections()])


_LEAD = (
    "Drawn from their plans by `python -m clusterwright.plan.picture_page`.",
    "A box with points is a fabric; lines are the cards of one machine.",
)


def _sections() -> Iterator[str]:
    for name in _DRAWN:
        file = Path(f"clusters/{name}.yaml")
        lead = file.read_text(encoding="utf-8").splitlines()
        said = next(line for line in lead if line.startswith("# ") and "$schema" not in line)
        made = plan(load(file).spec)
        (site,) = (one for one in made.sites if one.provider in _PAINTERS)
        yield f"## {name}\n\n{said.removeprefix('# ')} [Its description](../{file.as_posix()}).\n"
        yield f"```mermaid\n{mermaid(_PAINTERS[site.provider](made))}```\n"


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(text(), encoding="utf-8")

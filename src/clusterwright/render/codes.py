"""What each code of this package means: `clusterwright explain CW3001`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW3001": Meaning(
        "A Slurm release that is not rendered",
        "Releases know different settings, and a daemon stops at one that it does not know.",
        "scheduler: {release: '21.08'}",
    ),
    "CW3002": Meaning(
        "A file of somebody else",
        "`render --out` replaces only files that it wrote itself, so that no folder is a wrong one.",
        "render lab.yaml --out /",
    ),
    "CW3003": Meaning(
        "The list of written files is damaged",
        "It says which files `render --out` may replace and remove; without it that would be a guess.",
        ".clusterwright.json emptied by hand",
    ),
}

"""Which cluster a verb means: its name, or its description file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.operate.home import ClusterHome, known_clusters, write_atomically
from clusterwright.spec.load import load

REHEARSAL_SUFFIX = "-lab"


@dataclass(frozen=True)
class Source:
    """A description and how it is brought up. Recorded at `up`, so that a name is enough afterwards."""

    file: Path
    rehearse: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    """Node counts by pool that a rehearsal was asked for."""

    def record(self, home: ClusterHome) -> None:
        body = {**asdict(self), "file": str(self.file.resolve())}
        write_atomically(home.root / "source.json", json.dumps(body, indent=1, sort_keys=True))


def recorded(home: ClusterHome) -> Source | None:
    """How the cluster was last brought up."""
    try:
        body = json.loads((home.root / "source.json").read_text())
        return Source(Path(body["file"]), bool(body["rehearse"]), dict(body["counts"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def rehearsal_name(cluster: str) -> str:
    """A rehearsal stands beside the cluster that it plays, under a name of its own."""
    return cluster[: 40 - len(REHEARSAL_SUFFIX)].rstrip("-") + REHEARSAL_SUFFIX


def cluster_home(name_or_file: str) -> ClusterHome:
    """The home of a cluster that exists. Raises Refused when there is none."""
    name = name_or_file
    if "/" in name_or_file or name_or_file.endswith((".yaml", ".yml")):
        name = load(name_or_file).spec.cluster
        if not ClusterHome.of(name).exists() and ClusterHome.of(rehearsal_name(name)).exists():
            name = rehearsal_name(name)
    home = ClusterHome.of(name)
    if home.exists():
        return home
    known = known_clusters()
    near = get_close_matches(name, known, 1)
    there = (
        f"There are: {', '.join(known)}" if known else "There is none yet: `clusterwright up FILE` makes one"
    )
    raise refuse(
        "CW8002",
        Where(path=name),
        f"there is no cluster '{name}'",
        f"Did you mean '{near[0]}'? {there}" if near else there,
    )

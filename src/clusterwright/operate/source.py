"""Which cluster a verb means: its name, or its description file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.operate.home import ClusterHome, known_clusters, write_atomically

REHEARSAL_SUFFIX = "-lab"


@dataclass(frozen=True)
class Source:
    """A description and how it is brought up. Recorded at `up`, so that a name is enough afterwards."""

    file: Path
    rehearse: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    """Node counts by pool that a rehearsal was asked for."""
    beside: Path | None = None
    """Where the files are that the description names, when `file` is a copy of it."""

    @property
    def folder(self) -> Path:
        return self.beside or self.file.resolve().parent

    def record(self, home: ClusterHome) -> None:
        """Keep the description and where it came from, before anything is made of it."""
        origin = self.file.resolve()
        copy(self.file, home.description_file)
        if home.root not in origin.parents:
            body = {"file": str(origin), "rehearse": self.rehearse, "counts": self.counts}
            write_atomically(home.root / "source.json", json.dumps(body, indent=1, sort_keys=True))


def copy(description: Path, to: Path) -> None:
    """A description with its files of machines, and with its lock if it has one."""
    from clusterwright.plan.software import beside
    from clusterwright.spec.load import load, machine_files
    from clusterwright.spec.machines import kept_as

    for path, site in machine_files(load(description)):
        write_atomically(kept_as(to, site.machines or ""), path.read_text())
    write_atomically(to, description.read_text())
    lock = beside(description)
    if lock.exists():
        write_atomically(beside(to), lock.read_text())
    else:
        beside(to).unlink(missing_ok=True)


def recorded(home: ClusterHome) -> Source | None:
    """How the cluster was last brought up; from the copy that was kept, when the description has gone."""
    found = _recorded(home)
    if found is None or found.file.exists():
        return found
    return replace(found, file=home.description_file, beside=found.folder)


def applied(home: ClusterHome) -> Source | None:
    """The description that the cluster is known to have reached, whatever was written to the file since."""
    found = _recorded(home)
    if found is None or not home.applied_description_file.exists():
        return None
    return replace(found, file=home.applied_description_file, beside=found.folder)


def _recorded(home: ClusterHome) -> Source | None:
    try:
        body = json.loads((home.root / "source.json").read_text())
        return Source(Path(body["file"]), bool(body["rehearse"]), dict(body["counts"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def rehearsal_name(cluster: str) -> str:
    """A rehearsal stands beside the cluster that it plays, under a name of its own."""
    return cluster[: 40 - len(REHEARSAL_SUFFIX)].rstrip("-") + REHEARSAL_SUFFIX


def is_description(target: str) -> bool:
    """A file, as against a cluster's name: it has a slash or YAML's suffix."""
    return "/" in target or target.endswith((".yaml", ".yml"))


def cluster_home(name_or_file: str) -> ClusterHome:
    """The home of a cluster that exists. Raises Refused when there is none."""
    name = name_or_file
    if is_description(name_or_file):
        from clusterwright.spec.load import load  # slow to import, and a name is the common case

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

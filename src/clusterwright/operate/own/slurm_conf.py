"""slurm.conf as Slurm reads it: keys in any case, comments, continued lines, includes, defaults of nodes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.spec.nodeset import expand

_ROWS = {
    "nodename": "nodes",
    "partitionname": "partitions",
    "nodeset": "sets",
    "frontendname": "others",
    "downnodes": "others",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `words` are its settings as they are written, their keys in lower case."""

    file: str
    number: int
    words: Mapping[str, str]

    @property
    def where(self) -> Where:
        return Where(self.file, self.number, 1)

    @property
    def key(self) -> str:
        return next(iter(self.words))

    def members(self) -> frozenset[str] | None:
        """Of a partition; None for all nodes. Raises ValueError with a sentence for a person."""
        text = self.words.get("nodes", "")
        return None if text.upper() == "ALL" else frozenset(expand(text) if text else ())

    def nodes(self) -> list[str]:
        """Of a line of nodes. Raises ValueError with a sentence for a person."""
        return expand(self.words["nodename"])


@dataclass(frozen=True, slots=True)
class SlurmConf:
    """Its lines by what they are about."""

    settings: tuple[Line, ...]
    nodes: tuple[Line, ...]
    partitions: tuple[Line, ...]
    others: tuple[Line, ...]
    """What is neither: sets of nodes, front ends, nodes that are down."""


def read(file: Path) -> SlurmConf:
    """Raises Refused for a file that cannot be read, or is no slurm.conf."""
    lines = list(_lines(file, frozenset()))
    rows = {kind: [line for line in lines if _ROWS.get(line.key) == kind] for kind in {*_ROWS.values()}}
    settings = [line for line in lines if line.key not in _ROWS]
    named = any("clustername" in line.words for line in settings)
    missing = [name for name, there in (("ClusterName", named), ("NodeName", rows["nodes"])) if not there]
    remedy = "Give the slurm.conf of the controller"
    findings = [Finding("CW8183", Where(str(file)), f"has no {name}", remedy) for name in missing]
    nodes, partitions = tuple(_filled(rows["nodes"])), tuple(_filled(rows["partitions"]))
    findings += [found for line in nodes for found in _no_names(line.nodes, line.where)]
    findings += [found for line in partitions for found in _no_names(line.members, line.where)]
    if findings:
        raise Refused(findings)
    return SlurmConf(tuple(settings), nodes, partitions, (*rows["sets"], *rows["others"]))


def _no_names(named: Callable[[], object], where: Where) -> Iterator[Finding]:
    """Names of nodes that no description takes."""
    try:
        named()
    except ValueError as error:
        remedy = "Give a copy of the file in which nodes have the names of their hosts, in lower case"
        yield Finding("CW8183", where, str(error), remedy)


def _lines(file: Path, seen: frozenset[Path]) -> Iterator[Line]:
    try:
        text = file.read_text(errors="replace")
    except OSError as error:
        what, remedy = f"cannot be read ({error.strerror})", "Copy it here with the files that it includes"
        raise refuse("CW8183", Where(str(file)), what, remedy) from error
    number, begun = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = begun + re.sub(r"(?<!\\)#.*", "", raw).strip()
        if line.endswith("\\"):
            begun = line[:-1]
            continue
        begun = ""
        if included := re.fullmatch(r"(?i)include\s+(\S+)", line):
            other = file.parent / included[1]
            if other not in seen:
                yield from _lines(other, seen | {file})
        elif words := _words(line):
            yield Line(str(file), number, words)


def _words(line: str) -> Mapping[str, str]:
    try:
        parts = shlex.split(re.sub(r"\s*=\s*", "=", line), posix=True)
    except ValueError:
        parts = line.split()
    pairs = (part.partition("=") for part in parts)
    return {key.lower(): value for key, _, value in pairs if key}


def _filled(lines: list[Line]) -> Iterator[Line]:
    """`DEFAULT` holds for the lines after it."""
    defaults: dict[str, str] = {}
    for line in lines:
        name = line.words[line.key]
        if name.upper() == "DEFAULT":
            defaults |= {key: value for key, value in line.words.items() if key != line.key}
        else:
            yield Line(line.file, line.number, {line.key: name, **defaults, **line.words})

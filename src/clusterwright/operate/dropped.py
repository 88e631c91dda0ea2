"""What a package manager says of a build that its repositories have no more, as a finding."""

from __future__ import annotations

import re

from clusterwright.finding import Finding, Where
from clusterwright.handoff import Handoff

_SAID = (
    re.compile(r"Version '(?P<version>[^']+)' for '(?P<name>[^']+)' was not found"),  # apt-get
    re.compile(r"No package (\S+?)-(\d\S*) available"),  # ansible.builtin.dnf
)


def dropped(handoff: Handoff, message: str) -> Finding | None:
    """None where the message is of something else."""
    for pattern in _SAID:
        if found := pattern.search(message):
            parts = found.groupdict()
            name, version = parts.get("name", found[1]), parts.get("version", found[2])
            return _finding(handoff, name, version)
    return None


def _finding(handoff: Handoff, name: str, version: str) -> Finding:
    component = next(
        (
            component
            for stack in handoff.software["stacks"].values()
            for component, row in stack.items()
            if row["packages"].get(name) == version
        ),
        "",
    )
    what = f"{name} {version} is locked, and no repository of the nodes has that build"
    remedy = (
        f"Take what they have now with `clusterwright lock --upgrade {component}`, or wish for its series;"
        " to keep the build, name a mirror that has it (`software.mirror`), such as an offline bundle"
    )
    if not component:
        remedy = "Check that the repositories of the nodes are complete"
    return Finding("CW8060", Where(path=component or name), what, remedy)

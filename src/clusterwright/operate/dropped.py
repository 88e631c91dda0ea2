"""What a package manager says of a build that its repositories have no more, as a finding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clusterwright.finding import Finding, Where
from clusterwright.handoff import Handoff

_OTHER_BUILD = (
    re.compile(r"Version '(?P<version>[^']+)' for '(?P<name>[^']+)' was not found"),  # apt-get
    re.compile(r"No package (?P<name>\S+?)-(?P<version>\d\S*) available"),  # ansible.builtin.dnf
)
_NO_BUILD = (
    re.compile(r"Unable to locate package (?P<name>\S+)"),  # apt-get
    re.compile(r"No package (?P<name>\S+) available"),
)


def dropped(handoff: Handoff, message: str) -> Finding | None:
    """None where the message is of something else."""
    for pattern in _OTHER_BUILD:
        if found := pattern.search(message):
            return _dropped(handoff, found["name"], found["version"])
    for pattern in _NO_BUILD:
        if found := pattern.search(message):
            return _nowhere(handoff, found["name"])
    return None


def _dropped(handoff: Handoff, name: str, version: str) -> Finding:
    component = next((one for one, packages in _locked(handoff) if packages.get(name) == version), "")
    what = f"{name} {version} is locked, and no repository of the nodes has that build"
    remedy = (
        f"Take what they have now with `clusterwright lock --upgrade {component}`, or wish for its series;"
        " to keep the build, name a mirror that has it (`software.mirror`), such as an offline bundle"
    )
    return Finding("CW8060", Where(path=component or name), what, remedy if component else _INCOMPLETE)


def _nowhere(handoff: Handoff, name: str) -> Finding:
    component = next((one for one, packages in _locked(handoff) if name in packages), "")
    what = f"no repository of the nodes has {name}, in any build"
    remedy = "Name a repository of your own that has it as `software.mirror`, or an image that brings it"
    return Finding("CW8060", Where(path=component or name), what, remedy if component else _INCOMPLETE)


_INCOMPLETE = "Check that the repositories of the nodes are complete"


def _locked(handoff: Handoff) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    for stack in handoff.software["stacks"].values():
        for component, row in stack.items():
            yield component, row["packages"]

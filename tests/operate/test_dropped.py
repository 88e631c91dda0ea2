"""A build that an archive dropped is named as that, whichever package manager says so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clusterwright.operate.dropped import dropped

STACK = {"kernel": {"packages": {"linux-image-amd64": "6.12.107-1", "kernel": "5.14.0-611.el9"}}}
HANDOFF: Any = SimpleNamespace(software={"stacks": {"gpu": STACK}})


@pytest.mark.parametrize(
    "message",
    [
        "E: Version '6.12.107-1' for 'linux-image-amd64' was not found",
        "Failed to install some of the specified packages: No package kernel-5.14.0-611.el9 available.",
    ],
)
def test_what_an_archive_dropped_is_named_with_the_way_on(message: str) -> None:
    finding = dropped(HANDOFF, message)
    assert finding and (finding.code, str(finding.where)) == ("CW8060", "kernel")
    assert "is locked, and no repository of the nodes has that build" in finding.what
    assert "lock --upgrade kernel" in finding.remedy


@pytest.mark.parametrize(
    "message", ["E: Unable to locate package gdrdrv-dkms", "No package gdrdrv-dkms available."]
)
def test_what_no_repository_ever_had_is_named_with_its_component(message: str) -> None:
    stack = {"gdrcopy": {"packages": {"gdrdrv-dkms": "2.5.2-1"}}}
    handoff: Any = SimpleNamespace(software={"stacks": {"gpu": stack}})
    finding = dropped(handoff, message)
    assert finding and (finding.code, str(finding.where)) == ("CW8060", "gdrcopy")
    assert "has gdrdrv-dkms, in any build" in finding.what and "software.mirror" in finding.remedy


def test_a_package_that_no_lock_names_asks_for_complete_repositories() -> None:
    finding = dropped(HANDOFF, "E: Version '24.11' for 'slurmd' was not found")
    assert finding and "complete" in finding.remedy


def test_other_failures_keep_their_words() -> None:
    assert dropped(HANDOFF, "dpkg was interrupted") is None

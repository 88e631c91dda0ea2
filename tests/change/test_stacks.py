"""What another lock costs a pool's nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clusterwright.change import diff
from clusterwright.handoff import Handoff
from clusterwright.spec.nodeset import fold

from .test_diff import BASE, made


def locked(version: str, *services: str) -> dict[str, Any]:
    return {
        "version": version,
        "flavour": "",
        "packages": {"a-package": f"{version}-1"},
        "services": list(services),
        "hold": [],
        "repository": "vendor",
    }


def with_stack(handoff: Handoff, **components: dict[str, Any]) -> Handoff:
    return replace(handoff, software={**handoff.software, "stacks": {"gpu": components}})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            {"driver": locked("580.95.05")},
            {"driver": locked("595.91.07")},
            ["changed software.stacks.gpu.driver on gpu-[001-002]: reboot"],
        ),
        (
            {"dcgm": locked("4.4.1", "nvidia-dcgm")},
            {"dcgm": locked("4.5.3", "nvidia-dcgm")},
            ["changed software.stacks.gpu.dcgm on gpu-[001-002]: daemon-restart of nvidia-dcgm"],
        ),
        (
            {"nccl": locked("2.28.9")},
            {"nccl": locked("2.30.7"), "cudnn": locked("9.10")},
            [
                "added software.stacks.gpu.cudnn on gpu-[001-002]: live",
                "changed software.stacks.gpu.nccl on gpu-[001-002]: live",
            ],
        ),
        (
            {"nccl": locked("2.30.7")},
            {"nccl": locked("2.28.9")},
            ["lowered software.stacks.gpu.nccl on gpu-[001-002]: replace"],
        ),
    ],
    ids=["loaded", "daemon", "library", "downgrade"],
)
def test_each_component_has_its_own_cost(
    before: dict[str, Any], after: dict[str, Any], said: list[str]
) -> None:
    handoff = made(BASE)
    found = diff(with_stack(handoff, **before), with_stack(handoff, **after))
    lines = [
        f"{change.what} {change.path} on {fold(change.nodes)}: {change.impact.value}"
        + (f" of {' '.join(change.units)}" if change.units else "")
        for change in found
    ]
    assert lines == said

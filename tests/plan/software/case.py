"""A case: a few lines of YAML in, one line for each locked component out, or what is said instead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from clusterwright.catalog.machines import machines
from clusterwright.finding import Refused, Where
from clusterwright.plan.software.lock import Lock, Locked
from clusterwright.plan.software.question import Question
from clusterwright.plan.software.solve import answer
from clusterwright.plan.software.traits import PoolFacts, traits
from clusterwright.plan.software.wish import Wish

CASES = Path(__file__).parent / "cases"


def question(body: dict[str, Any]) -> Question:
    """`distribution`, `pools` (name → machine type), `versions` (`pool/component` for one pool)."""
    return Question(
        pools={pool: facts(machine) for pool, machine in body["pools"].items()},
        wishes=tuple(wish(name, str(text)) for name, text in body.get("versions", {}).items()),
        distribution=body["distribution"],
    )


def facts(machine: str) -> PoolFacts:
    hardware = machines()[machine]
    return PoolFacts(machine, hardware.architecture, traits(hardware) | {"role:compute"})


def wish(name: str, text: str) -> Wish:
    pool, _, component = name.rpartition("/")
    path = f"pools.{pool}.versions.{component}" if pool else f"software.versions.{component}"
    return Wish(component, text, Where(path=path), pool)


def locked(lock: Lock) -> Iterator[str]:
    """`component version flavour digest`; pools with the same lines share them."""
    by_lines: dict[tuple[str, ...], list[str]] = {}
    for pool, rows in lock.pools.items():
        lines = tuple(f"  {name} {' '.join(_told(row))}" for name, row in rows.items())
        by_lines.setdefault(lines, []).append(pool)
    for lines, pools in by_lines.items():
        yield f"{' '.join(pools)}:"
        yield from lines or ("  nothing",)


def _told(row: Locked) -> Iterator[str]:
    yield from filter(None, (row.version, row.flavour))
    if row.sha256:
        yield f"sha256:{row.sha256[:16]}"


def said(file: Path) -> str:
    """What stands in `.expected`."""
    asked = question(yaml.safe_load(file.read_text(encoding="utf-8")))
    try:
        lines = [*locked(answer(asked))]
    except Refused as refused:
        lines = [f"{one.code} {one.where}: {one.what}. {one.remedy}" for one in refused.findings]
    return "\n".join(lines) + "\n"

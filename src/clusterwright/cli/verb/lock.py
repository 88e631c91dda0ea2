"""`clusterwright lock`: which version of everything, solved and written down."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.finding import Finding
    from clusterwright.plan.software import Lock
    from clusterwright.plan.software.compare import Difference
    from clusterwright.spec.load import LoadedSpec

_ABOUT = """Choose the software of every pool and write it down.

Drivers, Fabric Manager, CUDA, NCCL and all else that the machines need or `versions` wishes for: exact
versions and packages that fit together, each with its reason, in NAME.lock.yaml beside the description.
What is locked already stays as it is unless something forces it to change. Commit the file."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "lock",
        run,
        _ABOUT,
        examples={
            "clusterwright lock clusters/aws-p5.yaml": "writes clusters/aws-p5.lock.yaml, says what changed",
            "clusterwright lock aws-p5.yaml --upgrade": "everything to the newest that fits",
            "clusterwright lock aws-p5.yaml --upgrade nccl": "NCCL, and only what has to follow it",
            "clusterwright lock aws-p5.yaml --check": "in CI: fails when the lock is not current",
        },
    )
    add_target(parser)
    parser.add_argument(
        "--upgrade",
        metavar="NAME",
        nargs="?",
        const="",
        action="append",
        help="let this component move to its newest release that fits; without a name, all of them",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when the lock is not what is needed"
    )


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import description
    from clusterwright.plan.software import beside, load
    from clusterwright.plan.software.compare import compare
    from clusterwright.plan.software.gaps import gaps
    from clusterwright.spec.load import load as spec_of

    file = description(arguments.cluster)
    target = beside(file)
    before = load(target) if target.exists() else None
    loaded = spec_of(file)
    lock = _solved(loaded, before, arguments.upgrade)
    text = lock.text()
    current = before is not None and text == target.read_text(encoding="utf-8")
    differences = compare(before, lock)
    if not (current or arguments.check):
        _write(target, text)
    told = tuple(gaps(lock, str(target), mirrored=loaded.spec.software.mirror is not None))
    found = _Outcome(target, lock, before is not None, current, differences, told)
    found.show(as_json=arguments.json, only_checked=arguments.check)
    return FAILED if arguments.check and not current else FINE


def _write(target: Path, text: str) -> None:
    from clusterwright.finding import Where, refuse
    from clusterwright.operate.home import write_atomically

    try:
        write_atomically(target, text)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise refuse(
            "CW9003", Where(str(target)), what, "Make its folder one that you may write to"
        ) from error


def _solved(loaded: LoadedSpec, before: Lock | None, upgrade: Sequence[str] | None) -> Lock:
    """The lock that the description needs."""
    from clusterwright.checks import check
    from clusterwright.finding import Refused, Severity
    from clusterwright.plan.outline import Outline
    from clusterwright.plan.software.asked import asked
    from clusterwright.plan.software.solve import answer

    errors = [one for one in check(loaded.spec, loaded.where) if one.severity is Severity.ERROR]
    if errors:
        raise Refused(errors)
    question = asked(Outline(loaded.spec, {}), loaded.where)
    names = None if upgrade is not None and "" in upgrade else tuple(upgrade or ())
    return answer(question, before, upgrade=names)


@dataclass(frozen=True)
class _Outcome:
    """What came of it, for a person or for a program."""

    file: Path
    lock: Lock
    was_there: bool
    current: bool
    differences: tuple[Difference, ...]
    gaps: tuple[Finding, ...]

    def show(self, *, as_json: bool, only_checked: bool) -> None:
        if as_json:
            print(json.dumps(self._as_json(), indent=1))
            return
        from clusterwright.cli.terminal.findings import show

        self._table()
        print(self._verdict(only_checked))
        show([] if only_checked else self.gaps, as_json=False)

    def _as_json(self) -> dict[str, object]:
        return {
            "file": str(self.file),
            "current": self.current,
            "changes": [one.as_json() for one in self.differences],
            "findings": [gap.as_json() for gap in self.gaps],
        }

    def _table(self) -> None:
        from clusterwright.cli.terminal.table import print_table

        rows = [
            (one.component, one.before, one.after or "removed", ", ".join(one.pools), one.why)
            for one in self.differences
        ]
        if rows:
            print_table(("COMPONENT", "WAS", "IS", "POOLS", "WHY"), rows)

    def _verdict(self, only_checked: bool) -> str:
        if self.current:
            return f"{self.file} is current"
        if not only_checked:
            return f"wrote {self.file}"
        if not self.was_there:
            return f"{self.file} is not there: run `clusterwright lock`"
        more = "" if self.differences else " (no version differs, but packages, repositories or reasons do)"
        return f"{self.file} is out of date{more}: run `clusterwright lock`"

"""How a change is rolled, as the command line was told."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from clusterwright.finding import Finding, Refused, Where
from clusterwright.spec.quantity import seconds

if TYPE_CHECKING:
    from clusterwright.operate.roll import Roll


def rolling(arguments: argparse.Namespace) -> Roll | None:
    """None where nothing is to be rolled. Raises Refused with every option that makes no sense."""
    from clusterwright.operate.roll import Roll

    wait = None if arguments.wait is None else seconds(arguments.wait)
    found = []
    for option in ("batch", "wait", "failures"):
        if getattr(arguments, option) is not None and not arguments.roll:
            found.append(_finding(option, "only a roll is told how to go", "Add --roll"))
    if arguments.batch is not None and arguments.batch < 1:
        found.append(_finding("batch", "a batch has one node at least", "Write it as --batch 4"))
    if arguments.failures is not None and arguments.failures < 0:
        found.append(_finding("failures", "fewer than no node cannot fail", "Write it as --failures 2"))
    if arguments.wait is not None and wait is None:
        found.append(_finding("wait", f"'{arguments.wait}' is no time", "Write it as --wait '2 h'"))
    if found:
        raise Refused(found)
    if not arguments.roll:
        return None
    return Roll(arguments.batch or 1, math.inf if wait is None else wait, arguments.failures or 0)


def refuse_what_clouds_do_not_take(arguments: argparse.Namespace) -> None:
    """Raises Refused with every option that is for clusters which are converged from here."""
    wanted = ("full", "wait", "failures", "rebuild", "install_deps")
    given = [
        option.replace("_", "-") for option in wanted if getattr(arguments, option) not in (None, False, [])
    ]
    what = "machines of a cloud converge themselves, each after its own jobs"
    if given:
        raise Refused(
            [Finding("CW9013", Where(path=f"--{one}"), what, f"Leave out --{one}") for one in given]
        )


def _finding(option: str, what: str, remedy: str) -> Finding:
    return Finding("CW9011", Where(path=f"--{option}"), what, remedy)

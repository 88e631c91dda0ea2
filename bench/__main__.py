"""`make bench`: measure everything, print it as it comes, and write docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import sys
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path

from bench import bare, cloud, command, core, fabric, lab, netboot, pull, scheduler
from bench.result import Result

PAGE = Path("docs/benchmarks.md")
_HEAD = ("what", "measured", "bar", "", "in proportion", "note")


_GROUPS = (command, core, cloud, fabric, scheduler, lab, bare, pull, netboot)


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{cores} cores, {memory:.0f} GiB, {system}, load {os.getloadavg()[0]:.1f} at the end"


def _page(results: list[Result]) -> str:
    rows = [_HEAD, tuple("---" for _ in _HEAD), *(result.row() for result in results)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    day = datetime.now(UTC).date().isoformat()
    return f"""# Benchmarks

Written by `make bench` on {day}: {_machine()}.
Proportions are to a plain step of the same run, so that figures of other machines can be compared.

{table}
"""


def main() -> int:
    known = {module.__name__.rpartition(".")[2]: module for module in _GROUPS}
    asked = ArgumentParser(prog="python -m bench", description="Measure, and say which bars are reached.")
    asked.add_argument(
        "groups", nargs="*", metavar="GROUP", help=f"only these, and no page: {', '.join(known)}"
    )
    chosen = asked.parse_args().groups
    if unknown := sorted(set(chosen) - known.keys()):
        asked.error(f"there is no {', '.join(unknown)}")
    results: list[Result] = []
    for name in chosen or known:
        for result in known[name].results():
            results.append(result)
            print("  ".join(part for part in result.row() if part), flush=True)
    if not chosen:
        PAGE.write_text(_page(results))
        print(f"wrote {PAGE}")
    return 1 if any(result.reached is False for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

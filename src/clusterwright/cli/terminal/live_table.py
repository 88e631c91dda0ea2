"""What a look at a cloud came to: each check with its outcome."""

from __future__ import annotations

import sys
from collections import Counter

from clusterwright.cli.terminal.style import paint
from clusterwright.operate.live import Look

_STYLE = {"passed": "green", "failed": "bold red", "skipped": "bold yellow"}


def print_look(look: Look) -> None:
    """To standard output. What there was nothing to ask about is counted only."""
    print(f"\nlive checks on {look.provider} {look.place}")
    for outcome in look.verdict.outcomes:
        if outcome.result != "nothing to ask":
            result = paint(f"{outcome.result:<8}", _STYLE[outcome.result], sys.stdout)
            why = f" ({outcome.why})" if outcome.why else ""
            print(f"  {result} {outcome.code} {outcome.title}{why}")
    counts = Counter[str](outcome.result for outcome in look.verdict.outcomes)
    order = ("passed", "failed", "skipped", "nothing to ask")
    print(f"  {', '.join(f'{counts[result]} {_words(result)}' for result in order if counts[result])}")


def _words(result: str) -> str:
    return "had nothing to ask" if result == "nothing to ask" else result

"""`docs/checks.md`, written from the rules: `python -m clusterwright.checks.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clusterwright.checks.check import CONCERNS
from clusterwright.checks.live.rule import GAPS, LiveRule
from clusterwright.checks.live.rules import CONCERNS as CONCERNS_LIVE
from clusterwright.checks.live.rules import rules_of
from clusterwright.checks.rule import Rule

FILE = Path("docs/checks.md")
_HEAD = """# What a description is checked for

Every finding names its place in the file, what is wrong and what to do; all are shown at once, before
anything is made. An error refuses the plan, a warning is a risk that you may take, a note informs.
`clusterwright explain CODE` says the same as this page, which is written from the rules themselves
(`python -m clusterwright.checks.reference`). What is said of the file's own form, codes `CW10..` and
`CW11..`, stands in [description.md](description.md).
"""
_LIVE = """# What `plan --live` asks the cloud

`clusterwright plan --live FILE` asks the account or project that the cluster would be made in, with the
credentials that the cloud's own tools use, for every pool and all at once. It makes and changes nothing.
What is not answered (codes `CW149.`) is a warning that names the permission; the rest is asked all the same.
"""


def text() -> str:
    """The page as the committed file holds it."""
    parts = [_HEAD]
    for concern in CONCERNS:
        parts.append(f"## {(concern.__doc__ or '').strip().rstrip('.')}\n")
        parts += [_entry(value) for value in vars(concern).values() if isinstance(value, Rule)]
    return "\n".join([*parts, *_live()])


def _live() -> Iterator[str]:
    """What `plan --live` asks."""
    yield _LIVE
    for concern in (module for modules in CONCERNS_LIVE.values() for module in modules):
        yield f"## {(concern.__doc__ or '').strip().rstrip('.')}\n"
        yield from (_entry(rule) for rule in rules_of(concern))
    yield "## Questions without an answer\n"
    for gap in GAPS.values():
        yield f"### {gap.code}: {gap.title}\n\n*Warning.* {gap.text}\n\n- For instance: `{gap.example}`\n"


def _entry(rule: Rule | LiveRule[Any, Any]) -> str:
    lines = [
        f"### {rule.code}: {rule.title}",
        "",
        f"*{rule.severity.value.capitalize()}.* {' '.join(rule.text.split())}",
        "",
        f"- For instance: `{rule.example}`",
        f"- Source: {rule.source}",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(text(), encoding="utf-8")

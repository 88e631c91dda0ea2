"""`docs/checks.md`, written from the rules: `python -m clusterwright.checks.reference`."""

from __future__ import annotations

import sys
from pathlib import Path

from clusterwright.checks.check import CONCERNS
from clusterwright.checks.rule import Rule

FILE = Path("docs/checks.md")
_HEAD = """# What a description is checked for

Every finding names its place in the file, what is wrong and what to do; all are shown at once, before
anything is made. An error refuses the plan, a warning is a risk that you may take, a note informs.
`clusterwright explain CODE` says the same as this page, which is written from the rules themselves
(`python -m clusterwright.checks.reference`). What is said of the file's own form, codes `CW10..` and
`CW11..`, stands in [description.md](description.md).
"""


def text() -> str:
    """The page as the committed file holds it."""
    parts = [_HEAD]
    for concern in CONCERNS:
        parts.append(f"## {(concern.__doc__ or '').strip().rstrip('.')}\n")
        parts += [_entry(value) for value in vars(concern).values() if isinstance(value, Rule)]
    return "\n".join(parts)


def _entry(rule: Rule) -> str:
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

"""The command line: one file per verb, and the only place that prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """The `clusterwright` command; gives its exit code."""
    from clusterwright.cli.ending import run
    from clusterwright.cli.parser import parse

    words = list(sys.argv[1:] if argv is None else argv)
    return run(parse(words), words)

"""A question to a person, where one sits there; a pipeline has to say yes beforehand."""

from __future__ import annotations

import sys

from clusterwright.finding import Where, refuse


def agreed(question: str, *, yes: bool, as_json: bool) -> bool:
    """Raises Refused where nobody could answer."""
    if yes:
        return True
    if as_json or not sys.stdin.isatty():
        raise refuse("CW9012", Where(path="--yes"), "nobody is here to be asked", "Add --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")

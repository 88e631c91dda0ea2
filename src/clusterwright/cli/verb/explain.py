"""`clusterwright explain`: what a code or a field means."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

_ABOUT = """Say what a code or a field means.

A finding's code (CW1203) comes with the reason, an example and the source of the fact behind it;
a field (pools.gpu.count) with its type, default and an example."""

_CODE = re.compile(r"cw\d{4}", re.IGNORECASE)


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "explain",
        run,
        _ABOUT,
        examples={
            "clusterwright explain CW1203": "why it is refused and what to do",
            "clusterwright explain pools.gpu.racks.nodes_per_rack": "what the field is",
        },
    )
    parser.add_argument("subject", metavar="CODE|FIELD", help="a code such as CW1203, or a field's path")


def run(arguments: argparse.Namespace) -> int:
    subject: str = arguments.subject
    facts = _code(subject.upper()) if _CODE.fullmatch(subject) else _field(subject)
    if arguments.json:
        print(json.dumps(facts, indent=1, default=str))
    else:
        _print(facts)
    return FINE


def _print(facts: dict[str, object]) -> None:
    import sys

    from clusterwright.cli.terminal.style import paint

    title, *rest = ((key, str(value)) for key, value in facts.items() if value not in (None, "", ()))
    print(paint(title[1], "bold", sys.stdout))
    for key, value in rest:
        if "\n" in value:
            print(f"\n{paint(key, 'cyan', sys.stdout)}")
            print("\n".join(f"  {line}" for line in value.splitlines()))
        else:
            print(f"{paint(f'{key}:', 'cyan', sys.stdout)} {value}")


def _code(code: str) -> dict[str, object]:
    from clusterwright.cli.explanations import explanation

    return {"code": code, **asdict(explanation(code))}


def _field(path: str) -> dict[str, object]:
    from clusterwright.spec.explain import field

    return asdict(field(path))

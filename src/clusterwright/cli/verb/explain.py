"""`clusterwright explain`: what a code or a field means."""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import asdict

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

_ABOUT = """Say what a code or a field means.

A finding's code (CW1203) comes with the reason, an example and the source of the fact behind it;
a field (pools.gpu.count) with its type, default and an example."""

_HEAD = ("code", "path", "title", "type")
_TEXT = ("why", "meaning")
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
        print(json.dumps(facts, indent=1))
    else:
        _print(**facts)
    return FINE


def _code(code: str) -> dict[str, str]:
    from clusterwright.cli.explanations import explanation

    return {"code": code, **asdict(explanation(code))}


def _field(path: str) -> dict[str, str]:
    from clusterwright.spec.explain import field

    return asdict(field(path))


def _print(*, example: str, **facts: str) -> None:
    """The subject and its words first, the example as it would be typed last."""
    from clusterwright.cli.terminal.style import paint

    subject, *rest = (facts.pop(key) for key in _HEAD if key in facts)
    print(f"{paint(subject, 'bold', sys.stdout)}  {'  '.join(rest)}")
    for text in (facts.pop(key) for key in _TEXT if key in facts):
        print(f"\n{text}")
    for key, value in facts.items():
        if value:
            print(f"\n{paint(key, 'cyan', sys.stdout)}  {value}")
    if example:
        print(f"\n{paint('example', 'cyan', sys.stdout)}")
        print("\n".join(f"  {line}" for line in example.splitlines()))

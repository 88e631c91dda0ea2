"""Six thousand broken descriptions: always a description or findings, never a traceback, never a wait."""

from __future__ import annotations

import copy
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.finding import Refused
from clusterwright.spec.codes import CODES
from clusterwright.spec.load import LoadedSpec, loads

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "clusters").glob("*.yaml"))
    if not file.stem.endswith(".lock")
]
ROUNDS = 2000
LONGEST = 2.0
"""Seconds of processor time for one text; the usual is a few thousandths."""

ODD_WORDS = [
    "yes", "no", "on", "null", "~", "true", "010", "0x1f", "1_0", "22:30", "24.10", ".inf", ".nan",
    "-0", "1e999", "2026-11-21", "<<", "=", "*a", "&a", "&a x", "*a : b", "!!python/name:os.system",
    "!x", "---", "...", "%YAML 9.9", "[", "]", "{", "}", "[[", "{{", "- ", "? ", ": ", ",", "#", "|",
    ">", "|9", "'", '"', "\\", "\\0", "@", "`", "\t", "\r", "\0", "\x85", "\u2028", "\ufeff", "\ud800",
    "\U0001f600", "a" * 5000, "9" * 500, "[" * 100, "{a: " * 100, "gpu[1-999999999]", "gpu[1-",
    "n[1-3]n[1-9999]", "-5 GiB", "1e9 PiB", "40 kW", "99999999999 days", "../../etc", "lab", "aws",
    "onprem", "default", "root", "site", "sites", "pools", "nodes", "count", "kind", "provider",
    "x: y",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**70, 0.5, "", " ", "yes", "root", "a" * 300, "gpu[1-4]", "gpu[4-1]",
    "40 kW", [], {}, [[]], [None], [{}], {"": ""}, {"a": {"a": {}}}, ["compute"], {"provider": "lab"},
    {"kind": "nfs"}, {"provider": ["lab"]}, {"provider": None}, {"kind": {}}, ["compute", "compute"],
    {"gpu": None}, "é\u200b", "\n",
]  # fmt: skip


def bytes_of(text: str, dice: random.Random) -> str:
    content = bytearray(text.encode())
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(content))
        match dice.randrange(4):
            case 0:
                content[at] = dice.randrange(256)
            case 1:
                del content[at : at + dice.randint(1, 40)]
            case 2:
                content[at:at] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 4)))
            case _:
                content[at:at] = content[at : at + dice.randint(1, 80)]
    return content.decode("utf-8", dice.choice(["replace", "surrogateescape", "ignore"]))


def tokens_of(text: str, dice: random.Random) -> str:
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(dice.randint(1, 4)):
        at, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
        match dice.randrange(5):
            case 0:
                tokens[at] = dice.choice(ODD_WORDS)
            case 1:
                tokens.insert(at, dice.choice(ODD_WORDS))
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] += tokens[other]
            case _:
                del tokens[at]
    return "".join(tokens)


def structure_of(text: str, dice: random.Random) -> str:
    body = yaml.load(text, Loader=yaml.CSafeLoader)
    for _ in range(dice.randint(1, 3)):
        places = list(containers(body))
        place = dice.choice(places)
        key = dice.choice(list(place) if isinstance(place, dict) else range(len(place)))
        match dice.randrange(5):
            case 0:
                del place[key]
            case 1:
                place[key] = copy.deepcopy(dice.choice(ODD_VALUES))
            case 2:
                place[key] = copy.deepcopy(dice.choice(places))
            case 3 if isinstance(place, dict):
                place[dice.choice([word for word in ODD_WORDS if word.isprintable()])] = place.pop(key)
            case _:
                place[key] = [copy.deepcopy(place[key])] * dice.randint(1, 3)
        if not any(True for _ in containers(body)):
            break
    style = dice.choice([True, False, None])
    return str(yaml.dump(body, Dumper=yaml.CSafeDumper, sort_keys=False, default_flow_style=style))


def containers(value: Any) -> Any:
    """Every mapping and list that holds something."""
    if isinstance(value, dict | list) and value:
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from containers(member)


@pytest.mark.parametrize("mutate", [bytes_of, tokens_of, structure_of])
def test_always_findings_never_a_traceback(mutate: Callable[[str, random.Random], str]) -> None:
    dice = random.Random(mutate.__name__)
    accepted = 0
    for _ in range(ROUNDS):
        text = mutate(dice.choice(EXAMPLES), dice)
        started = time.process_time()
        accepted += outcome(text)
        assert time.process_time() - started < LONGEST, text
    assert 0 < accepted < ROUNDS, "the mutations must leave some texts valid and break most"


def outcome(text: str) -> bool:
    """Whether the text is accepted. Fails when it ends in neither of the two ways."""
    try:
        loaded = loads(text, "c.yaml")
    except Refused as refused:
        assert refused.findings
        for finding in refused.findings:
            assert finding.code in CODES, finding
            assert finding.where.file == "c.yaml"
            assert 1 <= finding.where.line <= len(text.splitlines() or [""]), finding
            assert finding.what
            assert finding.remedy
            assert str(finding).isprintable(), finding
        return False
    except Exception as error:
        raise AssertionError(f"{error!r} for:\n{text}") from error
    assert isinstance(loaded, LoadedSpec)
    return True

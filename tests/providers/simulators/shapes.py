"""The shape of a program's output: labels in their order and nesting, each with the form of its value.

A file of captured/ writes down the shape of one public capture, as facts: a label a line, and for a value its
form in braces. The shape of what a simulator prints is taken in the same way, and the two are compared.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

CAPTURED = Path(__file__).with_name("captured")
FORMS = {
    "n": r"\d+",
    "-n": r"-?\d+",
    "f": r"\d+\.\d+",
    "number": r"\d+(\.\d+)?",
    "hex": r"0x[0-9A-Fa-f]+",
    "bare hex": r"[0-9A-Fa-f]+",
    "version": r"\d+(\.\d+)+",
    "word": r"\S+",
    "words": r"\S.*",
    "text": r".*",
    "date": r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}",
    "time": r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}",
    "gpu": r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "mig": r"MIG-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "bus": r"[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-9A-F]",
    "slot": r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}",
    "long": r"[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-9A-F]",
    "serial": r"\d{13}|SIMULATED\d{4}",
    "rule": r"[-=+|]{3,}",
    "pid": r"(\d+|'<unknown>')",
    "gpus": r"GPU\d+( GPU\d+)*",
    "nics": r"NIC\d+( NIC\d+)*",
    "paths": r"(X|NV\d+|PIX|PXB|PHB|NODE|SYS)( (X|NV\d+|PIX|PXB|PHB|NODE|SYS))*",
    "cpus": r"\d+([,-]\d+)*",
    "links": r"[UDX_]( [UDX_])*",
    "ids": r"[0-9a-f]{4}(, [0-9a-f]{4})*",
    "nid": r"[\w.:]+@\w+",
    "address": r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]",
    "addresses": r"([0-9a-f:]+\.[0-9a-f] ?)+",
    "tool": r"\d+(\.\d+)+(\+\w+)?",
    "simulated": r"SIMULATED\d+",
    "ability": r"ENABLED|DISABLED",
    "abilities": r"((ENABLED|DISABLED) ?)+",
    "violation": r"ACTIVE|NOT ACTIVE",
    "mask": r"[0-9A-F]{16}",
    "numbers": r"(\d+ ?)+",
    "kinds": r"((SELF|XGMI|PCIE) ?)+",
    "bandwidths": r"((N/A|\d+-\d+) ?)+",
    "states": r"((SELF|U|D|X|N/A) ?)+",
    "carried": r"((N/A|\d+ KB) ?)+",
}
"""What may stand in braces: one of these or a word; with `or` between several, one of them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A label below others, and its value."""

    path: str
    value: str


@dataclass(frozen=True, slots=True)
class Capture:
    """One public capture: where it is, of what machine, how the lab plays it, and its shape."""

    program: str
    name: str
    head: Mapping[str, str]
    commands: tuple[str, ...]
    shape: tuple[Fact, ...]

    @property
    def kind(self) -> str:
        return self.head["shape"]

    @property
    def driver(self) -> tuple[int, ...]:
        """The newest where it says none: what it prints is the same in all of them."""
        return tuple(int(part) for part in self.head.get("driver", "9999").split("."))

    @property
    def whole(self) -> bool:
        """What is beyond a capture of which a part is public may be there in the rest."""
        return "part" not in self.head


@cache
def captures() -> tuple[Capture, ...]:
    return tuple(_read(path) for path in sorted(CAPTURED.glob("*/*.txt")))


def _read(path: Path) -> Capture:
    head, _, body = path.read_text(encoding="utf-8").partition("\n---\n")
    known = dict(re.findall(r"^# ([a-z]+): (.*)$", head, re.MULTILINE))
    commands = tuple(re.findall(r"^\$ (.*)$", head, re.MULTILINE))
    shape = _lines(body) if known["shape"] == "lines" else _tree(body)
    return Capture(path.parent.name, path.stem, known, commands, tuple(shape))


def shape_of(kind: str, text: str) -> tuple[Fact, ...]:
    """Of what a program printed: `lines`, `tree` (indented labels), `xml`, `json` or `csv`."""
    readers: dict[str, Callable[[str], Iterable[Fact]]] = {
        "lines": _lines,
        "tree": _tree,
        "xml": lambda given: _elements(ElementTree.fromstring(given), ""),
        "json": lambda given: _members(json.loads(given), ""),
        "csv": _columns,
    }
    return tuple(readers[kind](text))


def _lines(text: str) -> Iterator[Fact]:
    """Blanks between columns count once: their number is that of the values' width."""
    for line in text.splitlines():
        if line.strip():
            yield Fact(re.sub(r"[ \t]+", " ", line.rstrip()), "")


def _tree(text: str) -> Iterator[Fact]:
    above: list[tuple[int, str]] = []
    for line in text.expandtabs(4).splitlines():
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        above = [(level, label) for level, label in above if level < depth]
        label, _, value = re.sub(r":$", ": ", line.strip()).partition(": ")
        label = label.strip()
        yield Fact(" / ".join([*(each for _, each in above), label]), value.strip())
        above.append((depth, label))


def _elements(element: ElementTree.Element, above: str) -> Iterator[Fact]:
    path = f"{above} / {element.tag}" if above else element.tag
    yield Fact(path, (element.text or "").strip())
    for child in element:
        yield from _elements(child, path)


def _members(found: object, above: str) -> Iterator[Fact]:
    if isinstance(found, dict):
        for name, value in found.items():
            path = f"{above} / {name}" if above else name
            yield Fact(path, "" if isinstance(value, (dict, list)) else _scalar(value))
            yield from _members(value, path)
    elif isinstance(found, list):
        for each in found:
            yield from _members(each, above)


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _columns(text: str) -> Iterator[Fact]:
    heads, first, *_ = csv.reader(io.StringIO(text), skipinitialspace=True)
    yield from (Fact(head, cell) for head, cell in zip(heads, first, strict=True))


@cache
def _pattern(written: str) -> re.Pattern[str]:
    parts = re.split(r"\{([^{}]*)\}", written)
    text = "".join(_form(part) if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
    return re.compile(text)


def _form(name: str) -> str:
    return "|".join(FORMS.get(word) or re.escape(word) for word in name.split(" or ")).join(("(?:", ")"))


def fits(written: str, found: str) -> bool:
    return _pattern(written).fullmatch(found) is not None


def differences(capture: Capture, ours: tuple[Fact, ...], known: Iterable[Capture]) -> list[str]:
    """What ours lacks, has elsewhere, in another form, or beyond what any capture of as old a driver has."""
    found, place, matched = [], -1, set()
    for wanted in dict.fromkeys(capture.shape):
        here = [number for number, fact in enumerate(ours) if fits(wanted.path, fact.path)]
        if not here:
            found.append(f"lacks: {wanted.path}")
            continue
        matched.update(here)
        wrong = [ours[number].value for number in here if not fits(wanted.value, ours[number].value)]
        if wrong:
            found.append(f"form: {wanted.path}: {wanted.value!r} is no form of {wrong[0]!r}")
        if here[0] < place:
            found.append(f"order: {wanted.path}")
        place = max(place, here[0])
    others = (each for each in known if each.program == capture.program and each.driver <= capture.driver)
    paths = [fact.path for other in others for fact in other.shape]
    for number, fact in enumerate(ours):
        if capture.whole and number not in matched and not any(fits(path, fact.path) for path in paths):
            found.append(f"extra: {fact.path}")
    return list(dict.fromkeys(found))

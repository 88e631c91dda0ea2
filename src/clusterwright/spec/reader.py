"""Strict YAML: text in, a Document out.

What two readers of YAML could take for different things is refused instead of guessed. Numbers with a
fraction stay text, because `24.10` is a release and no value of a description is a fraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from clusterwright.finding import Finding, Where
from clusterwright.spec.document import Document, Path, Place, dotted, shown
from clusterwright.spec.syntax import syntax_finding

MAX_DEPTH = 20
MAX_VALUES = 200_000

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,99})")
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_BOOLEAN_WORD = re.compile(r"(?i:yes|no|on|off)")
_ODD_NUMBER = re.compile(
    r"[-+]?0[0-9_]+|[-+]?0[box][0-9a-fA-F_]+|\+[0-9]+|[-+]?[1-9][0-9]*_[0-9_]*|[-+]?[1-9][0-9]*(:[0-5]?[0-9])+"
)


@dataclass(slots=True)
class _Open:
    """A collection that is still being read."""

    value: dict[str, object] | list[object]
    path: Path
    anchor: str | None
    key: str | None = None
    twice: bool = False
    size: int = 1


class _Stop(Exception):
    """Reading further makes no sense."""


class _Reader:
    """Builds values from the parser's events with a stack of its own: nesting cannot exhaust Python's."""

    def __init__(self, file: str) -> None:
        self.document = Document(file)
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[object, int]] = {}
        self.documents = 0

    def read(self, events: Iterator[yaml.Event]) -> None:
        for event in events:
            if isinstance(event, yaml.ScalarEvent):
                self.scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self.begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self.stack.pop()
                self.close(closed.value, closed.anchor, closed.size)
            elif isinstance(event, yaml.AliasEvent):
                self.alias(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    self.say(
                        "CW1006", event, "a second document", "Keep one description in a file: remove '---'"
                    )
                    raise _Stop

    def say(self, code: str, event: yaml.Event, what: str, remedy: str, path: Path | None = None) -> None:
        place = _place(event)
        where = Where(self.document.file, place.line, place.column, dotted(path or self.here))
        self.document.findings.append(Finding(code, where, what, remedy))

    @property
    def here(self) -> Path:
        """Path of the value that comes next, or of the mapping whose key comes next."""
        if not self.stack:
            return ()
        top = self.stack[-1]
        if isinstance(top.value, list):
            return (*top.path, len(top.value))
        return top.path if top.key is None else (*top.path, top.key)

    @property
    def wants_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def place(self, event: yaml.Event, collection: bool) -> None:
        path = self.here
        own = _place(event)
        self.document.places.setdefault(path, self.document.keys.get(path, own) if collection else own)

    def scalar(self, event: yaml.ScalarEvent) -> None:
        self.refuse_tag(event)
        if _CONTROL.search(event.value):
            remedy = "Write it on one line, without escapes such as \\n or \\0"
            self.say("CW1003", event, "a line break or control character inside a value", remedy)
        plain = not event.style
        if plain:
            self.refuse_ambiguous(event)
        if self.wants_key:
            self.begin_key(event)
            return
        self.place(event, collection=False)
        self.close(_plain_value(event.value) if plain else event.value, event.anchor, 1)

    def begin_key(self, event: yaml.ScalarEvent) -> None:
        top = self.stack[-1]
        assert isinstance(top.value, dict)
        key = str(event.value)
        path = (*top.path, key)
        top.twice = key in top.value
        if top.twice:
            first = self.document.keys[path].line
            what = f"{shown(key)} is given twice, first in line {first}"
            self.say("CW1008", event, what, "Keep one of the two", path)
        elif key == "<<" and not event.style:
            remedy = "Write the keys out; an alias can stand for a whole value"
            self.say("CW1011", event, "merge keys ('<<') are not part of YAML 1.2", remedy, path)
        self.document.keys.setdefault(path, _place(event))
        top.key = key

    def begin(self, event: yaml.CollectionStartEvent) -> None:
        self.refuse_tag(event)
        if self.wants_key:
            self.say("CW1013", event, "a key that is itself a list or mapping", "Use a plain word as key")
            raise _Stop
        if len(self.stack) >= MAX_DEPTH:
            what = f"more than {MAX_DEPTH} levels of nesting"
            remedy = "No part of a description is that deep: check the brackets"
            self.say("CW1012", event, what, remedy, self.here[:3])
            raise _Stop
        self.place(event, collection=True)
        new: dict[str, object] | list[object] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.stack.append(_Open(new, self.here, event.anchor))

    def alias(self, event: yaml.AliasEvent) -> None:
        if self.wants_key:
            self.say("CW1013", event, "an alias as key", "Use a plain word as key")
            raise _Stop
        known = self.anchors.get(str(event.anchor))
        if known is None:
            what = f"the alias {shown(f'*{event.anchor}')} names nothing that is complete above it"
            self.say("CW1011", event, what, "Define it before with '&', and never inside itself")
            raise _Stop
        self.place(event, collection=False)
        value, size = known
        self.close(value, None, size)

    def close(self, value: object, anchor: str | None, size: int) -> None:
        """Hand a finished value to the collection around it."""
        if anchor is not None:
            self.anchors[anchor] = (value, size)
        if not self.stack:
            self.document.value = value
            return
        top = self.stack[-1]
        top.size += size
        if top.size > MAX_VALUES:
            where = self.document.where(self.here)
            what = f"more than {MAX_VALUES} values, aliases counted as often as they are used"
            self.document.findings.append(Finding("CW1012", where, what, "Split it into several clusters"))
            raise _Stop
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is not None:
            if not top.twice:
                top.value[top.key] = value
            top.key = None

    def refuse_tag(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag is not None:
            self.say("CW1010", event, f"the tag {shown(event.tag)}", "Remove it: a description has no tags")

    def refuse_ambiguous(self, event: yaml.ScalarEvent) -> None:
        text = event.value
        if _BOOLEAN_WORD.fullmatch(text):
            what = f"{shown(text)} is text to some readers of YAML and true or false to others"
            remedy = f'Write true or false, or "{text}" when the text is meant'
        elif _ODD_NUMBER.fullmatch(text):
            what = f"{shown(text)} is a different number to different readers of YAML"
            remedy = "Write the decimal number, or put it in quotes when text is meant"
        else:
            return
        self.say("CW1009", event, what, remedy, (*self.here, text) if self.wants_key else self.here)


def _place(event: yaml.Event) -> Place:
    assert event.start_mark is not None
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)


def _plain_value(text: str) -> object:
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return int(text) if _INTEGER.fullmatch(text) else text


def read(text: str, file: str) -> Document:
    """Parse a text. Findings are in the document; its value is None where reading had to stop."""
    text = text.removeprefix("\ufeff")
    reader = _Reader(file)
    if strange := _UNREADABLE.search(text):
        reader.document.findings.append(_unreadable(text, strange.start(), file))
        return reader.document
    try:
        reader.read(yaml.parse(text, Loader=_Loader))
    except _Stop:
        reader.document.value = None
    except yaml.YAMLError as error:
        reader.document.value = None
        reader.document.findings.append(syntax_finding(error, text, file))
    return reader.document


def _unreadable(text: str, position: int, file: str) -> Finding:
    lines = f"{text[:position]}x".splitlines()
    where = Where(file, len(lines), len(lines[-1]))
    what = f"the character U+{ord(text[position]):04X}, which no text file should hold"
    return Finding("CW1003", where, what, "Remove it; the file must be plain UTF-8 text")

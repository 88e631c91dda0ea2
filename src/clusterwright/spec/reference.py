"""The reference of the description, written from the models: `python -m clusterwright.spec.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from clusterwright.spec import kind
from clusterwright.spec.codes import CODES
from clusterwright.spec.forms import FORMS
from clusterwright.spec.schema import Schema, schema

FILE = Path("docs/description.md")

_INTRODUCTION = """\
# The description

<!-- Written by `python -m clusterwright.spec.reference`. Change the models, not this file. -->

One YAML file describes one cluster. Its JSON Schema is `schemas/cluster.schema.json`; with this first line
an editor completes and checks it:

```yaml
# yaml-language-server: $schema=../schemas/cluster.schema.json
```

`clusterwright init` writes a description to start from, `clusterwright validate FILE` shows every mistake at
once, and `clusterwright explain FIELD` says here in the terminal what a field means.

YAML is read strictly: a key twice, `yes`/`no`/`on`/`off` without quotes, `010`, `22:30`, tags, merge keys and
more than one document are refused. Numbers with a fraction stay text, so `release: 25.11` needs no quotes.
An anchor and its alias may stand for a whole value.
"""


def text() -> str:
    """The whole reference."""
    order = list(_reachable("ClusterSpec"))
    sections = [_section(noun) for noun in order]
    return "\n".join([_INTRODUCTION, *sections, _forms(), _codes()])


def _noun(name: str) -> Schema:
    return schema() if name == "ClusterSpec" else schema()["$defs"][name]


def _reachable(name: str, seen: set[str] | None = None) -> Iterator[str]:
    seen = set() if seen is None else seen
    if name in seen or "properties" not in _noun(name):
        return
    seen.add(name)
    yield name
    for part in _noun(name)["properties"].values():
        for noun in kind.nouns(part):
            yield from _reachable(noun, seen)


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})"


def _section(name: str) -> str:
    noun = _noun(name)
    lines = [f"## {name}", "", noun["description"].partition("\n")[0], ""]
    lines += ["| field | what it takes | default | meaning |", "|---|---|---|---|"]
    for key, part in noun["properties"].items():
        taken = kind.kind(part, _link)
        fallback = kind.default(part, key in noun.get("required", []))
        shown = fallback if fallback in ("required", "none", "see there") else f"`{fallback}`"
        lines.append(f"| `{key}` | {_cell(taken)} | {_cell(shown)} | {_cell(part['description'])} |")
    return "\n".join([*lines, ""])


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")


def _forms() -> str:
    lines = ["## Forms of text", "", "| what | how it is written |", "|---|---|"]
    lines += [f"| {_cell(form.name)} | {_cell(form.remedy)} |" for form in FORMS.values()]
    return "\n".join([*lines, ""])


def _codes() -> str:
    lines = [
        "## Findings",
        "",
        "What `validate` says of the description itself.",
        "",
        "| code | what | why |",
    ]
    lines.append("|---|---|---|")
    lines += [f"| `{code}` | {_cell(one.title)} | {_cell(one.why)} |" for code, one in CODES.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(text(), encoding="utf-8")

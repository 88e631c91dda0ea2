"""What a machine is asked by a survey, as one command line, and what it answers."""

from __future__ import annotations

import base64
import json
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterwright.bundle import rows
from clusterwright.bundle.wanted import Wanted
from clusterwright.converge import look
from clusterwright.operate.own import seen

NO_PYTHON = "clusterwright: no python3"
_PROGRAM = """\
import base64,json,zlib
sent=json.loads(zlib.decompress(base64.b64decode({})))
def run(name,asked):
    space={{"__name__":name}}
    exec(compile(sent[name],name,"exec"),space)
    return space["look"](asked)
print(json.dumps({{"seen":run("seen",sent["asked"]),"looked":run("look",sent["asked"])}}))
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """What one machine answered."""

    seen: Mapping[str, Any]
    changes: Mapping[str, Sequence[str]]
    """What `up` would do: `install`, `exchange`, `replace`, `write`, `units`, `logins`; and what it would
    leave as it is, although it differs: `observed`."""
    lowered: tuple[str, ...] = ()
    """Packages of `exchange` whose version would go down."""
    applied: bool = False
    """Whether clusterwright brought it to a description before."""


def command(wanted: Wanted, mounts: Sequence[str]) -> str:
    """For a shell: the program that `up` looks with, and the one that looks at everything else.

    `mounts` are where shares will be."""
    asked = {**rows.question(wanted), "mounts": [*mounts]}
    # A secret has no content here to compare with.
    named = {file.path for file in wanted.files if file.content is not None}
    asked["files"] = [row for row in asked["files"] if row["path"] in named]
    sent = {"asked": asked, "look": _text(look), "seen": _text(seen)}
    packed = base64.b64encode(zlib.compress(json.dumps(sent).encode(), 9)).decode()
    start = _PROGRAM.format(repr(packed))
    absent = f"command -v python3 >/dev/null || {{ echo {shlex.quote(NO_PYTHON)}; exit 0; }}"
    return f"{absent}\nexec python3 -BIS -c {shlex.quote(start)}"


def answer(said: str) -> Machine | None:
    """None for what is no answer."""
    line = next((line for line in said.splitlines() if line.startswith('{"seen"')), "")
    try:
        body = json.loads(line)
        looked = body["looked"]
        return Machine(body["seen"], _changes(looked), tuple(looked["newer"]), bool(looked["digest"]))
    except (ValueError, KeyError, TypeError):
        return None


def _changes(looked: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    packages: Mapping[str, str] = looked["packages"]
    rows: dict[str, list[str]] = {
        "install": sorted(name for name, there in packages.items() if not there),
        "exchange": sorted(f"{name} {there}" for name, there in packages.items() if there),
    }
    for line in looked["drift"]:
        what, _, how = str(line).partition(": ")
        if what.startswith("/"):
            rows.setdefault("write" if how == "missing" else "replace", []).append(what)
        elif what.startswith("unit "):
            rows.setdefault("units", []).append(f"{what.removeprefix('unit ')} {how}")
        elif what.startswith(("user ", "group ")):
            rows.setdefault("logins", []).append(line)
    rows["observed"] = looked["observed"]
    return {kind: sorted(set(lines)) for kind, lines in rows.items() if lines}


def _text(module: Any) -> str:
    return Path(module.__file__).read_text()

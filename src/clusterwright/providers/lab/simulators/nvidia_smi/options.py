"""The command line of nvidia-smi without a subcommand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_QUERIES = ("gpu", "compute-apps", "remapped-rows", "retired-pages")
# Option → (what it changes, whether it takes a value); all wait for `settings.change`.
_CHANGES = {
    "-pm": "persistence_mode",
    "--persistence-mode": "persistence_mode",
    "-mig": "mig_mode",
    "--multi-instance-gpu": "mig_mode",
    "-p": "reset_ecc",
    "--reset-ecc-errors": "reset_ecc",
    "-c": "compute_mode",
    "--compute-mode": "compute_mode",
    "-e": "ecc_mode",
    "--ecc-config": "ecc_mode",
    "-lgc": "gpu_clocks",
    "--lock-gpu-clocks": "gpu_clocks",
    "-pl": "power_limit",
    "--power-limit": "power_limit",
}
_BARE_CHANGES = {
    "-r": "gpu_reset",
    "--gpu-reset": "gpu_reset",
    "-rgc": "reset_gpu_clocks",
    "--reset-gpu-clocks": "reset_gpu_clocks",
}


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    identity: str = ""
    file: str = ""
    query: str = ""
    """`gpu`, `compute-apps`, …: what the fields are of."""
    fields: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    report: bool = False
    xml: bool = False
    display: tuple[str, ...] = ()
    list_gpus: bool = False
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Found:
    """Collected while reading; None of it is known before the last word."""

    values: dict[str, str] = field(default_factory=dict)
    changes: list[tuple[str, str]] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)


_VALUES = {
    "-i": "identity", "--id": "identity", "-f": "file", "--filename": "file",
    "-d": "display", "--display": "display", "--format": "format",
}  # fmt: skip
_FLAGS = {
    "-q": "report", "--query": "report", "-a": "report", "-x": "xml", "--xml-format": "xml",
    "-L": "list_gpus", "--list-gpus": "list_gpus",
}  # fmt: skip


def parse(arguments: Sequence[str]) -> Options | None:
    """None for a combination that nvidia-smi refuses."""
    found = _Found()
    words = iter(arguments)
    for word in words:
        name, joined, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in _FLAGS and not joined:
            found.flags.add(_FLAGS[name])
        elif name in _BARE_CHANGES:
            found.changes.append((_BARE_CHANGES[name], ""))
        elif name in _VALUES or name in _CHANGES or name.removeprefix("--query-") in _QUERIES:
            given = value if joined else next(words, None)
            if not given:
                return None
            if name in _CHANGES:
                found.changes.append((_CHANGES[name], given))
            else:
                found.values[_VALUES.get(name, name)] = given
        else:
            return None
    return _options(found)


def _options(found: _Found) -> Options | None:
    queries = [name for name in found.values if name.startswith("--query-")]
    fields = _words(found.values.get(queries[0], "")) if queries else ()
    form = _words(found.values.get("format", ""))
    if len(queries) > 1 or (queries and "csv" not in form) or (form and not queries):
        return None
    if "xml" in found.flags and "report" not in found.flags:
        return None
    return Options(
        identity=found.values.get("identity", ""),
        file=found.values.get("file", ""),
        query=queries[0].removeprefix("--query-") if queries else "",
        fields=fields,
        format=form,
        report="report" in found.flags,
        xml="xml" in found.flags,
        display=tuple(word.upper() for word in _words(found.values.get("display", ""))),
        list_gpus="list_gpus" in found.flags,
        changes=tuple(found.changes),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())

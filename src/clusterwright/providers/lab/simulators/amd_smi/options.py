"""The command line of amd-smi, and how it refuses what it does not know.

Words, codes and exit status of refusals: github.com/ROCm/amdsmi amdsmi_cli/amdsmi_cli_exceptions.py, 2026-11.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..hardware import SimulatedGpu

COMMANDS = {
    "version": "Display version information",
    "list": "List GPU information",
    "static": "Gets static information about the specified GPU",
    "firmware": "Gets firmware information about the specified GPU",
    "bad-pages": "Gets bad page information about the specified GPU",
    "metric": "Gets metric/performance information about the specified GPU",
    "process": "Lists compute process information running on the specified GPU",
    "topology": "Displays topology information of the devices",
    "xgmi": "Displays xgmi information of the devices",
    "partition": "Displays partition information of the devices",
    "ras": "Retrieve RAS (CPER) entries from the driver",
}
_ALIASES = {"ucode": "firmware"}
_NOT_SIMULATED = ("event", "set", "reset", "monitor", "node", "default")
_MODIFIERS_NOT_SIMULATED = ("--file", "--watch", "-w", "--watch_time", "-W", "--iterations", "-i")
_REFUSED = 1


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for."""

    command: str
    form: str = "text"
    parts: frozenset[str] = frozenset()
    """Those that were named; none: all."""
    gpus: tuple[str, ...] = ()
    """As they were named; none: all."""
    values: dict[str, str] = field(default_factory=dict)
    help: bool = False


class Refused(Exception):
    """A command line that the real one refuses: the name of its exception, what it says, and its code."""

    def __init__(self, kind: str, said: str, code: int, form: str = "text") -> None:
        told = {
            "json": json.dumps({"error": said, "code": code}),
            "csv": f"error,code\n{said}, {code}",
        }.get(form, f"{said} Error code: {code}")
        super().__init__(f"amdsmi_cli_exceptions.AmdSmi{kind}Exception: {told}\n")
        self.status = _REFUSED


def read(words: Sequence[str]) -> Options:
    """A word before the command, or that is none, is refused; so is an option that the command has not."""
    form = "json" if "--json" in words else "csv" if "--csv" in words else "text"
    first, *rest = words
    command = _ALIASES.get(first.lower(), first.lower())
    if command in _NOT_SIMULATED:
        said = f"Command '{command}' is not supported on the system. Run '--help' for more info."
        raise Refused("CommandNotSupported", said, -7, form)
    if command not in COMMANDS:
        said = (
            f"AMD-SMI Command '{first}' is invalid. Must receive valid AMD-SMI Command first. "
            "Run 'amd-smi -h' for more info."
        )
        raise Refused("InvalidSubcommand", said, -10, form)
    return _Reader(command, form, rest).options()


class _Reader:
    def __init__(self, command: str, form: str, words: Sequence[str]) -> None:
        self.command, self.form, self.words = command, form, list(words)
        self.parts: set[str] = set()
        self.values: dict[str, str] = {}
        self.gpus: tuple[str, ...] = ()
        self.help = False

    def options(self) -> Options:
        known = _known(self.command)
        while self.words:
            word, _, value = self.words.pop(0).partition("=")
            if word in known:
                part, argument = known[word]
                self.parts.update(part.split())
                if argument == "optional":
                    self.values[part] = " ".join(self._words())
                elif argument:
                    self.values[part] = value or self._value(word)
            elif word in ("-g", "--gpu"):
                self.gpus = tuple(self._several(word))
            elif word in ("-h", "--help"):
                self.help = True
            elif word == "--loglevel":
                self._value(word)
            elif word in _MODIFIERS_NOT_SIMULATED:
                said = f"Parameter '{word}' is not supported on the system. Run '--help' for more info."
                raise Refused("ParameterNotSupported", said, -8, self.form)
            elif word not in ("--json", "--csv"):
                said = f"Parameter '{word}' is invalid. Run 'amd-smi {self.command} -h' for more info."
                raise Refused("InvalidParameter", said, -2, self.form)
        return Options(self.command, self.form, frozenset(self.parts), self.gpus, self.values, self.help)

    def _value(self, option: str) -> str:
        return self._several(option, 1)[0]

    def _words(self, most: int = 99) -> list[str]:
        """Those up to the next option."""
        found: list[str] = []
        while self.words and len(found) < most and not self.words[0].startswith("-"):
            found.append(self.words.pop(0))
        return found

    def _several(self, option: str, most: int = 99) -> list[str]:
        found = self._words(most)
        if not found:
            said = f"Parameter '{option}' requires a value. Run '--help' for more info."
            raise Refused("MissingParameterValue", said, -6, self.form)
        return found


def chosen(gpus: Sequence[SimulatedGpu], options: Options) -> list[tuple[int, SimulatedGpu]]:
    """Each with its number: those that were named by number, address or UUID."""
    numbered = list(enumerate(gpus))
    if not options.gpus or "all" in options.gpus:
        return numbered
    found: list[tuple[int, SimulatedGpu]] = []
    for name in options.gpus:
        mine = [(n, gpu) for n, gpu in numbered if name.lower() in (str(n), gpu.pci, uuid_of(gpu).lower())]
        if not mine:
            raise Refused("DeviceNotFound", f"Can not find a device: GPU '{name}'", -3, options.form)
        found += mine
    return found


def uuid_of(gpu: SimulatedGpu) -> str:
    """amd-smi writes no `GPU-` before it."""
    return gpu.uuid.removeprefix("GPU-")


@cache
def _known(command: str) -> dict[str, tuple[str, str]]:
    """Each option, long and short, with the parts it asks for and what follows it, if anything."""
    with Path(__file__).with_name("options.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["command"] == command]
    return {
        name: (row["part"], row["argument"]) for row in rows for name in (row["option"], row["short"]) if name
    }

"""amd-smi of a node with AMD GPUs: each command as text, as JSON or as CSV, as ROCm 7 prints it.

Names, nesting and forms of values: tests/providers/simulators/captured/amd-smi-* names the sources; 2026-11.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hardware import SimulatedGpu
from ..node import Answer, Node
from . import devices, links, partitions
from .metric import metric
from .options import COMMANDS, Options, Refused, chosen, read
from .sheet import before, library_of
from .static import static
from .summary import summary
from .values import NOT_TOLD, Tree, as_csv, as_json, as_text

_NO_DRIVER = "ERROR:root:Drivers not loaded (amdgpu, amd_hsmp or hsmp_acpi drivers not found in modules)\n"
_SIMULATED = "Simulated hardware of a clusterwright lab node.\n"
_NO_DRIVER_STATUS = 255
_CPER = "timestamp            gpu_id  severity             file_name         list of afids\n"
_BELOW_A_KEY = ("static", "metric")
"""Whose JSON is below a key from ROCm 7 on, and a list before."""
_NO_CSV = ("xgmi", "partition", "ras")


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """What the real one prints; a refusal goes to the standard error."""
    if not node.module("amdgpu") and "version" not in arguments[:1]:
        return Answer("", _NO_DRIVER_STATUS, _NO_DRIVER)
    if not arguments:
        return Answer(summary(node))
    if arguments[0] in ("-h", "--help"):
        return Answer(_help(node))
    try:
        options = read(arguments)
        if options.help:
            usage = f"usage: amd-smi {options.command} [-h]"
            return Answer(f"{usage}\n\n{COMMANDS[options.command]}\n{_SIMULATED}")
        if options.form == "csv" and options.command in _NO_CSV:
            said = "Parameter '--csv' is not supported on the system. Run '--help' for more info."
            raise Refused("ParameterNotSupported", said, -8, "csv")
        return _told(node, options)
    except Refused as refused:
        return Answer("", refused.status, str(refused))


def _told(node: Node, options: Options) -> Answer:
    if options.command == "version":
        told = devices.version(node, options)
        return Answer(_form([told], options.form) or devices.version_text(told))
    gpus = chosen(node.gpus, options)
    if options.command == "topology":
        return _topology(gpus, options)
    if options.command == "xgmi":
        return _xgmi(gpus, options)
    if options.command == "partition":
        tables = partitions.partition(gpus, options.parts)
        as_words = partitions.partition_text(tables) + _SIMULATED
        return Answer(as_json(tables) if options.form == "json" else as_words)
    if options.command == "ras":
        return _ras(options)
    rows = [{"gpu": number, **_of_one(node, gpu, number, options)} for number, gpu in gpus]
    if options.form == "json" and options.command in _BELOW_A_KEY and not before(node.installed, "7"):
        return Answer(as_json({"gpu_data": rows}))
    return Answer(_form(rows, options.form) or as_text(rows) + _SIMULATED)


def _ras(options: Options) -> Answer:
    """No record is written of a simulated error: the list is empty, and there is none to read."""
    if "afid" in options.parts:
        path = options.values.get("cper_file", "")
        raise Refused("InvalidFilePath", f"Path '{path}' cannot be found.", -4, options.form)
    if "cper" not in options.parts:
        said = "Command 'ras' requires a target argument. Run 'amd-smi ras -h' for more info."
        raise Refused("RequiredCommand", said, -9, options.form)
    return Answer(_CPER + _SIMULATED)


def _form(rows: Sequence[Tree], form: str) -> str:
    """Empty for text, which is not the same of all."""
    return as_json(rows) if form == "json" else as_csv(rows) if form == "csv" else ""


def _of_one(node: Node, gpu: SimulatedGpu, number: int, options: Options) -> Tree:
    if options.command == "list":
        return devices.listed(gpu, number, options)
    if options.command == "process":
        return devices.process(options)
    if options.command == "static":
        told = static(node, gpu, options.values.get("clock", ""))
    else:
        parts = {"metric": metric, "bad-pages": devices.bad_pages, "firmware": devices.firmware}
        told = parts[options.command](gpu)
    return {name: value for name, value in told.items() if name in options.parts or not options.parts}


def _topology(gpus: Sequence[tuple[int, SimulatedGpu]], options: Options) -> Answer:
    if options.form == "json":
        return Answer(as_json(links.topology(gpus, options.parts)))
    if options.form == "csv":
        return Answer(as_csv(links.topology_rows(gpus, options.parts)))
    return Answer(links.topology_text(gpus, options.parts) + _SIMULATED)


def _xgmi(gpus: Sequence[tuple[int, SimulatedGpu]], options: Options) -> Answer:
    tables = {
        "xgmi_metric": (links.xgmi_metric, links.xgmi_metric_text),
        "link_status": (links.xgmi_status, links.xgmi_status_text),
    }
    wanted = {name: each for name, each in tables.items() if name in options.parts or not options.parts}
    if options.form == "json":
        return Answer(as_json({name: rows(gpus) for name, (rows, _) in wanted.items()}))
    return Answer("".join(text(gpus) for _, text in wanted.values()) + _SIMULATED)


def _help(node: Node) -> str:
    commands = "".join(f"    {name:<18}{what}\n" for name, what in COMMANDS.items())
    return (
        "usage: amd-smi [-h]  ...\n\nAMD System Management Interface | "
        f"Version: {library_of(node.installed)} | ROCm version: {node.installed or NOT_TOLD} | "
        "Platform: Linux Baremetal (simulated)\n\n"
        "options:\n  -h, --help          show this help message and exit\n\n"
        f"AMD-SMI Commands:\n                      Descriptions:\n{commands}"
    )

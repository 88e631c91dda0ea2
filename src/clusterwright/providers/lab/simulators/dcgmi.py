"""dcgmi of DCGM 4: discovery, health, NVLink state and field values. Needs a host engine, as the real one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from . import diagnostic
from .node import Answer, Node
from .reading import Reading, read_gpu
from .table import two_columns

NO_CONNECTION = 235  # -21, DCGM_ST_CONNECTION_NOT_VALID, as an exit status
_CANNOT_CONNECT = (
    "Error: unable to establish a connection to the specified host: localhost\n"
    "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.\n"
)
_FIELDS = {
    "100": ("SMCLK", ".clock"),
    "101": ("MMCLK", ".model.memory_mhz"),
    "150": ("TMPTR", ".temperature"),
    "155": ("POWER", ".watts"),
    "203": ("GPUTL", "0"),
    "230": ("XIDER", ".last_xid"),
    "251": ("FBFRE", ".memory_free"),
    "252": ("FBUSD", "0"),
    "310": ("ESVTL", ".gpu.ecc.corrected"),
    "311": ("EDVTL", ".gpu.ecc.uncorrected"),
    "394": ("URRNM", ".gpu.ecc.remapped_rows"),
}
"""DCGM's field numbers and the short names that dmon heads its columns with (dcgm_fields.h)."""


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """What this node's dcgmi prints."""
    command, words = (arguments[0], arguments[1:]) if arguments else ("", ())
    if command in ("--version", "-v"):
        return Answer(f"\ndcgmi  version: {node.installed or 'unknown'} (simulated by clusterwright)\n\n")
    commands = {
        "diag": diagnostic.answer,
        "discovery": _discovery,
        "dmon": _monitor,
        "health": _health,
        "nvlink": _nvlink,
    }
    if command not in commands:
        return Answer(f"Error: the simulated dcgmi does not know the command {command!r}\n", 255)
    if not node.runs("nv-hostengine"):
        return Answer(_CANNOT_CONNECT, NO_CONNECTION)
    return commands[command](node, words)


def readings(node: Node) -> list[Reading]:
    """The GPUs that NVML gives the host engine."""
    if node.loaded is None or node.library_of_driver != node.loaded:
        return []
    return [read_gpu(node, gpu) for gpu in node.gpus]


def _discovery(node: Node, arguments: Sequence[str]) -> Answer:
    if not {"-l", "--list", "-c"} & set(arguments):
        return Answer("Error: -l or -c is required\n", 255)
    found = readings(node)
    rule = f"+{'-' * 8}+{'-' * 70}+\n"
    text = f"{len(found)} GPU{'' if len(found) == 1 else 's'} found.\n{rule}"
    text += f"| GPU ID | {'Device Information':<68} |\n{rule}"
    for number, reading in enumerate(found):
        facts = (
            f"Name: {reading.gpu.model}",
            f"PCI Bus ID: {reading.bus_id}",
            f"Device UUID: {reading.gpu.uuid}",
        )
        for line, fact in enumerate(facts):
            text += f"| {number if line == 0 else '':<6} | {fact:<68} |\n"
        text += rule
    if not found:
        text += rule
    return Answer(text + _switches(node))


def _switches(node: Node) -> str:
    """Four third-generation NVSwitches join the eight GPUs of an HGX H100 or H200; then cards and Grace."""
    hopper = any(reading.model.architecture == "Hopper" and reading.model.links for reading in readings(node))
    count = 4 if hopper and node.hardware.nvlink_domain == 8 else 0
    rule = f"+{'-' * 11}+\n"
    rows = "".join(f"| {number:<9} |\n{rule}" for number in range(count))
    text = f"{count} NvSwitches found.\n{rule}| Switch ID |\n{rule}{rows}"
    card = f"+{'-' * 10}+\n"
    cpu = f"+{'-' * 8}+{'-' * 70}+\n"
    text += f"0 ConnectX found.\n{card}| ConnectX |\n{card}"
    return f"{text}0 CPUs found.\n{cpu}| CPU ID | {'Device Information':<68} |\n{cpu}"


def _health(node: Node, arguments: Sequence[str]) -> Answer:
    words = list(arguments)
    if {"-s", "--set"} & set(words):
        node.remember("dcgm_health", words[-1])
        return Answer("Health monitor systems set successfully.\n")
    if {"-f", "--fetch"} & set(words):
        watched = "On" if node.setting("dcgm_health") else "Off"
        systems = (
            "PCIe",
            "NVLINK",
            "Memory",
            "SM",
            "InfoROM",
            "Thermal",
            "Power",
            "Driver",
            "NvSwitch NF",
            "NvSwitch F",
        )
        return Answer(two_columns("Health monitor systems report", [(name, watched) for name in systems]))
    if not {"-c", "--check"} & set(words):
        return Answer("Error: -s, -f or -c is required\n", 255)
    if not node.setting("dcgm_health"):
        return Answer("Error: Health watches not enabled. Please enable watches.\n", 1)
    incidents = [
        (number, *found) for number, reading in enumerate(readings(node)) for found in _incidents(reading)
    ]
    overall = (
        "Failure"
        if any(level == "Failure" for _, level, *_ in incidents)
        else "Warning"
        if incidents
        else "Healthy"
    )
    if {"-j", "--json"} & set(words):
        return Answer(_health_json(overall, incidents))
    rows = [("Overall Health", overall)]
    for number, level, system, message in incidents:
        rows += [
            (f"GPU {number}", ""),
            ("  -> Health", level),
            (f"     -> {system}", level),
            ("        -> Error", message),
        ]
    return Answer(two_columns("Health Monitor Report", rows))


def _incidents(reading: Reading) -> list[tuple[str, str, str]]:
    gpu, found = reading.gpu, []
    if gpu.state == "failed":
        found.append(
            ("Failure", "Driver", f"GPU has fallen off the bus: XID {gpu.xids[-1] if gpu.xids else 79}")
        )
    if gpu.ecc.uncorrected:
        count = gpu.ecc.uncorrected
        found.append(("Failure", "Memory", f"Detected {count} volatile double-bit ECC error(s) in this GPU."))
    if gpu.ecc.remap_failed:
        found.append(("Failure", "Memory", "Row remapping failed: the GPU must be replaced."))
    elif gpu.ecc.remap_pending:
        found.append(("Warning", "Memory", "Row remapping is pending: reset the GPU."))
    found += [("Failure", "NVLINK", f"NvLink link {link} is currently down") for link in gpu.links_down]
    if gpu.throttle:
        found.append(("Warning", "Thermal", f"Clocks are slowed: {', '.join(gpu.throttle)}"))
    return found


def _health_json(overall: str, incidents: list[tuple[int, str, str, str]]) -> str:
    entities: dict[str, dict[str, object]] = {}
    for number, level, system, message in incidents:
        known = entities.setdefault(
            str(number), {"entity_group": "GPU", "entity_id": number, "incidents": []}
        )
        listed = known["incidents"]
        assert isinstance(listed, list)
        listed.append({"health": level, "system": system, "error": message})
    body = {"Overall Health": {"value": overall}, "entities": list(entities.values())}
    return json.dumps({"body": body, "header": ["Health Monitor Report"]}, indent=4) + "\n"


def _nvlink(node: Node, arguments: Sequence[str]) -> Answer:
    if not {"-s", "--link-status"} & set(arguments):
        return Answer("Error: -s is required\n", 255)
    text = "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n"
    for number, reading in enumerate(readings(node)):
        states = ["D" if link in reading.gpu.links_down else "U" for link in range(reading.model.links)]
        states += ["_"] * (18 - len(states))
        text += f"    gpuId {number}:\n        {' '.join(states)} \n"
    return Answer(
        f"{text}NvSwitches:\n    No NvSwitches found.\n\nKey: Up=U, Down=D, Disabled=X, Not Supported=_\n"
    )


def _monitor(node: Node, arguments: Sequence[str]) -> Answer:
    words = dict(pairwise(arguments))
    fields = [name for name in words.get("-e", "").split(",") if name]
    unknown = [name for name in fields if name not in _FIELDS]
    if not fields or unknown:
        return Answer(
            f"Error: Field ID {', '.join(unknown) or '(none)'} is not one that the simulated dcgmi knows\n",
            255,
        )
    text = "#Entity   " + "".join(f"{_FIELDS[name][0]:<13}" for name in fields) + "\nID" + " " * 8 + "\n"
    for number, reading in enumerate(readings(node)):
        values = (_value(reading, _FIELDS[name][1]) for name in fields)
        text += (
            f"GPU {number:<6}"
            + "".join(f"{'N/A' if value is None else value:<13}" for value in values)
            + "\n"
        )
    return Answer(text * max(1, int(words.get("-c", "1"))))


def _value(reading: Reading, wanted: str) -> object:
    return attrgetter(wanted[1:])(reading) if wanted.startswith(".") else wanted

"""`dcgmi diag`: the tests of each level, their outcome from the state file, as table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .node import Answer, Node
from .reading import Reading, read_gpu
from .table import row, section

NVVS_ERROR = 226  # -30, DCGM_ST_NVVS_ERROR, as an exit status: some test failed
_LEVEL_OF = {
    "software": 1, "memory": 2, "pcie": 2, "diagnostic": 3, "nvbandwidth": 3, "memory_bandwidth": 3,
    "targeted_power": 3, "targeted_stress": 3, "pulse_test": 4, "memtest": 4,
}  # fmt: skip
_CATEGORIES = {
    "Deployment": ("software",),
    "Hardware": ("memory", "diagnostic", "nvbandwidth", "pulse_test"),
    "Integration": ("pcie",),
    "Stress": ("memory_bandwidth", "targeted_power", "targeted_stress", "memtest"),
}
_OTHER_SOFTWARE, _XID, _THERMAL, _MEMORY, _NVLINK, _OTHER = 8, 5, 9, 10, 11, 15
"""Categories of DCGM's errors (dcgm_errors.h of DCGM 4, dcgmErrorCategory_enum)."""
_CONFIGURATION, _ISOLATE, _MONITOR = 5, 2, 1
"""Severities of DCGM's errors: a setting of the host, hardware to be taken out of service or watched."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a test failed on one GPU."""

    text: str
    error_id: int
    category: int
    severity: int


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """Run the level, or the named tests, on every GPU or on those of `-i`."""
    words = dict(pairwise(arguments))
    tests = _tests(words.get("-r") or words.get("--run") or "")
    if not tests:
        return Answer("Error: requested tests were not found\n", 255)
    if node.hardware.diag == "hangs":
        return Answer(hangs=True)
    gpus = _chosen(node, words.get("-i") or words.get("--entity-id") or "")
    if not gpus or node.loaded != node.library_of_driver:
        return Answer("Error: unable to run diagnostics: no supported GPUs\n", NVVS_ERROR)
    outcome = {
        test: {number: _warnings(node, test, number, gpu) for number, gpu in gpus.items()} for test in tests
    }
    failed = any(found for results in outcome.values() for found in results.values())
    text = (
        _as_json(node, gpus, outcome) if {"-j", "--json"} & set(arguments) else _as_table(node, gpus, outcome)
    )
    return Answer(text, NVVS_ERROR if failed else 0)


Outcome = dict[str, dict[int, list[Flaw]]]


def _tests(wanted: str) -> list[str]:
    named = {"short": "1", "medium": "2", "long": "3", "xlong": "4"}.get(wanted, wanted)
    if named.isdigit():
        return [name for name, level in _LEVEL_OF.items() if level <= int(named) <= 4]
    return [name for name in named.split(",") if name in _LEVEL_OF]


def _chosen(node: Node, wanted: str) -> dict[int, Reading]:
    numbers = {word.strip().removeprefix("gpu:") for word in wanted.split(",") if word.strip()}
    found = {number: read_gpu(node, gpu) for number, gpu in enumerate(node.gpus)}
    return {
        number: gpu
        for number, gpu in found.items()
        if not numbers or str(number) in numbers or "*" in numbers
    }


def _warnings(node: Node, test: str, number: int, gpu: Reading) -> list[Flaw]:
    ecc, found = gpu.gpu.ecc, []
    if test == "software" and not gpu.persistent:
        text = f"Persistence Mode: Persistence mode for GPU {number} is disabled."
        found.append(Flaw(text, 29, _OTHER_SOFTWARE, _CONFIGURATION))
    if test == "software" and ecc.remap_pending:
        found.append(
            Flaw(
                f"GPU {number} has uncorrectable memory errors and row remappings are pending.",
                78,
                _MEMORY,
                _ISOLATE,
            )
        )
    if test in ("software", "memory") and ecc.remap_failed:
        found.append(
            Flaw(
                f"GPU {number} had uncorrectable memory errors and row remapping failed.",
                79,
                _MEMORY,
                _ISOLATE,
            )
        )
    if test in ("memory", "memtest") and ecc.uncorrected:
        found.append(
            Flaw(
                f"Detected {ecc.uncorrected} uncorrectable ECC memory error(s) in GPU {number}.",
                12,
                _MEMORY,
                _ISOLATE,
            )
        )
    if test in ("software", "memory", "pcie", "diagnostic") and gpu.gpu.state == "failed":
        found.append(
            Flaw(f"GPU {number} is lost: Xid {gpu.gpu.xids[-1] if gpu.gpu.xids else 79}.", 95, _XID, _ISOLATE)
        )
    if test in ("pcie", "nvbandwidth"):
        down = (f"NvLink link {link} of GPU {number} is currently down." for link in gpu.gpu.links_down)
        found += [Flaw(text, 23, _NVLINK, _ISOLATE) for text in down]
    if test in ("diagnostic", "targeted_stress", "targeted_power") and "hw_thermal_slowdown" in gpu.reasons:
        text = f"Thermal violations totaling 1.0 seconds for GPU {number} at {gpu.temperature} C."
        found.append(Flaw(text, 22, _THERMAL, _ISOLATE))
    if test == "software" and node.hardware.diag == "failed" and number == 0:
        found.append(Flaw(f"A corrupt InfoROM has been detected in GPU {number}.", 9, _OTHER, _MONITOR))
    return found


def _status(found: list[Flaw]) -> str:
    return "Fail" if found else "Pass"


def _summary(results: dict[int, list[Flaw]]) -> str:
    return "Fail" if any(results.values()) else "Pass"


def _as_table(node: Node, gpus: dict[int, Reading], outcome: Outcome) -> str:
    text = "Successfully ran diagnostic for group.\n"
    text += f"+{'-' * 27}+{'-' * 48}+\n" + row("Diagnostic", "Result") + f"+{'=' * 27}+{'=' * 48}+\n"
    text += section("Metadata") + row("DCGM Version", f"{node.installed or '?'} (simulated)")
    text += row("Driver Version Detected", node.loaded or "")
    text += row(
        "GPU Device IDs Detected", ", ".join((gpu.model.device_id or "?").lower() for gpu in gpus.values())
    )
    for category, tests in _CATEGORIES.items():
        done = [test for test in tests if test in outcome]
        text += section(category, "|" if category == "Deployment" else "+") if done else ""
        for test in done:
            text += row(test, _summary(outcome[test]))
            for number, found in outcome[test].items():
                text += row("", f"GPU{number}: {_status(found)}")
                text += "".join(row(f"Warning: GPU{number}", warning.text) for warning in found)
    return text + f"+{'-' * 27}+{'-' * 48}+\n"


def _as_json(node: Node, gpus: dict[int, Reading], outcome: Outcome) -> str:
    categories = []
    for category, tests in _CATEGORIES.items():
        done = [_test(test, outcome[test]) for test in tests if test in outcome]
        if done:
            categories.append({"category": category, "tests": done})
    entities = [
        {"device_id": gpu.model.device_id, "entity_id": number, "serial_num": gpu.serial}
        for number, gpu in gpus.items()
    ]
    document = {
        "DCGM Diagnostic": {"test_categories": categories},
        "entity_groups": [{"entities": entities, "entity_group": "GPU", "entity_group_id": 1}],
        "metadata": {
            "Driver Version Detected": node.loaded,
            "simulated": True,
            "version": node.installed or None,
        },
    }
    return json.dumps(document, indent=4, sort_keys=True) + "\n"


def _test(name: str, results: dict[int, list[Flaw]]) -> dict[str, object]:
    return {
        "name": name,
        "results": [_result(number, found) for number, found in results.items()],
        "test_summary": {"status": _summary(results)},
    }


def _result(number: int, found: list[Flaw]) -> dict[str, object]:
    told: dict[str, object] = {
        "entity_group": "GPU", "entity_group_id": 1, "entity_id": number, "status": _status(found)
    }  # fmt: skip
    if found:
        told["warnings"] = [
            {
                "error_category": each.category,
                "error_id": each.error_id,
                "error_severity": each.severity,
                "warning": each.text,
            }
            for each in found
        ]
    return told

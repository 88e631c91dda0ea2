"""`nvidia-smi -q`, as text and as XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from ..facts import driver_within
from ..node import Answer, Node
from ..reading import Reading
from .query import cuda_version
from .tree import Line, gpu_lines

KMD_NAMES = "600-"
"""Drivers that name the kernel's and the user's part of the driver apart."""
_OF_PARTS = ("accounted_processes", "mig_devices", "processes", "supported_clocks")
_WIDTH = 55  # where the colons of drivers 580 and 590 stand
_SECTIONS = {
    "MEMORY": ("FB Memory Usage", "BAR1 Memory Usage", "Conf Compute Protected Memory Usage"),
    "UTILIZATION": ("Utilization",),
    "ECC": ("ECC Mode", "ECC Errors"),
    "TEMPERATURE": ("Temperature",),
    "POWER": ("GPU Power Readings", "GPU Memory Power Readings ", "Module Power Readings"),
    "CLOCK": ("Clocks", "Applications Clocks", "Default Applications Clocks", "Max Clocks", "Clock Policy"),
    "COMPUTE": ("Compute Mode",),
    "PIDS": ("Processes",),
    "PERFORMANCE": ("Performance State", "Clocks Event Reasons", "Sparse Operation Mode"),
    "PAGE_RETIREMENT": ("Retired Pages",),
    "ACCOUNTING": ("Accounting Mode", "Accounting Mode Buffer Size"),
    "ROW_REMAPPER": ("Remapped Rows",),
    "GSP_FIRMWARE_VERSION": ("GSP Firmware Version",),
}
"""Values of `-d`, and the parts of the report that they keep."""


def as_text(node: Node, readings: list[Reading], display: tuple[str, ...]) -> Answer:
    """The whole report, or the sections that `-d` names."""
    unknown = [name for name in display if name not in _SECTIONS]
    if unknown:
        return Answer(f'"{unknown[0]}" is not a valid value for the --display option.\n', 2)
    kept = {label for name in display for label in _SECTIONS[name]}
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [_pair("", label, value) for label, value in _head(node)]
    lines += ["", _pair("", "Attached GPUs", str(len(node.gpus)))]
    for reading in readings:
        lines.append(f"GPU {reading.bus_id}")
        shown = (line for line in gpu_lines(reading) if not kept or line.label in kept)
        lines += [*_text(shown, "    "), ""]
    return Answer("".join(f"{line}\n" for line in lines))


def _head(node: Node) -> list[tuple[str, str]]:
    driver, cuda = node.loaded or "N/A", cuda_version(node)
    when = ("Timestamp", node.now.strftime("%a %b %e %H:%M:%S %Y"))
    if not driver_within(driver, KMD_NAMES):
        return [when, ("Driver Version", driver), ("CUDA Version", cuda)]
    old = "[Deprecated; will be removed in CUDA 14.0. Use {} instead]"
    return [
        when,
        ("Driver Version", f"{driver} {old.format('KMD Version')}"),
        ("CUDA Version", f"{cuda} {old.format('CUDA UMD Version')}"),
        ("KMD Version", driver),
        ("CUDA UMD Version", cuda),
    ]


def as_xml(node: Node, readings: list[Reading]) -> str:
    """The same facts, in the vendor's document type."""
    lines = [
        '<?xml version="1.0" ?>',
        f'<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_{_document_type(node)}.dtd">',
        "<nvidia_smi_log>",
        f"\t<timestamp>{node.now.strftime('%a %b %e %H:%M:%S %Y')}</timestamp>",
        f"\t<driver_version>{escape(node.loaded or 'N/A')}</driver_version>",
        f"\t<cuda_version>{cuda_version(node)}</cuda_version>",
        f"\t<attached_gpus>{len(node.gpus)}</attached_gpus>",
    ]
    for reading in readings:
        lines.append(f'\t<gpu id="{reading.bus_id}">')
        lines += [*_xml(gpu_lines(reading), "\t\t"), "\t</gpu>", ""]
    return "".join(f"{line}\n" for line in [*lines, "</nvidia_smi_log>"])


def _document_type(node: Node) -> str:
    """The one of 570.148.08 and 575.51.02, or of 580.105.08 and later."""
    return "v13" if driver_within(node.loaded or "", "580-") else "v12"


def _pair(indent: str, label: str, value: str) -> str:
    return f"{indent}{label}".ljust(_WIDTH) + f": {value}"


def _text(lines: Iterable[Line], indent: str) -> Iterator[str]:
    for line in lines:
        if not line.label:
            yield from _text(line.lines, indent)
            continue
        plain = line.lines and not line.value
        yield f"{indent}{line.label}" if plain else _pair(indent, line.label, line.value)
        yield from _text(line.lines, f"{indent}    ")


def _xml(lines: Iterable[Line], indent: str) -> Iterator[str]:
    for line in lines:
        if not line.tag:
            continue
        if line.tag in _OF_PARTS and not line.lines:
            yield f"{indent}<{line.tag}>"
            yield from (f"{indent}\t{line.value}" for _ in range(line.tag == "mig_devices"))
            yield f"{indent}</{line.tag}>"
        elif line.value or not line.lines:
            # The text says `0x1B` where the XML says `1B`, and writes what has parts on lines of its own.
            value = line.value.removeprefix("0x") if line.tag.startswith("pci_") else line.value
            yield f"{indent}<{line.tag}>{escape(value, quote=False)}</{line.tag}>"
            yield from _xml(line.lines, indent)
        else:
            yield f"{indent}<{line.tag}>"
            yield from _xml(line.lines, f"{indent}\t")
            yield f"{indent}</{line.tag}>"

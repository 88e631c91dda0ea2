"""nvidia-smi. Formats follow captures of drivers 580 and 590; the goldens of the tests name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..node import Answer, Node
from ..reading import Reading, read_gpu
from . import fabric, mig, query, report, settings, summary
from .options import Options, parse

NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n\n"
)
INVALID = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n"
_SUBCOMMANDS: dict[str, Callable[[Node, list[Reading], Sequence[str]], Answer]] = {
    "mig": mig.answer,
    "nvlink": fabric.nvlink,
    "topo": fabric.topology,
}
_HELP = """NVIDIA System Management Interface -- v{version}, simulated by clusterwright for a lab node

nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...

    -h, --help | --version | -L, --list-gpus
    -q, --query [-x] [-d SECTIONS] [-i ID] [-f FILE]
    --query-gpu=FIELDS --format=csv[,noheader][,nounits] [-i ID]
    --query-compute-apps=FIELDS | --query-remapped-rows=FIELDS | --query-retired-pages=FIELDS
    -pm MODE | -mig MODE | -p 0 | -r, --gpu-reset | -lgc, -rgc, -pl, -c, -e VALUE
    topo -m | nvlink -s | mig -lgip | -lgi | -lci | -cgi PROFILES [-C] | -dgi | -dci

"""


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """What this node's nvidia-smi prints."""
    if arguments and arguments[0] in ("-h", "--help"):
        return Answer(_HELP.format(version=node.library or "?"))
    if node.loaded is None:
        return Answer(NO_DRIVER, 9)
    if node.library != node.loaded:
        version = ".".join((node.library or "").split(".")[:2])
        mismatch = "Failed to initialize NVML: Driver/library version mismatch\n"
        return Answer(f"{mismatch}NVML library version: {version}\n", 18)
    if list(arguments) == ["--version"]:
        return Answer(summary.version(node))
    if not node.gpus:
        return Answer("No devices were found\n", 6)
    command = arguments[0] if arguments else ""
    if command in _SUBCOMMANDS:
        chosen = _selected(node, _identity(arguments))
        return _missing_or_lost(chosen) or _SUBCOMMANDS[command](node, _read(node, chosen), arguments[1:])
    options = parse(arguments)
    if options is None:
        return Answer(INVALID, 2)
    chosen = _selected(node, options.identity)
    return _missing_or_lost(chosen) or _delivered(_single(node, options, _read(node, chosen)), options.file)


def _single(node: Node, options: Options, readings: list[Reading]) -> Answer:
    if options.query:
        return query.answer(readings, options)
    if options.changes:
        return settings.change(node, readings, options)
    if options.list_gpus:
        return Answer(summary.listing(node, readings))
    if options.report:
        if options.xml:
            return Answer(report.as_xml(node, readings))
        return report.as_text(node, readings, options.display)
    return Answer(summary.table(node, readings))


def _delivered(given: Answer, file: str) -> Answer:
    if not file or given.status:
        return given
    with open(file, "w", encoding="utf-8") as stream:  # noqa: PTH123  (a start of pathlib that is not needed)
        stream.write(given.text)
    return Answer()


def _read(node: Node, chosen: Sequence[object]) -> list[Reading]:
    return [read_gpu(node, gpu) for gpu in node.gpus if gpu in chosen]


def _selected(node: Node, identity: str) -> list[object]:
    """By index, bus id, UUID or serial; a comma separates several."""
    if not identity:
        return list(node.gpus)
    wanted = {word.strip().lower() for word in identity.split(",")}
    found: list[object] = []
    for index, gpu in enumerate(node.gpus):
        reading = read_gpu(node, gpu)
        names = {str(index), gpu.pci, reading.bus_id, gpu.uuid, reading.serial}
        if wanted & {name.lower() for name in names}:
            found.append(gpu)
    return found


def _missing_or_lost(chosen: Sequence[object]) -> Answer | None:
    if not chosen:
        return Answer("No devices were found\n", 6)
    for gpu in chosen:
        if getattr(gpu, "state", "ok") == "failed":
            where = str(getattr(gpu, "pci", "")).upper()
            return Answer(f"Unable to determine the device handle for GPU{where}: Unknown Error\n", 15)
    return None


def _identity(arguments: Sequence[str]) -> str:
    for place, word in enumerate(arguments):
        if word in ("-i", "--id") and place + 1 < len(arguments):
            return arguments[place + 1]
        if word.startswith("--id="):
            return word.removeprefix("--id=")
    return ""

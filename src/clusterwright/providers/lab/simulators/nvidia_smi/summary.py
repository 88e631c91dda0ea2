"""The table that `nvidia-smi` prints when it is asked for nothing, its list, and its version."""

from __future__ import annotations

from ..node import Node
from ..reading import Reading
from .query import cuda_version

_RULE = "+-----------------------------------------------------------------------------------------+"
_COLUMNS = "+-----------------------------------------+------------------------+----------------------+"
_HEAD = """\
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""
_PROCESSES = f"""
{_RULE}
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|  No running processes found                                                             |
{_RULE}
Simulated hardware of a clusterwright lab node.
"""
_KMD_HEADER = 600  # from this branch on the header says KMD Version and CUDA UMD Version


def version(node: Node) -> str:
    """`nvidia-smi --version`."""
    library = node.library or "N/A"
    values = {
        "NVIDIA-SMI version": f"{library} (simulated by clusterwright)",
        "NVML version": ".".join(library.split(".")[:2]),
        "DRIVER version": node.loaded or "N/A",
        "CUDA Version": cuda_version(node),
    }
    return "".join(f"{name:<20}: {value}\n" for name, value in values.items())


def listing(node: Node, readings: list[Reading]) -> str:
    """`nvidia-smi -L`, with the MIG devices of each GPU below it."""
    lines = []
    for reading in readings:
        index = node.gpus.index(reading.gpu)
        lines.append(f"GPU {index}: {reading.gpu.model} (UUID: {reading.gpu.uuid})\n")
        for number, device in enumerate(reading.mig_devices):
            lines.append(f"  MIG {device.profile:<11} Device {number:>2}: (UUID: {device.uuid})\n")
    return "".join(lines)


def table(node: Node, readings: list[Reading]) -> str:
    """Three lines for each GPU, between rules whose width does not depend on them."""
    shown = [node.now.strftime("%a %b %e %H:%M:%S %Y       "), _RULE, _header(node), _COLUMNS]
    text = "".join(f"{line}\n" for line in shown) + _HEAD
    for reading in readings:
        text += "".join(f"{line}\n" for line in [*_gpu(node, reading), _COLUMNS])
    return text + _PROCESSES


def _header(node: Node) -> str:
    library, loaded = node.library or "N/A", node.loaded or "N/A"
    branch = loaded.partition(".")[0]
    kmd, cuda = "Driver Version", "CUDA Version"
    if branch.isdigit() and int(branch) >= _KMD_HEADER:
        kmd, cuda = "KMD Version", "CUDA UMD Version"
    pad = 15 if kmd == "Driver Version" else 14
    line = f"| NVIDIA-SMI {library:<23}{kmd}: {loaded:<{pad}}{cuda}: {cuda_version(node)}"
    return f"{line:<{len(_RULE) - 1}}|"


def _gpu(node: Node, reading: Reading) -> list[str]:
    model, gpu = reading.model, reading.gpu
    persistence = "On" if reading.persistent else "Off"
    ecc = str(gpu.ecc.uncorrected) if model.ecc else "N/A"
    mig = "N/A" if model.mig is None else "Enabled" if reading.mig_mode else "Disabled"
    cap = f"{model.power_limit}W" if model.power_limit else "N/A"
    draw = f"{int(reading.watts)}W" if reading.watts is not None else "N/A"
    usage = f"{0:>7}MiB / {gpu.memory_mib:>6}MiB"
    name = f"{node.gpus.index(gpu):>4}  {gpu.model[:30]:<31}{persistence:>3} "
    sensors = f" N/A  {reading.temperature:>3}C    {reading.performance_state:<3}{draw:>15} / {cap:>5} "
    return [
        f"|{name:<41}|   {reading.bus_id} Off |{ecc:>21} |",
        f"|{sensors:<41}|{usage:>23} |{'0%':>8}{'Default':>13} |",
        f"|{'':<41}|{'':<24}|{mig:>21} |",
    ]

"""The table that `nvidia-smi` prints when it is asked for nothing, its list, and its version."""

from __future__ import annotations

from ..node import Node
from ..partitions import memory_of, profile_of
from ..reading import MigDevice, Reading
from .query import cuda_version

_RULE = "+-----------------------------------------------------------------------------------------+"
_COLUMNS = "+-----------------------------------------+------------------------+----------------------+"
_HEAD = """\
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
"""
_MIG_RULE = "+------------------+----------------------------------+-----------+-----------------------+"
_MIG_HEAD = f"""
{_RULE}
| MIG devices:                                                                            |
{_MIG_RULE}
| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
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
_NAME = 27
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
    if _of_kmd(node):
        del values["CUDA Version"]
        values |= {
            "DRIVER version": 'Deprecated, see "KMD version" instead',
            "CUDA version": 'Deprecated, see "CUDA UMD version" instead',
            "KMD version": node.loaded or "N/A",
            "CUDA UMD version": cuda_version(node),
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
    return text + _mig_table(node, readings) + _PROCESSES


def _mig_table(node: Node, readings: list[Reading]) -> str:
    """Below the GPUs, when one of them has MIG devices."""
    rows = [
        line
        for reading in readings
        for number, device in enumerate(reading.mig_devices)
        for line in [*_mig_device(node, reading, number, device), _MIG_RULE]
    ]
    return _MIG_HEAD + "".join(f"{line}\n" for line in rows) if rows else ""


def _mig_device(node: Node, reading: Reading, number: int, device: MigDevice) -> list[str]:
    profile = profile_of(reading.model.mig, device.profile)
    part = {name: value or "0" for name, value in profile.parts.items()}
    memory, bar1 = memory_of(profile, reading.gpu.memory_mib), reading.mig_bar1(profile) or 0
    engines = f"{part['copy_engines']:>3}{part['encoders']:>4}{part['decoders']:>5}"
    engines += f"{part['ofa']:>5}{part['jpeg']:>5} "
    gpu = f"{node.gpus.index(reading.gpu):>3}{device.instance.id:>5}{0:>4}{number:>4}  "
    return [
        f"|{gpu}|{0:>19}MiB /{memory:>6}MiB    |{part['sm']:>3}{0:>7} |{engines}|",
        f"|{'':<18}|{0:>19}MiB /{bar1:>6}MiB    |{'':<11}|{'':<23}|",
    ]


def _header(node: Node) -> str:
    library, loaded = node.library or "N/A", node.loaded or "N/A"
    kmd, cuda = ("KMD Version", "CUDA UMD Version") if _of_kmd(node) else ("Driver Version", "CUDA Version")
    pad = 15 if kmd == "Driver Version" else 14
    line = f"| NVIDIA-SMI {library:<23}{kmd}: {loaded:<{pad}}{cuda}: {cuda_version(node)}"
    return f"{line:<{len(_RULE) - 1}}|"


def _of_kmd(node: Node) -> bool:
    branch = (node.loaded or "").partition(".")[0]
    return branch.isdigit() and int(branch) >= _KMD_HEADER


def _gpu(node: Node, reading: Reading) -> list[str]:
    model, gpu = reading.model, reading.gpu
    persistence = "On" if reading.persistent else "Off"
    ecc = "N/A" if not model.ecc else "On" if reading.mig_mode else str(gpu.ecc.uncorrected)
    load = "N/A" if reading.mig_mode else "0%"
    fan = f"{reading.model.fan}%" if reading.model.fan is not None else "N/A"
    mig = "N/A" if model.mig is None else "Enabled" if reading.mig_mode else "Disabled"
    cap = f"{model.power_limit}W" if model.power_limit else "N/A"
    draw = f"{int(reading.watts)}W" if reading.watts is not None else "N/A"
    usage = f"{0:>7}MiB / {gpu.memory_mib:>6}MiB"
    name = f"{node.gpus.index(gpu):>4}  {_shortened(gpu.model):<31}{persistence:>3} "
    sensors = f"{fan:>4}  {reading.temperature:>3}C    {reading.performance_state:<3}{draw:>15} / {cap:>5} "
    return [
        f"|{name:<41}|   {reading.bus_id} Off |{ecc:>21} |",
        f"|{sensors:<41}|{usage:>23} |{load:>8}{'Default':>13} |",
        f"|{'':<41}|{'':<24}|{mig:>21} |",
    ]


def _shortened(name: str) -> str:
    """The column is 27 wide: a longer name ends in dots."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 3]}..."

"""What is known of GPU models and driver branches beside the state file. Unknown is None, shown as N/A."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Model:
    """A GPU as its vendor sells it, as far as a public capture or data sheet tells."""

    model: str
    brand: str = "NVIDIA"
    architecture: str | None = None
    capability: str | None = None
    device_id: str | None = None
    subsystem_id: str | None = None
    gpu_part: str | None = None
    board_part: str | None = None
    vbios: str | None = None
    inforom: str | None = None
    links: int = 0
    link_gbps: str | None = None
    """GB/s of one NVLink in one direction, as nvidia-smi prints it."""
    sm_mhz: int | None = None
    memory_mhz: int | None = None
    video_mhz: int | None = None
    idle_mhz: int | None = None
    power_min: int | None = None
    power_limit: int | None = None
    idle_watts: float | None = None
    idle_c: int = 35
    reserved_mib: int = 0
    bar1_mib: int | None = None
    banks: int | None = None
    pcie: int | None = None
    limits: str | None = None
    """Shutdown, slowdown, highest of GPU, of its memory, target: in C, or after `T.Limit` as distances."""
    video_idle: int | None = None
    memory_watts: float | None = None
    module: str | None = None
    """Draw, limit and least limit of the module with its Grace processor, in W."""
    fan: int | None = None
    ecc: bool = False
    mig: str | None = None
    """The model whose MIG profiles it has."""

    @property
    def consumer(self) -> bool:
        """A display card, with fewer facts."""
        return self.brand == "GeForce"


_WHOLE = (
    "links", "sm_mhz", "memory_mhz", "video_mhz", "idle_mhz", "power_min", "power_limit", "idle_c",
    "reserved_mib", "bar1_mib", "banks", "pcie", "video_idle", "fan",
)  # fmt: skip


def model_named(name: str) -> Model:
    """The model's row; a model without one has only its name."""
    for row in _rows("models.csv"):
        if row["model"] == name:
            return _model(row)
    return Model(name)


def cuda_of(driver: str) -> str | None:
    """The newest CUDA that a driver runs, by its branch."""
    branch = driver.partition(".")[0]
    return next((row["cuda"] for row in _rows("drivers.csv") if row["branch"] == branch), None)


def driver_within(driver: str, ranges: str) -> bool:
    """Whether one of `580.173-590 595-` has it, from a first version to before a second; none: yes."""
    version = _version(driver)
    for each in ranges.split():
        start, _, end = each.partition("-")
        if _version(start) <= version and (not end or version < _version(end)):
            return True
    return not ranges


def _version(text: str) -> list[int]:
    return [int(part) for part in text.split(".") if part.isdigit()]


def _model(row: dict[str, str]) -> Model:
    told: dict[str, object] = {}
    for name, text in row.items():
        if not text or name in ("source", "date"):
            continue
        if name in _WHOLE:
            told[name] = int(text)
        elif name in ("idle_watts", "memory_watts"):
            told[name] = float(text)
        elif name == "ecc":
            told[name] = text == "yes"
        else:
            told[name] = text
    return Model(**told)  # type: ignore[arg-type]  # the columns are the fields; a test reads every row


@cache
def _rows(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))

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
    ecc: bool = False
    mig: str | None = None
    """The model whose MIG profiles it has."""


_WHOLE = (
    "links", "sm_mhz", "memory_mhz", "video_mhz", "idle_mhz", "power_min", "power_limit", "idle_c",
    "reserved_mib", "bar1_mib", "banks", "pcie",
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


def _model(row: dict[str, str]) -> Model:
    told: dict[str, object] = {}
    for name, text in row.items():
        if not text or name in ("source", "date"):
            continue
        if name in _WHOLE:
            told[name] = int(text)
        elif name == "idle_watts":
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

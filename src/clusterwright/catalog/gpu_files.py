"""How each vendor's driver names the device files of GPUs, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.hardware import Gpu, Hardware
from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class GpuFiles:
    """A GPU's file is `file` and a number; `first` is the number of the GPU with minor 0."""

    vendor: str
    file: str
    first: int
    control: str
    """What every program with a GPU opens besides, whichever GPU it was given."""
    source: str
    date: str

    def of(self, gpu: Gpu) -> str:
        return f"{self.file}{self.first + gpu.minor}"

    @property
    def pattern(self) -> str:
        """Every file of a GPU, planned or not, as a shell's pattern."""
        return f"{self.file}[0-9]*"


@cache
def by_vendor() -> Mapping[str, GpuFiles]:
    return {
        row["vendor"]: GpuFiles(
            row["vendor"], row["file"], int(row["first"]), row["control"], row["source"], row["date"]
        )
        for row in rows("gpu_files")
    }


def files_of(hardware: Hardware) -> GpuFiles:
    """Of a machine that has GPUs."""
    return by_vendor()[str(hardware.gpu_vendor)]

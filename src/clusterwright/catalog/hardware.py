"""The shape of a machine type, as everything downstream sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of a machine: device minor, PCI address, NUMA node and the cores beside it."""

    minor: int
    pci: str | None
    """As sysfs names it, `0000:1b:00.0`; None where no source tells. On-prem: as in the vendor's own."""
    numa: int
    cores: str
    """Slurm core index range, physical cores only, for instance `0-47`."""


@dataclass(frozen=True, slots=True)
class Nic:
    """One network card: index, kind and Gbit/s.

    Kinds: `ethernet`, `efa`, `gvnic`, `idpf`, `mrdma`, `infiniband`, `roce`."""

    index: int
    kind: str
    gbps: int


@dataclass(frozen=True, slots=True)
class Hardware:
    """A machine type. `None` is a fact that no source tells: a finding, never a guess."""

    machine: str
    provider: str
    architecture: str
    """`x86_64` or `arm64`."""
    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_mib: int
    gpu_type: str | None
    """Slurm's GRES type, lower case: `h100`."""
    gpu_model: str | None
    """The vendor's product name: `NVIDIA H100 80GB HBM3`."""
    gpu_vendor: str | None
    """`nvidia` or `amd`."""
    gpu_generation: str | None
    """Which drivers and libraries it takes goes by it: `hopper`, `grace-blackwell`, `cdna3`."""
    gpu_memory_mib: int | None
    gpus: tuple[Gpu, ...]
    nics: tuple[Nic, ...]
    power_watts: int | None
    """Most that the machine draws, GPUs and host."""
    nvlink_domain: int | None
    """GPUs that share one NVLink domain: 8 for HGX, 72 for NVL72, 1 for none."""
    source: str
    date: str

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores_per_socket * self.threads_per_core

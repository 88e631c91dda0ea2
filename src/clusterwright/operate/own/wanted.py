"""Hardware in slurm.conf's words, and the machine type of the catalogue that is most like it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machines import machines


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a node has to have."""

    cpus: int
    memory: int
    gpu: str
    gpus: int
    other_gres: str

    @classmethod
    def of(cls, words: Mapping[str, str]) -> Wanted:
        """By the words of a NodeName's line."""

        def number(key: str, default: int = 1) -> int:
            digits = re.match(r"\d+", words.get(key, ""))
            return int(digits[0]) if digits else default

        sockets = number("sockets", number("boards") * number("socketsperboard"))
        counted = sockets * number("corespersocket") * number("threadspercore")
        gpu, gpus, others = "", 0, []
        for part in filter(None, words.get("gres", "").split(",")):
            kind, *rest = part.split("(")[0].split(":")
            if kind == "gpu":
                gpu = rest[0].lower() if rest and not rest[0].isdecimal() else gpu
                gpus += int(rest[-1]) if rest and rest[-1].isdecimal() else 1
            else:
                others.append(part)
        return cls(
            number("cpus", number("procs", counted)), number("realmemory", 0), gpu, gpus, ",".join(others)
        )

    def nearest(self) -> Hardware:
        """The type that one's own machines can be of that is most like it."""
        return min((kind for kind in machines().values() if kind.provider == "onprem"), key=self._distance)

    def _distance(self, kind: Hardware) -> tuple[bool, int, int, int]:
        other = bool(self.gpu and kind.gpu_type and self.gpu != kind.gpu_type)
        return (
            other,
            abs(self.gpus - len(kind.gpus)),
            abs(self.cpus - kind.cpus),
            abs(self.memory - kind.memory_mib),
        )

    def unlike(self, kind: Hardware) -> str:
        """In what the type differs; empty where it does not."""
        rows = [
            f"{there} {what} for {wanted}"
            for what, wanted, there in (
                ("processors", self.cpus, kind.cpus),
                (f"GPUs ({kind.gpu_type or 'none'})", self.gpus, len(kind.gpus)),
            )
            if wanted != there
        ]
        if self.gpu and self.gpu != kind.gpu_type and self.gpus == len(kind.gpus):
            rows.append(f"GPUs of the type {kind.gpu_type} for {self.gpu}")
        if self.memory and not 0.8 * kind.memory_mib <= self.memory <= kind.memory_mib:
            rows.append(f"{kind.memory_mib} MiB for {self.memory}")
        return ", ".join(rows)

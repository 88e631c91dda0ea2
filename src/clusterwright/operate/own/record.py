"""Which machines were bootstrapped, and what was seen of them that a plan has to know."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.operate.home import ClusterHome, write_atomically

if TYPE_CHECKING:
    from clusterwright.handoff import Node
    from clusterwright.plan.model import Ground


@dataclass(frozen=True, slots=True)
class Known:
    """One machine."""

    address: str
    port: int
    cgroup_plugin: str = ""
    cgroup_mountpoint: str = ""

    @classmethod
    def of(cls, node: Node, port: int, cgroup: tuple[str, str]) -> Known:
        """How cgroups are mounted matters where slurmd runs: one cgroup.conf is for all of these."""
        return cls(node.address, port, *(cgroup if "compute" in node.roles else ()))


@dataclass(frozen=True, slots=True)
class Record:
    """Of one cluster: `machines.json` in its folder."""

    home: ClusterHome

    @property
    def file(self) -> Path:
        return self.home.root / "machines.json"

    def read(self) -> Mapping[str, Known]:
        try:
            body = json.loads(self.file.read_text())
            return {name: Known(**row) for name, row in body.items()}
        except (FileNotFoundError, ValueError, TypeError):
            return {}

    def add(self, machines: Mapping[str, Known]) -> None:
        self._write({**self.read(), **machines})

    def forget(self, names: Collection[str]) -> None:
        self._write({name: known for name, known in self.read().items() if name not in names})

    def ground(self) -> Ground:
        """Slurm's cgroup plugin, where machines still have the first version; else it finds out itself."""
        from clusterwright.plan.model import Ground

        old = [known for known in self.read().values() if known.cgroup_plugin == "cgroup/v1"]
        return Ground(cgroup_plugin="cgroup/v1", cgroup_mountpoint=_elsewhere(old[0])) if old else Ground()

    def _write(self, machines: Mapping[str, Known]) -> None:
        rows = {name: asdict(known) for name, known in sorted(machines.items())}
        write_atomically(self.file, json.dumps(rows, indent=1) + "\n")


def _elsewhere(known: Known) -> str | None:
    return None if known.cgroup_mountpoint == "/sys/fs/cgroup" else known.cgroup_mountpoint

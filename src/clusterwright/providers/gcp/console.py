"""Host keys of machines, for which Google vouches: as cloud-init prints them on the serial console."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clusterwright.providers.gcp.service import Service, session
from clusterwright.providers.host_keys import host_key


@dataclass(frozen=True)
class Consoles:
    """Of machines by their path from `projects/` on, with their number for a name: another machine of the
    same name has keys of its own."""

    base: str = "https://compute.googleapis.com/compute/v1"
    credentials: Any = field(default=None, repr=False)

    def host_key(self, machine: str) -> str | None:
        """None as long as it has not printed it. Raises Refused where the console may not be read."""
        return host_key(self.text(machine))

    def text(self, machine: str) -> str:
        """What it printed, up to now, at most 1 MB. Raises Refused where the console may not be read."""
        may = "compute.instances.getSerialPortOutput"
        answer = self._service.ask("GET", f"{machine}/serialPort", may, params={"port": 1})
        return str(answer.json().get("contents", "")) if answer is not None else ""

    @cached_property
    def _service(self) -> Service:
        return Service(self.base, "CW7081", session(self.credentials))


def keys_of(consoles: Consoles, machines: Mapping[str, str]) -> Mapping[str, str]:
    """By node, for those of `machines` (node → machine) that showed one so far."""
    found = {node: consoles.host_key(machine) for node, machine in machines.items()}
    return {node: key for node, key in found.items() if key}

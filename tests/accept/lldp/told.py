"""A wiring as the lldpd of its devices tells it, with what somebody did to the cables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.accept.wired.netfile import Fabric, Plug, Wire

from clusterwright.catalog.switch_ports import port_forms
from clusterwright.plan.wiring import Wiring


class Told(Fabric):
    """Cables to be changed as those of InfiniBand are, and what each device then hears."""

    def __init__(self, wiring: Wiring, form: str = "json", system: str = "cumulus") -> None:
        super().__init__(wiring)
        self.form, self.system, self.management = form, system, True
        self.said = {}
        self.silent: set[str] = set()
        self.mbps = {name: 1000 * cable.gbps for cable in wiring.cables for name in _ends(cable)}

    def slow(self, one: str, speed: str) -> None:
        """`slow gpu-001 eth0, 100000`: as the node's kernel tells its card's speed."""
        self.mbps[one] = int(speed)

    def wire(self, one: str, other: str) -> None:
        """A cable between two cards."""
        self.wires.append(Wire((one, 1), (other, 1), ""))

    def unmanaged(self, _: str = "") -> None:
        """Management's switches do not announce themselves."""
        self.management = False

    def quiet(self, device: str) -> None:
        """It is there and hears, and does not announce itself."""
        self.silent.add(device)

    def ends(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Of each cable, devices with what they call their ends."""
        return [
            (
                (wire.a[0].partition(" ")[0], self._local(wire.a)),
                (wire.b[0].partition(" ")[0], self._local(wire.b)),
            )
            for wire in self.wires
        ]

    def write(self, folder: Path, devices: Iterable[str]) -> None:
        """A file for each of these devices that has power."""
        alive = {name.partition(" ")[0] for name in self.ports}
        for device in devices:
            if device in alive:
                (folder / f"{device}.json").write_text(self.text_of(device))

    def text_of(self, device: str) -> str:
        speeds = [
            f"/sys/class/net/{interface}/speed:{self.mbps.get(f'{device} {interface}', -1)}\n"
            for interface in self._interfaces(device)
        ]
        return json.dumps({"lldp": self._lldp(device)}, indent=2) + "\n" + "".join(speeds)

    def _interfaces(self, device: str) -> list[str]:
        return [name.partition(" ")[2] for name in self.ports if name.startswith(f"{device} ")]

    def _lldp(self, device: str) -> Any:
        rows = list(self._rows(device))
        if self.form == "json0":
            return [{"interface": [{"name": interface, **_listed(*row)} for interface, *row in rows]}]
        keyed = [{interface: _named(*row)} for interface, *row in rows]
        return {"interface": keyed[0] if len(keyed) == 1 else keyed} if keyed else {}

    def _rows(self, device: str) -> Iterator[tuple[str, str, str, str]]:
        """Interface, and what its neighbour says: chassis, name, port."""
        if self.management and any(name.startswith(f"{device} ") for name in self.ports):
            yield "eno1", _mac("mgmt-1"), "mgmt-1", "swp44"
        for wire in self.wires:
            for here, there in ((wire.a, wire.b), (wire.b, wire.a)):
                if here[0].partition(" ")[0] == device and there[0].partition(" ")[0] not in self.silent:
                    name = there[0].partition(" ")[0]
                    said = self.said.get(name, name)
                    yield self._local(here), _mac(name), said, self._local(there)

    def _local(self, plug: Plug) -> str:
        name, port = plug
        if " " in name:
            return name.partition(" ")[2]
        forms = [form for form in port_forms() if form.system == self.system]
        model = self.wiring.by_name[name].model if name in self.wiring.by_name else None
        if model is None:
            return f"port{port}"
        return (
            next(form.name(model, port) for form in forms if form.split == (model.ports_per_cage > 1)) or ""
        )


def _ends(cable: Any) -> Iterator[str]:
    if cable.lower.card:
        yield f"{cable.lower.device} {cable.lower.card}"


def _mac(name: str) -> str:
    return "02:" + ":".join(f"{sum(name.encode()) * step % 251:02x}" for step in (1, 3, 7, 11, 13))


def _named(chassis: str, name: str, port: str) -> dict[str, Any]:
    told = {"id": {"type": "mac", "value": chassis}, "descr": "a system"}
    ports = {"id": {"type": "ifname", "value": port}, "descr": port, "ttl": "120"}
    return {"via": "LLDP", "rid": "1", "chassis": {name: told} if name else told, "port": ports}


def _listed(chassis: str, name: str, port: str) -> dict[str, Any]:
    names = {"name": [{"value": name}]} if name else {}
    told = {"id": [{"type": "mac", "value": chassis}], **names, "descr": [{"value": "a system"}]}
    ports = {"id": [{"type": "ifname", "value": port}], "descr": [{"value": port}]}
    return {"via": "LLDP", "rid": "1", "chassis": [told], "port": [ports]}

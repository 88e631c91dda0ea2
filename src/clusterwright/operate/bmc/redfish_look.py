"""What Redfish's documents say, in this project's words. Every field may be missing, and often is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sushy import exceptions

Read = Callable[[str], dict[str, Any]]
Body = Mapping[str, Any]
_RANK = {"ok": 0, "warning": 1, "critical": 2}
_DEVICES = {"pxe": "network", "uefihttp": "network (HTTP)", "hdd": "disk", "biossetup": "firmware setup"}


def power(system: Body) -> str:
    return str(system.get("PowerState") or "").lower()


def health(body: Body) -> str:
    """Its own and its parts'."""
    status = body.get("Status") or {}
    found = {str(status.get(key) or "").lower() for key in ("Health", "HealthRollup", "HealthRollUp")}
    return max((word for word in found if word in _RANK), key=_RANK.__getitem__, default="")


def serials(system: Body) -> list[str]:
    """The machine's own, and others that are on it. Dell's is the service tag, which its `SKU` holds."""
    found = [str(system.get("SerialNumber") or "").strip()]
    if str(system.get("Manufacturer") or "").startswith("Dell") and system.get("SKU"):
        found.insert(0, str(system["SKU"]).strip())
    return found


def chassis_serials(read: Read, system: Body) -> list[str]:
    """Of what it is built into."""
    chassis = (_maybe(read, link) for link in _links(system, "Chassis"))
    return [str(body["SerialNumber"]).strip() for body in chassis if body.get("SerialNumber")]


def boot(system: Body) -> str:
    """An override, and for how long; else the order."""
    told = system.get("Boot") or {}
    enabled = str(told.get("BootSourceOverrideEnabled") or "Disabled")
    target = str(told.get("BootSourceOverrideTarget") or "None")
    if enabled != "Disabled" and target != "None":
        device = _DEVICES.get(target.lower(), target.lower())
        return f"{device} once" if enabled == "Once" else device
    order = told.get("BootOrder") or []
    return f"its own order, {order[0]} first" if order else "its own order"


def manager(read: Read, system: Body) -> dict[str, Any]:
    """The BMC itself."""
    for link in _links(system, "ManagedBy"):
        with_body = _maybe(read, link)
        if with_body:
            return with_body
    return {}


def worst(read: Read, system: Body) -> str:
    """A sensor that is not well; else the one that has least room below its limit."""
    bad: list[tuple[int, str]] = []
    near: list[tuple[float, str]] = []
    for link in _links(system, "Chassis"):
        for sensor in _sensors(read, _maybe(read, link)):
            name = str(sensor.get("Name") or sensor.get("MemberId") or "")
            if rank := _RANK.get(health(sensor), 0):
                bad.append((rank, f"{name} {health(sensor)}"))
            reading, limit = sensor.get("ReadingCelsius"), sensor.get("UpperThresholdCritical")
            if isinstance(reading, int | float) and isinstance(limit, int | float) and limit > 0:
                near.append((reading / limit, f"{name} {reading:g} of {limit:g} °C"))
    return (max(bad) if bad else max(near, default=(0, "")))[1]


def _sensors(read: Read, chassis: Body) -> Iterator[Body]:
    """As all firmware had them up to 2020, and fans and supplies as firmware has them since."""
    for part, lists in (("Thermal", ("Temperatures", "Fans")), ("Power", ("PowerSupplies", "Voltages"))):
        body = _maybe(read, (chassis.get(part) or {}).get("@odata.id"))
        yield from (one for name in lists for one in body.get(name) or () if isinstance(one, dict))
    for part, name in (("ThermalSubsystem", "Fans"), ("PowerSubsystem", "PowerSupplies")):
        body = _maybe(read, (chassis.get(part) or {}).get("@odata.id"))
        yield from members(read, (body.get(name) or {}).get("@odata.id"))


def macs(read: Read, system: Body) -> tuple[str, ...]:
    """Of its cards: those with a link, where any has one."""
    cards = [
        (str(body.get("LinkStatus") or "") != "LinkUp", str(body.get("Id") or ""), mac)
        for body in members(read, (system.get("EthernetInterfaces") or {}).get("@odata.id"))
        if (mac := str(body.get("PermanentMACAddress") or body.get("MACAddress") or "").lower())
    ]
    linked = [card for card in cards if not card[0]] or cards
    return tuple(dict.fromkeys(mac for _, _, mac in sorted(linked)))


def bmc_mac(read: Read, of: Body, address: str) -> str:
    """Of the BMC's own card that has this address."""
    for body in members(read, (of.get("EthernetInterfaces") or {}).get("@odata.id")):
        if any(one.get("Address") == address for one in body.get("IPv4Addresses") or ()):
            return str(body.get("PermanentMACAddress") or body.get("MACAddress") or "").lower()
    return ""


def gpus(read: Read, systems: Iterable[Body]) -> tuple[str, ...]:
    """The model of each GPU. A baseboard shows its own as another system."""
    return tuple(
        str(body.get("Model") or "GPU")
        for system in systems
        for body in members(read, (system.get("Processors") or {}).get("@odata.id"))
        if body.get("ProcessorType") == "GPU"
    )


def console(system: Body) -> str:
    """The port of SSH on which the serial console is, where Redfish names one."""
    ssh = (system.get("SerialConsole") or {}).get("SSH") or {}
    return str(ssh.get("Port") or 22) if ssh.get("ServiceEnabled") else ""


def members(read: Read, path: str | None) -> Iterator[dict[str, Any]]:
    """Of a collection, those that can be read."""
    for member in _maybe(read, path).get("Members") or ():
        if body := _maybe(read, member.get("@odata.id")):
            yield body


def _links(system: Body, kind: str) -> Iterator[str]:
    for link in (system.get("Links") or {}).get(kind) or ():
        if path := link.get("@odata.id"):
            yield str(path)


def _maybe(read: Read, path: str | None) -> dict[str, Any]:
    """A part that a BMC names and does not have is no reason to say nothing of the rest."""
    try:
        return read(path) if path else {}
    except (exceptions.HTTPError, ValueError):
        return {}

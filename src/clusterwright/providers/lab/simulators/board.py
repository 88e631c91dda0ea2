"""What the driver tells of a GPU's board and rack: limits of heat, module, place, fabric's health."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import Model

_ATOMICS = "FETCHADD_32 FETCHADD_64 SWAP_32 SWAP_64 CAS_32 CAS_64"
_DISTANCE = "T.Limit"


@dataclass(frozen=True, slots=True)
class Limits:
    """Temperatures in C at which a GPU slows down or stops; `N/A` for a limit that it does not tell."""

    shutdown: str | None = None
    slowdown: str | None = None
    operating: str | None = None
    memory: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """Power of the module that a GPU shares with its Grace processor, in W."""

    draw: float | None = None
    limit: float | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Platform:
    """Where in its rack a GPU is; only Blackwell's NVLink boards tell. Empty is told as nothing."""

    chassis: str | None = None
    slot: int | None = None
    tray: int | None = None
    host: int | None = None
    peer: str | None = None
    fabric_guid: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Of the NVLink fabric, as a GPU of it sees it."""

    summary: str = "N/A"
    bandwidth: str = "N/A"
    route: str = "N/A"
    timeout: str = "N/A"


@dataclass(frozen=True, slots=True)
class Board:
    """All of it."""

    sub_class: str
    """On the PCI bus: a display card is of another than one that only computes."""
    inforom_oem: str
    inforom_ecc: str
    sparse: str | None
    c2c: bool | None
    """The link to a Grace processor."""
    distances: Limits
    """Degrees to the temperature that slows the GPU down; of those that count them so."""
    temperatures: Limits
    """Degrees themselves; of those that do not count distances."""
    module: Module
    platform: Platform
    queried: Platform
    """What `--query-gpu` tells, which tells of a Hopper board what the report does not."""
    health: Health
    atomics_out: str | None
    """What it can ask of other devices on its bus, and they of it."""
    atomics_in: str | None


def board_of(model: Model, minor: int, serial: str) -> Board:
    with_fabric = bool(model.links) and model.architecture in ("Hopper", "Blackwell")
    told = _platform(model, minor, serial)
    hopper = with_fabric and told.host is None
    blackwell = with_fabric and not hopper
    return Board(
        sub_class="0x0" if model.consumer else "0x2",
        inforom_oem="2.0" if model.consumer or model.architecture == "Ampere" else "2.1",
        inforom_ecc="7.16" if with_fabric else "6.16",
        sparse="Disabled" if hopper else None,
        c2c=model.module is not None if with_fabric else None,
        distances=_limits(model, distance=True),
        temperatures=_limits(model, distance=False),
        module=Module(*(float(word) for word in (model.module or "").split())),
        platform=told,
        queried=Platform("", 0, 0, 1, "Direct Connected", f"0x{0:016x}") if hopper else told,
        health=_health(model),
        atomics_out=_ATOMICS if blackwell and not model.module else None,
        atomics_in=_ATOMICS if blackwell else None,
    )


def _limits(model: Model, *, distance: bool) -> Limits:
    words = (model.limits or "").split()
    if not words or (words[0] == _DISTANCE) != distance:
        return Limits(target=words[-1] if words else None)
    return Limits(*words[1:] if distance else words)


def _platform(model: Model, minor: int, serial: str) -> Platform:
    """As a GB200 tray and an HGX B200 tell it; older boards tell nothing in the report."""
    if model.architecture != "Blackwell" or not model.links:
        return Platform()
    guid = f"0x{minor + 1:016x}"
    if model.module:
        return Platform(serial, 14, 4, 1, "Switch Connected", guid)
    return Platform("", None, None, 1, "Switch Connected", guid)


def _health(model: Model) -> Health:
    if model.architecture != "Blackwell" or not model.links:
        return Health()
    return Health("Healthy", "Full", "False", "False") if model.module else Health("Healthy", timeout="False")

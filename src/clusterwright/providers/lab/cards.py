"""Simulated RDMA cards in the shape of /sys/bus/pci/drivers: below its driver, each with one port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.simulators.hardware import SimulatedNic

_DRIVERS = {"infiniband": "mlx5_core", "mrdma": "mlx5_core", "efa": "efa"}
_LAYERS = {"infiniband": "InfiniBand", "mrdma": "Ethernet", "efa": "Unknown"}
_STATES = {
    "active": ("4: ACTIVE", "5: LinkUp"),
    "polling": ("1: DOWN", "2: Polling"),
    "down": ("1: DOWN", "3: Disabled"),
}
_RATES = {
    800: "800 Gb/sec (4X XDR)",
    400: "400 Gb/sec (4X NDR)",
    200: "200 Gb/sec (4X HDR)",
    100: "100 Gb/sec (4X EDR)",
    50: "50 Gb/sec (1X HDR)",
}
"""As the kernel prints them (drivers/infiniband/core/sysfs.c)."""


def write_cards(folder: Path, nics: Iterable[SimulatedNic]) -> None:
    """Make `folder`/DRIVER/ADDRESS show these cards and no others; safe while a node has it mounted."""
    placed: dict[str, dict[str, tuple[str, SimulatedNic]]] = {driver: {} for driver in _DRIVERS.values()}
    numbers = dict.fromkeys(placed, 0)
    for place, nic in enumerate(nics):
        if nic.kind not in _DRIVERS:
            continue
        driver = _DRIVERS[nic.kind]
        name = f"{'efa_' if driver == 'efa' else 'mlx5_'}{numbers[driver]}"
        numbers[driver] += 1
        if nic.state != "missing":
            placed[driver][nic.pci or f"0000:e0:{place:02x}.0"] = name, nic
    for driver, cards in placed.items():
        _write_driver(folder / driver, cards)


def _write_driver(folder: Path, cards: Mapping[str, tuple[str, SimulatedNic]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in cards:
            remove_tree(path)
    for pci, (name, nic) in cards.items():
        device = folder / pci / "infiniband" / name
        state, physical = _STATES[nic.state]
        texts = {
            "board_id": "SIMULATED",
            "ports/1/state": state,
            "ports/1/phys_state": physical,
            "ports/1/rate": _RATES.get(nic.rate_gbps, f"{nic.rate_gbps} Gb/sec"),
            "ports/1/link_layer": _LAYERS[nic.kind],
        }
        for file, text in texts.items():
            _place(device / file, f"{text}\n")


def _place(path: Path, text: str) -> None:
    """In one step, as it may be read meanwhile; it follows from the state, so no crash loses it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent.parent / f".{path.name}.partial"
    partial.write_text(text)
    partial.rename(path)

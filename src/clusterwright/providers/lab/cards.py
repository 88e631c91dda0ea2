"""Simulated cards in the shape of /sys/bus/pci/drivers: below its driver, each with its port or interface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.simulators import rdma
from clusterwright.providers.lab.simulators.hardware import Hardware

_EFA, _OTHERS, _GVNIC = "efa", "mlx5_core", "gve"


def write_cards(folder: Path, hardware: Hardware) -> None:
    """Make `folder`/DRIVER/ADDRESS show these cards and no others; safe while a node has it mounted."""
    texts = rdma.tree(hardware)
    placed: dict[str, dict[str, str]] = {_EFA: {}, _OTHERS: {}}
    for name, nic in rdma.devices(hardware):
        address = nic.pci or f"0000:e0:{hardware.nics.index(nic):02x}.0"
        placed[_EFA if nic.kind == "efa" else _OTHERS][address] = name
    for driver, names in placed.items():
        _write_driver(folder / driver, names, texts)
    _write_interfaces(folder / _GVNIC, hardware)


def _write_driver(folder: Path, names: Mapping[str, str], texts: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in names:
            remove_tree(path)
    for address, name in names.items():
        port = f"infiniband/{name}/ports/1"
        for file in ("state", "phys_state", "rate", "link_layer"):
            _place(folder / address / port / file, f"{texts[f'{port}/{file}']}\n")


def _write_interfaces(folder: Path, hardware: Hardware) -> None:
    """Google's virtual cards, which have a network interface and no RDMA device."""
    cards = {
        nic.pci or f"0000:00:{4 + number:02x}.0": nic
        for number, nic in enumerate(hardware.nics)
        if nic.kind == "gvnic" and nic.state != "missing"
    }
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in cards:
            remove_tree(path)
    for address, nic in cards.items():
        interface = folder / address / "net" / nic.name
        _place(interface / "operstate", "up\n" if nic.state == "active" else "down\n")
        _place(interface / "mtu", f"{nic.mtu}\n")


def _place(path: Path, text: str) -> None:
    """In one step, as it may be read meanwhile; it follows from the state, so no crash loses it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.parent.parent / f".{path.name}.partial"
    partial.write_text(text)
    partial.rename(path)

"""How fast a collective is on this hardware: a rehearsal's number, proof of nothing but a threshold."""

from __future__ import annotations

from .facts import model_named
from .hardware import Hardware

_NETWORK_SHARE = 0.97
"""Of the line rate: public runs on pairs of eight-GPU nodes end close below it."""


def bus_bandwidth(hardware: Hardware, path: str) -> float:
    """GB/s on `nvlink` or `network`: what the state says, else what the slowest part allows."""
    told = hardware.bandwidth.get(path)
    if told is not None:
        return told
    return _nvlink(hardware) if path == "nvlink" else _network(hardware)


def _nvlink(hardware: Hardware) -> float:
    """An H100's 18 links of 26.562 GB/s make 478; public runs on eight of them average 476 to 484."""
    speeds = []
    for gpu in hardware.present:
        model = model_named(gpu.model)
        if not model.links or model.link_gbps is None:
            return 20.0  # PCIe peers: public all_reduce runs on eight RTX 4090 and L40S reach 10 to 25
        speeds.append((model.links - len(gpu.links_down)) * float(model.link_gbps))
    return round(min(speeds, default=0.0), 2)


def _network(hardware: Hardware) -> float:
    """NCCL spreads evenly over its rails: the slowest card sets the pace of all."""
    if not hardware.nics:
        return round(hardware.ethernet_gbps / 8 * _NETWORK_SHARE, 2)
    rates = [nic.rate_gbps for nic in hardware.nics if nic.state == "active"]
    return round(len(rates) * min(rates, default=0) / 8 * _NETWORK_SHARE, 2)

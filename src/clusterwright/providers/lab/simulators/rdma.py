"""The shape of /sys/class/infiniband, as the kernel shows RDMA devices: what the real ibstat reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from .hardware import Hardware, SimulatedNic

_STATES = {
    "active": ("4: ACTIVE", "5: LinkUp"),
    "down": ("1: DOWN", "3: Disabled"),
    "polling": ("1: DOWN", "2: Polling"),
}
_WIDTHS = {25: "1X EDR", 50: "1X HDR", 100: "4X EDR", 200: "4X HDR", 400: "4X NDR", 800: "4X XDR"}
_CARDS = {
    "efa": ("efa_", "EFA", "0.0.0.0", "Unknown"),
    "infiniband": ("mlx5_", "MT4129", "28.39.1002", "InfiniBand"),
    "irdma": ("irdma", "irdma", "1.80", "Ethernet"),
    "mrdma": ("mlx5_", "MT4129", "28.39.1002", "Ethernet"),
    "roce": ("mlx5_", "MT4129", "28.39.1002", "Ethernet"),
}
"""Kind of a machine type's card → name of its device, type, firmware and link layer: ibstat of ConnectX-7 in
github.com/leptonai/gpud test data; `efa_0` in the AWS EFA guide."""
_COUNTERS = (
    "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery", "local_link_integrity_errors",
    "port_rcv_constraint_errors", "port_rcv_data", "port_rcv_errors", "port_rcv_packets",
    "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_xmit_constraint_errors",
    "port_xmit_data", "port_xmit_discards", "port_xmit_packets", "port_xmit_wait", "symbol_error",
    "VL15_dropped",
)  # fmt: skip


def devices(hardware: Hardware) -> list[tuple[str, SimulatedNic]]:
    """RDMA devices by the names that the kernel gives them; a card that is gone leaves a gap in no name."""
    found, number = [], 0
    for nic in hardware.nics:
        if nic.kind not in _CARDS:
            continue
        name = f"{_CARDS[nic.kind][0]}{number}"
        number += 1
        if nic.state != "missing":
            found.append((name, nic))
    return found


def tree(hardware: Hardware) -> Mapping[str, str]:
    """Path below /sys/class → text."""
    found = devices(hardware)
    files = {path: text for name, nic in found for path, text in _device(hardware, name, nic)}
    if found:
        files["infiniband_mad/abi_version"] = "5"
    for number, (name, nic) in enumerate(found):
        if _CARDS[nic.kind][3] == "InfiniBand":
            files[f"infiniband_mad/umad{number}/ibdev"] = name
            files[f"infiniband_mad/umad{number}/port"] = "1"
    return files


def _device(hardware: Hardware, name: str, nic: SimulatedNic) -> Iterator[tuple[str, str]]:
    _, kind, firmware, layer = _CARDS[nic.kind]
    guid = nic.guid or _guid(hardware, nic)
    folder = f"infiniband/{name}"
    yield f"{folder}/hca_type", kind
    yield f"{folder}/fw_ver", firmware
    yield f"{folder}/hw_rev", "0"
    yield f"{folder}/board_id", "SIMULATED"
    yield f"{folder}/node_type", "1: CA" if nic.kind != "efa" else "7: <unknown>"
    yield f"{folder}/node_desc", f"simulated {name}"
    yield f"{folder}/node_guid", guid
    yield f"{folder}/sys_image_guid", guid
    yield f"{folder}/device/numa_node", str(nic.numa)
    yield f"{folder}/device/net/{nic.name}/operstate", "up" if nic.state == "active" else "down"
    yield from ((f"{folder}/ports/1/{path}", text) for path, text in _port(nic, guid, layer))


def _port(nic: SimulatedNic, guid: str, layer: str) -> Iterator[tuple[str, str]]:
    state, physical = _STATES[nic.state]
    up = nic.state == "active"
    managed = up and layer == "InfiniBand"
    yield "state", state
    yield "phys_state", physical
    rate = nic.rate_gbps if up else 10
    yield "rate", f"{rate} Gb/sec ({_WIDTHS.get(rate, '4X SDR')})"
    yield "link_layer", layer
    unmanaged = "0xffff" if layer == "InfiniBand" else "0x0"
    yield "lid", hex(int(guid.replace(":", ""), 16) % 0xBFFF + 1) if managed else unmanaged
    yield "lid_mask_count", "0"
    yield "sm_lid", "0x1" if managed else "0x0"
    yield "sm_sl", "0"
    yield "cap_mask", "0xa751e848" if layer == "InfiniBand" else "0x00010000"
    yield "gids/0", f"fe80:0000:0000:0000:{guid}"
    yield "pkeys/0", "0xffff"
    yield from ((f"counters/{name}", "0") for name in _COUNTERS)


def _guid(hardware: Hardware, nic: SimulatedNic) -> str:
    """`0200:…`: locally administered; of this card of this node, which its first GPU tells apart."""
    node = hardware.gpus[0].uuid if hardware.gpus else ""
    digits = hashlib.sha256(f"{node}/{nic.name}".encode()).hexdigest()
    return f"0200:{digits[:4]}:{digits[4:8]}:{digits[8:12]}"

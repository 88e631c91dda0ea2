"""What the driver writes to the kernel's log about the hardware, as `NVRM: Xid (PCI:…)` lines."""

from __future__ import annotations

from .hardware import Hardware

_WORDS = {
    48: "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr "
    "0x2eebc4100 partition 3, subpartition 0.",
    63: "Row Remapper: New row marked for remapping, reset gpu to activate.",
    64: "Row Remapper Error: (0x00000002eebc4100) - All reserved rows for bank are remapped",
    74: "NVLink: fatal error detected on link 0(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    79: "GPU has fallen off the bus.",
}
"""The Xid catalogue of docs.nvidia.com/deploy/xid-errors, for those that a fault of the lab writes."""


def lines(hardware: Hardware) -> list[str]:
    """One line for each Xid, in the order of the GPUs."""
    return [
        f"NVRM: Xid (PCI:{gpu.pci.rpartition('.')[0]}): {xid}, pid='<unknown>', name=<unknown>, "
        f"{_WORDS.get(xid, 'see the Xid catalogue')} (simulated)"
        for gpu in hardware.gpus
        if not gpu.model.startswith("AMD")
        for xid in gpu.xids
    ]

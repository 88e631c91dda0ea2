"""A machine of QEMU's on a lab's network, without a system: it starts what its network or its disk has."""

from __future__ import annotations

import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bmc import ipmi_bmc

from clusterwright.providers.lab.command import quiet, run
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.network import bridge_name

DISK = "/dev/disk/by-id/virtio-system"
FIRMWARE = Path("/usr/share/OVMF")
_DISK_BYTES = 6 * 2**30
# No KVM: where tests run there is seldom any, and a figure has to say what was emulated. An old processor, as
# the guards and wide registers of later ones are dear to emulate.
_QEMU = (
    "qemu-system-x86_64 -nodefaults -no-user-config -display none -machine q35 -cpu Nehalem -smp 2 -m 4096"
    " -accel tcg,thread=single,tb-size=512 -device virtio-rng-pci -pidfile pid -serial file:console"
    " -drive if=pflash,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd"
    " -drive if=pflash,format=raw,file=variables"
    " -drive if=none,id=disk,format=raw,cache=unsafe,file=disk"
)
_SWITCHED = """\
#!/bin/sh
# Which of network and disk it starts from first is what the BMC was told, once.
cd {folder} || exit 1
if [ "$(cat power)" = 1 ]; then
    network=2 disk=1
    [ "$(cat boot)" != pxe ] || network=1 disk=2
    echo default > boot
    setsid sh -c '"$@"; echo 0 > power' sh {words} \\
        -device virtio-net-pci,netdev=cable,mac={mac},bootindex=$network \\
        -device virtio-blk-pci,drive=disk,serial=system,bootindex=$disk >qemu.log 2>&1 </dev/null &
elif [ -s pid ]; then
    kill "$(cat pid)"
    while [ -s pid ]; do sleep 0.1; done
fi
"""


@dataclass(frozen=True)
class Machine:
    """One behind a BMC, whose folder this is."""

    folder: Path

    @property
    def console(self) -> str:
        """What it said on its serial line since it was switched on."""
        file = self.folder / "console"
        return file.read_text(errors="replace") if file.exists() else ""

    @property
    def emulated(self) -> float:
        """Seconds of processor time that QEMU took since the machine was switched on."""
        pid = (self.folder / "pid").read_text().strip()
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / 100


@contextmanager
def machine(lab: Lab, folder: Path, bmc: str, mac: str) -> Iterator[Machine]:
    """Off, with an empty disk, a cable in the lab's bridge, and a BMC at this address."""
    shutil.copy(FIRMWARE / "OVMF_VARS_4M.fd", folder / "variables")
    with (folder / "disk").open("wb") as disk:
        disk.truncate(_DISK_BYTES)
    cable = f"vm-{lab.key}"
    run(["ip", "tuntap", "add", cable, "mode", "tap"])
    try:
        run(["ip", "link", "set", cable, "master", bridge_name(lab.key), "up"])
        words = [*_QEMU.split(), "-netdev", f"tap,id=cable,ifname={cable},script=no,downscript=no"]
        switched = folder / "switched"
        switched.write_text(_SWITCHED.format(folder=folder, words=shlex.join(words), mac=mac))
        switched.chmod(stat.S_IRWXU)
        with ipmi_bmc.served(bmc, folder, "SN1"):
            yield Machine(folder)
            (folder / "power").write_text("0\n")
            run([str(switched)])
    finally:
        quiet(["ip", "link", "delete", cable])

"""The real ibnetdiscover and iblinkinfo on a simulated fabric (ibsim of Debian 13, which knows NDR)."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.debian_root import debian_root

PACKAGES = "ibsim-utils,infiniband-diags,opensm"
_RUN = """set -eu
cd "$1"
mkfifo console
export IBSIM_SOCKNAME=$2
ibsim -N 40000 -S 4000 -P 400000 -s fabric.net < console > ibsim.log 2>&1 &
exec 9> console
until grep -q "simulator ready" ibsim.log; do kill -0 %1; sleep 0.05; done
export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so
eval "$3"
LD_PRELOAD= kill %1
"""
PATIENT = "-t 30000"
"""Milliseconds for an answer: the simulator shares two cores with other tests."""
LOOK = (
    f"ibnetdiscover {PATIENT} > discovered.txt 2> said.txt; "
    f"iblinkinfo {PATIENT} --line --switches-only > links.txt 2>> said.txt"
)


@dataclass(frozen=True)
class Printed:
    """Files with what the tools printed."""

    folder: Path

    @property
    def discovered(self) -> Path:
        return self.folder / "discovered.txt"

    @property
    def links(self) -> Path:
        return self.folder / "links.txt"


def look(net: str, folder: Path, what: str = LOOK) -> Printed:
    """Start a fabric, look at it, and end it. The subnet manager's place is the first device's."""
    root = debian_root("trixie", PACKAGES)
    name = uuid4().hex[:12]
    inside = root / "tmp" / name
    inside.mkdir()
    try:
        (inside / "fabric.net").write_text(net)
        words = ["unshare", "--net", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child"]
        words += ["chroot", str(root), "bash", "-c", _RUN, "ibsim", f"/tmp/{name}", name, what]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        assert not done.returncode, done.stderr + _read(inside / "ibsim.log") + _read(inside / "said.txt")
        for file in inside.glob("*.txt"):
            (folder / file.name).write_text(file.read_text())
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", str(inside)], check=True)
    return Printed(folder)


def _read(file: Path) -> str:
    return file.read_text(errors="replace")[-800:] if file.exists() else ""

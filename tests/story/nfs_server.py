"""An NFS server outside the cluster: NFS-Ganesha, which needs nothing of the kernel."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CONFIGURATION = """\
NFS_CORE_PARAM {{
  Protocols = 4;
  Bind_addr = {address};
  Enable_NLM = false;
  Enable_RQUOTA = false;
  allow_set_io_flusher_fail = true;
}}
NFSV4 {{ Graceless = true; RecoveryRoot = {folder}/recovery; }}
EXPORT {{
  Export_Id = 1;
  Path = {exported};
  Pseudo = /home;
  Access_Type = RW;
  Squash = No_Root_Squash;
  SecType = sys;
  FSAL {{ Name = VFS; }}
}}
"""


@contextmanager
def nfs_server(folder: Path, address: str, exported: Path) -> Iterator[None]:
    """This folder, as `/home` of that address."""
    folder.mkdir()
    configuration, log, pid = folder / "ganesha.conf", folder / "log", folder / "pid"
    configuration.write_text(_CONFIGURATION.format(address=address, folder=folder, exported=exported))
    argv = ["ganesha.nfsd", "-F", "-f", str(configuration), "-L", str(log), "-p", str(pid)]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not _listens(address):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


def _listens(address: str) -> bool:
    try:
        socket.create_connection((address, 2049), timeout=1).close()
    except OSError:
        return False
    return True

"""A BMC that speaks IPMI: OpenIPMI's simulator, with a machine behind it that is two files, or a real one."""

from __future__ import annotations

import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.ports import free

USER, PASSWORD = "operator", "s3cret-of-bmcs"
PORT = free(socket.SOCK_DGRAM)

_LAN = """\
name "played"
set_working_mc 0x20
  startlan 1
    addr {address} {port}
    priv_limit admin
    allowed_auths_admin none md5
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "{control}"
  sol "tcp:127.0.0.1:{serial}" 115200
  user 2 true "{user}" "{password}" admin 10 md5
"""
_COMMANDS = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
mc_add_fru_data 0x20 0 {size} data {data}
mc_enable 0x20
"""
_CONTROL = """\
#!/bin/sh
cd {folder} || exit 1
echo "$*" >> told
switched() {{ [ ! -x switched ] || ./switched; }}
while [ $# -gt 0 ]; do
    case "$1 $2" in
    "get power") echo "power:$(cat power)"; shift 2 ;;
    "get boot") echo "boot:$(cat boot)"; shift 2 ;;
    "set power") echo "$3" > power; switched; shift 3 ;;
    "set boot") echo "$3" > boot; shift 3 ;;
    "set shutdown") [ -e stubborn ] || {{ echo 0 > power; switched; }}; shift 3 ;;
    *) shift ;;
    esac
done
"""


def _field(text: str) -> bytes:
    return bytes([0xC0 | len(text)]) + text.encode()


def _fru(maker: str, model: str, serial: str) -> bytes:
    """Platform Management FRU Information 1.0: a header and a product area."""
    fields = b"".join(map(_field, (maker, model, "", "", serial, ""))) + b"\xc1"
    size = (3 + len(fields) + 1 + 7) // 8
    area = (bytes([1, size, 25]) + fields).ljust(size * 8 - 1, b"\0")
    header = bytes([1, 0, 0, 0, 1, 0, 0])
    return b"".join(part + bytes([-sum(part) & 0xFF]) for part in (header, area))


def _speak(listener: socket.socket, heard_of: threading.Event) -> None:
    """On its serial line the machine says what it hears, in capitals."""
    with suppress(OSError):
        line, _ = listener.accept()
        heard_of.set()
        with line:
            while heard := line.recv(100):
                line.sendall(heard.upper())


def _listens(port: int) -> bool:
    rows = Path("/proc/net/udp").read_text().splitlines()[1:]
    return any(row.split()[1].endswith(f":{port:04X}") for row in rows)


@contextmanager
def served(address: str, folder: Path, serial: str) -> Iterator[Path]:
    """The folder has `power`, `boot`, and `told`: what the machine was told. `switched`, where it is there,
    makes a machine of that."""
    (folder / "state").mkdir()
    (folder / "power").write_text("0\n")
    (folder / "boot").write_text("default\n")
    control = folder / "control"
    control.write_text(_CONTROL.format(folder=folder))
    control.chmod(stat.S_IRWXU)
    data = _fru("Played", "Box 4", serial)
    told = " ".join(f"0x{byte:02x}" for byte in data)
    (folder / "commands").write_text(_COMMANDS.format(size=len(data), data=told))
    listener = socket.create_server(("127.0.0.1", 0))  # where the machine's serial line is looked for
    line = listener.getsockname()[1]
    lan = _LAN.format(address=address, port=PORT, serial=line, control=control, user=USER, password=PASSWORD)
    (folder / "lan").write_text(lan)
    argv = ["ipmi_sim", "-n", "-c", f"{folder}/lan", "-f", f"{folder}/commands", "-s", f"{folder}/state"]
    heard_of = threading.Event()
    threading.Thread(target=_speak, args=[listener, heard_of], daemon=True).start()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert heard_of.wait(60)
        while not _listens(PORT):
            assert process.poll() is None
            time.sleep(0.02)
        yield folder
    finally:
        process.terminate()
        process.wait()
        listener.close()

"""A room of machines on one switch, each in a network namespace of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

ASK = Path(__file__).with_name("firmware.py")


class Machine:
    """A namespace that lives as long as its shell."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._shell = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "ip link set lo up && echo there && read -r end"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._shell.stdout and self._shell.stdout.readline() == "there\n"
        self.network = f"/proc/{self._shell.pid}/ns/net"

    @property
    def pid(self) -> int:
        return self._shell.pid

    def words(self, *words: str) -> list[str]:
        return ["nsenter", f"--net={self.network}", *words]

    def run(self, *words: str) -> str:
        done = subprocess.run(self.words(*words), capture_output=True, text=True, check=False, timeout=90)
        assert not done.returncode, (words, done.stderr)
        return done.stdout

    def asks(self, mac: str, *more: str, servers: int = 1) -> list[dict[str, Any]]:
        """What DHCP servers answer a machine with this MAC, asked until so many have."""
        said = self.run(sys.executable, str(ASK), "dhcp", mac, "--servers", str(servers), *more)
        return [json.loads(line) for line in said.splitlines()]

    def end(self) -> None:
        self._shell.kill()
        self._shell.__exit__(None, None, None)


@contextmanager
def room(addresses: dict[str, str]) -> Iterator[dict[str, Machine]]:
    """Machines on one switch, with these addresses on `eth0`; an empty one is none yet."""
    machines: dict[str, Machine] = {}
    try:
        switch = machines["switch"] = Machine("switch")
        switch.run("ip", "link", "add", "br0", "type", "bridge")
        switch.run("ip", "link", "set", "br0", "up")
        for name, address in addresses.items():
            one = machines[name] = Machine(name)
            peer = ["peer", "name", "eth0", "netns", str(one.pid)]
            switch.run("ip", "link", "add", name, "type", "veth", *peer)
            switch.run("ip", "link", "set", name, "master", "br0", "up")
            one.run("ip", "link", "set", "eth0", "up")
            if address:
                one.run("ip", "address", "add", address, "dev", "eth0")
        yield machines
    finally:
        for machine in machines.values():
            machine.end()


@contextmanager
def daemon(machine: Machine, words: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon of a machine, ended with the block."""
    with log.open("wb") as out:
        process = _started(machine, words, out)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def _started(machine: Machine, words: Sequence[str], out: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(machine.words(*words), stdout=out, stderr=subprocess.STDOUT)

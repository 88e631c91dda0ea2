"""The store that a lab's nodes pull from: a folder of the lab, and a small HTTPS server on its bridge."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.network import Network

DID_NOT_START = "CW7070"
PORT = 8443
_SERVER = str(Path(__file__).with_name("serve.py"))
"""It imports nothing of the library, and is not imported: it runs as a process of its own."""
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class LabStore:
    """By the lab's folder and network; the process is found by what its command line says."""

    root: Path
    network: Network

    @property
    def folder(self) -> Path:
        return self.root / "objects"

    @property
    def url(self) -> str:
        return f"https://{self.network.gateway}:{PORT}"

    @property
    def certificate(self) -> Path:
        return self.root / "certificate.pem"

    def start(self) -> None:
        """Have the server answer; one that runs is left alone."""
        for part in ("objects", "reports", "secrets"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        make_certificate(self.root, self.network)
        if self._answers():
            return
        stop(self.network.key)
        self._launch()
        until = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if time.monotonic() > until:
                words = (self.root / "server.log").read_text(errors="replace").strip()[-300:]
                what = f"the store's server at {self.url} does not answer: {words or 'it said nothing'}"
                raise refuse(DID_NOT_START, Where(path=self.url), what, "Run the same command again")
            time.sleep(0.02)

    def _launch(self) -> None:
        argv = ["setsid", "--fork", sys.executable, _SERVER, f"--lab={self.network.key}"]
        argv += [f"--folder={self.folder}", f"--address={self.network.gateway}", f"--port={PORT}"]
        argv += [f"--certificate={self.certificate}", f"--key={self.root / 'key.pem'}"]
        with (self.root / "server.log").open("wb") as log:
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", check=True)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection((str(self.network.gateway), PORT), timeout=1):
            return True
        return False


def stop(key: str) -> None:
    """End the server of this lab, when there is one. It is gone when this returns, and its port is free."""
    for pid in servers(key):
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            try:
                # With the handle open the number cannot pass to another process before the signal.
                if pid in servers(key):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    select.select([handle], [], [], _PATIENCE_S)
            finally:
                os.close(handle)


def servers(key: str) -> Iterator[int]:
    """Process ids of this lab's server: one, or none."""
    wanted = [_SERVER, f"--lab={key}"]
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if words[1:3] == wanted:
                yield int(folder.name)


def make_certificate(folder: Path, network: Network) -> None:
    """Its own authority, for this address only; nodes are told of it in their user data."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if certificate.exists():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = folder / ".certificate.pem"
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    argv += ["-days", "3650", "-subj", f"/CN=clusterwright lab {network.key}", "-keyout", str(key)]
    argv += ["-addext", f"subjectAltName=IP:{network.gateway}"]
    argv += ["-addext", "keyUsage=critical,digitalSignature,keyCertSign", "-out", str(fresh)]
    run(argv)
    fresh.rename(certificate)

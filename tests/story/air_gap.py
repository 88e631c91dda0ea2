"""A network that nothing leaves, with one web server inside that has an offline bundle and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from clusterwright.providers.lab.home import LabHome

from .ground import Desk

# The same at every run: the address stands in what is installed, and so decides which image is a cluster's.
# No port that the kernel gives to connections: one of them could have it.
SERVER, PORT = "10.255.255.1", 28129
_HOLD = "ip link set lo up && ip address add $0/32 dev lo && echo up && exec sleep infinity"


@contextmanager
def closed_network() -> Iterator[tuple[str, ...]]:
    """What a command begins with that runs in it; it ends with the test, and its interfaces with it."""
    argv = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sh", "-c", _HOLD, SERVER]
    holder = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout and holder.stdout.readline() == "up\n"
        yield ("nsenter", f"--net=/proc/{holder.pid}/ns/net")
    finally:
        holder.kill()
        holder.communicate()


def collect(desk: Desk, description: str) -> tuple[Path, str]:
    """The bundle's folder, and the description as a site has it that reaches the bundle alone.

    What was fetched is kept in the cache, and the key with it: a bundle is named by what is in it.
    """
    kept = LabHome.of_user().cache.parent / "test-bundles"
    desk.describe(description)
    key = _key(kept)
    words = ["--out", str(kept), "--key", str(key), "--no-wheels", "--url", f"http://{SERVER}:{PORT}"]
    said = desk.run("bundle", "cluster.yaml", "--offline", *words, "--json", timeout=600)
    made = json.loads(said.strip().splitlines()[-1])
    assert made["findings"] == []
    folder = Path(made["folder"])
    shutil.copy(folder / "key.asc", desk.folder)
    for older in kept.glob("[0-9a-f]" * 16):
        if older != folder:
            shutil.rmtree(older)
    body = yaml.safe_load(description)
    for section, rows in yaml.safe_load("\n".join(made["description"])).items():
        body[section] = {**body.get(section, {}), **rows}
    return folder, yaml.safe_dump(body, sort_keys=False)


@contextmanager
def served(folder: Path, inside: tuple[str, ...], log: Path) -> Iterator[None]:
    """What holds a bundle, on the one address that the closed network has."""
    argv = [*inside, sys.executable, "-m", "http.server", "--bind", SERVER, str(PORT)]
    with log.open("w") as stream:
        server = subprocess.Popen([*argv, "--directory", str(folder)], stdout=stream, stderr=stream)
    try:
        probe = [
            *inside,
            sys.executable,
            "-c",
            f"import socket; socket.create_connection(('{SERVER}', {PORT}))",
        ]
        deadline = time.monotonic() + 120
        while subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode:
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()
        yield
    finally:
        server.kill()
        server.wait()


def _key(folder: Path) -> Path:
    """A secret key of the operator's."""
    file = folder / "operator.asc"
    if not file.exists():
        ring = folder / "ring"
        ring.mkdir(mode=0o700, parents=True, exist_ok=True)
        gpg = ["gpg", "--homedir", str(ring), "--batch", "--quiet", "--passphrase", ""]
        name = "operator@example.com"
        subprocess.run([*gpg, "--quick-generate-key", name, "ed25519", "sign", "never"], check=True)
        made = subprocess.run([*gpg, "--armor", "--export-secret-keys"], capture_output=True, check=True)
        subprocess.run(["gpgconf", "--homedir", str(ring), "--kill", "all"], check=True)
        partial = file.with_suffix(".partial")
        partial.write_bytes(made.stdout)
        partial.rename(file)
        shutil.rmtree(ring)
    return file

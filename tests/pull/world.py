"""An operator, a store behind the lab's own server, and nodes whose roots are folders of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from clusterwright.bundle.collection import root as collection_root
from clusterwright.bundle.turns import InTurn
from clusterwright.event import Event
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.pull import publish
from clusterwright.operate.pull.folder import Folder
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.plan import plan
from clusterwright.plan.model import Ground
from clusterwright.providers.lab.network import Network
from clusterwright.providers.lab.serve import Server
from clusterwright.providers.lab.store import LabStore, make_certificate
from clusterwright.render import render
from clusterwright.spec.load import loads

AGENT = collection_root() / "roles" / "pull" / "files" / "pull"
LOOPBACK = Network("test", IPv4Network("127.0.0.0/24"))
DESCRIPTION = """
cluster: far
site: {provider: lab}
converge: pull
pools:
  controller: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-small, count: 2}
"""


def handoff_of(text: str) -> Handoff:
    return from_plan(plan(loads(text).spec, ground={"main": Ground(network="10.9.0.0/16", simulated=True)}))


@dataclass
class World:
    """One cluster of an operator."""

    folder: Path
    url: str
    description: str = DESCRIPTION
    known: dict[str, Desired] = field(default_factory=dict)
    agents: list[Any] = field(default_factory=list)
    """Those that hold a connection."""

    @property
    def home(self) -> ClusterHome:
        return ClusterHome("far", self.folder / "home")

    @property
    def signing(self) -> Signing:
        return Signing.of(self.home)

    @cached_property
    def store(self) -> Store:
        return Store(Folder(self.stored), self.url)

    @property
    def stored(self) -> Path:
        """Where the store's files are."""
        return self.folder / "store" / "objects"

    @property
    def current(self) -> Path:
        return self.stored / "current.json"

    def desired(self, description: str = "") -> Desired:
        text = description or self.description
        if text not in self.known:
            handoff = handoff_of(text)
            self.known[text] = Desired(self.home, handoff, render(handoff), self.folder)
        return self.known[text]

    def node(self, name: str) -> Path:
        """A node's root; made by the first call, with the host key and what user data would place."""
        root = self.folder / "nodes" / name
        if not root.exists():
            (root / "etc/ssh").mkdir(parents=True)
            (root / "etc/clusterwright").mkdir()
            key_pair(root / "etc/ssh/ssh_host_ed25519_key")
            (root / "ca.pem").write_text((self.folder / "store" / "certificate.pem").read_text())
            self.configure(name, self.signing.public)
        return root

    def configure(self, name: str, signer: str, cluster: str = "far") -> None:
        row = {"cluster": cluster, "url": self.url, "signer": signer, "node": name, "authority": "/ca.pem"}
        (self.folder / "nodes" / name / "etc/clusterwright/pull.json").write_text(json.dumps(row))

    def host_key(self, name: str) -> str:
        return (self.node(name) / "etc/ssh/ssh_host_ed25519_key.pub").read_text().strip()

    def publish(
        self, description: str = "", impacts: dict[str, str] | None = None, roll: InTurn | None = None
    ) -> list[str]:
        """Publish for every node; returns what was said of it."""
        desired, said = self.desired(description), list[Event]()
        keys = {name: self.host_key(name) for name in desired.handoff.by_name}
        publish.publish_to(self.store, desired, keys, impacts or {}, said.append, roll)
        return [event.text for event in said]

    def serial(self) -> int:
        found = self.store.pointer(self.signing.public)
        return found.serial if found else 0

    def verify(self, node: str) -> str:
        """What the agent says of what is published, as a run of its own."""
        argv = [sys.executable, str(AGENT), "--verify", "--root", str(self.node(node))]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60).stdout.strip()

    def kept(self, node: str) -> set[str]:
        """Everything that there is on a node."""
        root = self.node(node)
        return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}

    def sign(self, change: dict[str, object]) -> None:
        """The published pointer with something else in it, validly signed by the operator's key."""
        body = json.loads(json.loads(self.current.read_text())["signed"])
        self.current.write_text(
            self.signing.envelope(json.dumps({**body, **change}), "clusterwright-pointer")
        )


def key_pair(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The store's address while it is served."""
    lab = LabStore(folder / "store", LOOPBACK)
    for part in ("objects", "reports", "secrets"):
        (lab.folder / part).mkdir(parents=True)
    make_certificate(lab.root, LOOPBACK)
    with Server(lab.folder, "127.0.0.1", 0, lab.certificate, lab.root / "key.pem") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()

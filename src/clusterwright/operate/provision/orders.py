"""Orders on the controller: what a machine with a disk is told while it is provisioned, and not after."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Node
from clusterwright.operate.own.site import OwnSite
from clusterwright.operate.remote import run_on
from clusterwright.render.boot import order, order_of, server

Write = Literal["", "rewrite", "erase"]
"""Over what an image may be written beside an empty disk: another image, or anything."""


@dataclass(frozen=True)
class Orders:
    """Of one site. An order that stays behind has a machine start the image that is on its disk."""

    site: OwnSite
    write: Write

    def give(self, node: Node) -> None:
        """Before it starts. One without a disk needs none."""
        if self.site.disk(node):
            file = shlex.quote(order_of(self._mac(node)))
            text = shlex.quote(order(self.site.image(node), self.write))
            self._on_controller(
                f"mkdir -p $(dirname {file}) && printf %s {text} >{file}.new && mv -f {file}.new {file}", node
            )

    def withdraw(self, nodes: Collection[Node]) -> None:
        """When they are ready: from then on they start from their disks."""
        files = [shlex.quote(order_of(self._mac(node))) for node in nodes if self.site.disk(node)]
        if files:
            self._on_controller(f"rm -f {' '.join(files)}", next(iter(nodes)))

    def _mac(self, node: Node) -> str:
        return str(self.site.handoff.machines[node.name]["mac"])

    def _on_controller(self, command: str, node: Node) -> None:
        controller = server(self.site.handoff)
        if controller is None:
            return
        said = run_on(self.site.targets[controller.name], command)
        if said.code:
            words = said.error.strip()[-200:] or f"exit status {said.code}"
            what = f"{controller.name} could not be told that its disk is to be written: {words}"
            raise refuse(
                "CW8315", Where(path=node.name), what, "Run the same command again once it is mended"
            )

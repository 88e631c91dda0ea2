"""Fabrics of own machines: what ibnetdiscover printed against the description, and a list of cables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.accept.wired.netfile import Fabric

from bench.command import process_seconds
from bench.result import Result
from clusterwright.operate.source import Source
from clusterwright.operate.wired import cables

_COMMAND = str(Path(sys.executable).parent / "clusterwright")
_DESCRIPTION = """\
cluster: fabric
site: {{provider: onprem, network: 10.64.0.0/14}}
pools:
  controller: {{roles: [controller, storage], machine: generic-x86-32c}}
  login: {{roles: login, machine: generic-x86-16c, count: 2}}
  gpu:
    roles: compute
    machine: hgx-h100-8gpu
    count: {nodes}
    racks: {{nodes_per_rack: 4, first_unit: 3, units: 8}}
fabric: {{topology: tree, switches: {{model: {model}}}}}
"""


def results() -> Iterator[Result]:
    with TemporaryDirectory() as folder:
        description, discovered = Path(folder, "fabric.yaml"), Path(folder, "discovered.txt")
        description.write_text(_DESCRIPTION.format(nodes=2_000, model="qm9700"))
        wiring, _ = cables(Source(description))
        # What ibsim reads is what ibnetdiscover prints, but for the word of a card.
        discovered.write_text(Fabric(wiring).text().replace("Hca\t", "Ca\t"))
        words = [_COMMAND, "verify", "fabric", str(description), "--discovered", str(discovered)]
        links = f"{len(wiring.cables):,} links"
        yield Result("`clusterwright verify fabric`, 2,000 nodes", process_seconds(words), 5.0, note=links)
        description.write_text(_DESCRIPTION.format(nodes=10_000, model="q3400-ra"))
        words = [_COMMAND, "cabling", str(description), "--csv", str(Path(folder, "cables.csv"))]
        yield Result("`clusterwright cabling --csv`, 10,000 nodes", process_seconds(words))
        yield Result(
            "`clusterwright plan` of that", process_seconds([_COMMAND, "plan", str(description)]), 5.0
        )

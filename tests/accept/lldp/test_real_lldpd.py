"""Real lldpd in network namespaces: both forms of what it prints are read, and a swapped cable is found."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from clusterwright.operate.lldp.verify import verify
from clusterwright.operate.source import Source
from clusterwright.operate.wired import cables

from .daemons import running
from .told import Told

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(not shutil.which("lldpd") or os.getuid() != 0, reason="needs lldpd and root"),
]
HERE = Path(__file__).parent
SWAPPED = (
    "CW6101 the cables of gpu-001 eth0 (rack a1, unit 5) and gpu-002 eth4 (rack a1, unit 13) are swapped: "
    "the first is in gpu-leaf-02/5 (swp5, rack n1, unit 3), "
    "the second in gpu-leaf-01/1 (swp1, rack n1, unit 1)"
)
MISSING = (
    "CW6102 there is no link from gpu-003 eth7 (rack a2, unit 5) to gpu-leaf-02/12 (swp12, rack n1, unit 3)"
)


def test_a_swapped_cable_is_found_in_what_real_daemons_say(tmp_path: Path) -> None:
    """Four nodes with eight cards, two leaves; nodes print json, leaves json0."""
    file = tmp_path / "roce.yaml"
    file.write_text((HERE / "fabrics" / "rails.yaml").read_text())
    fabric = Told(cables(Source(file))[0])
    fabric.swap("gpu-001 eth0", "gpu-002 eth4")
    fabric.pull("gpu-003 eth7")
    ends = [end for end in fabric.ends() if not {"spine-01", "spine-02"} & {end[0][0], end[1][0]}]
    told = tmp_path / "told"
    told.mkdir()
    with running(ends) as asks:
        for device, ask in asks.items():
            form = "json0" if "leaf" in device else "json"
            words = [*ask, "-f", form, "show", "neighbors"]
            with (told / f"{device}.json").open("w") as output:
                subprocess.run(words, check=True, stdout=output)
    by_nodes = verify(Source(file), sorted(told.glob("gpu-0*.json")))
    by_leaves = verify(Source(file), sorted(told.glob("gpu-leaf-*.json")))
    assert [f"{one.code} {one.what}" for one in by_nodes.findings] == [SWAPPED, MISSING]
    seen = [f"{one.code} {one.what}" for one in by_leaves.findings if "gpu-0" in one.where.path]
    assert [text for text in seen if "nothing was told" not in text] == [SWAPPED, MISSING]

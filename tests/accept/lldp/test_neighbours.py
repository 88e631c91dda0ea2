"""A described Ethernet fabric, something done to its cables, what lldpd tells, and what is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.operate.lldp.verify import verify
from clusterwright.operate.source import Source
from clusterwright.operate.wired import cables

from .told import Told

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_each_fault_is_named_by_device_rack_and_port(case: Path, tmp_path: Path) -> None:
    wanted: dict[str, Any] = yaml.safe_load(case.read_text())
    file = tmp_path / "roce.yaml"
    file.write_text((HERE / "fabrics" / f"{wanted['fabric']}.yaml").read_text())
    source = Source(file)
    wiring, _ = cables(source)
    told = Told(wiring, wanted.get("form", "json"), wanted.get("system", "cumulus"))
    for words in wanted["do"]:
        verb, _, rest = words.partition(" ")
        getattr(told, verb)(*rest.split(", "))
    folder = tmp_path / "told"
    folder.mkdir()
    everywhere = [*wiring.nodes, *wiring.by_name]
    told.write(folder, everywhere if wanted.get("from") == "everywhere" else wiring.nodes)
    for name, text in wanted.get("files", {}).items():
        (folder / name).write_text(text)
    found = verify(source, [folder]).findings
    assert [f"{one.code} {one.severity}: {one.what}" for one in found] == wanted["find"]

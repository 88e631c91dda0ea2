"""What makes a fabric lossless: its rows, and the document that an operator gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clusterwright.catalog.lossless import NODES, TITLES, lossless_settings, untold
from clusterwright.catalog.switches import switch_models
from clusterwright.operate.source import Source
from clusterwright.operate.wired import cables
from clusterwright.plan.wiring.lossless import document

EXAMPLE = Path(__file__).parents[3] / "clusters" / "onprem-mi300x-roce.yaml"


def test_each_row_is_of_a_system_and_has_its_source() -> None:
    systems = {system for model in switch_models().values() for system in model.systems} | {NODES}
    told = set()
    for row in lossless_settings():
        assert row.system in systems and row.why.endswith(".")
        assert row.system == NODES or row.topic in TITLES
        assert row.source and re.fullmatch(r"20\d\d-\d\d", row.date)
        told.add(row.system)
    assert told == systems
    assert len({(row.system, row.topic) for row in lossless_settings()}) == len(lossless_settings())


def changed(folder: Path, old: str, new: str) -> str:
    file = folder / "roce.yaml"
    file.write_text(EXAMPLE.read_text().replace(old, new))
    return document(cables(Source(file))[0], "roce")


def test_an_operator_reads_what_to_type_on_each_switch(tmp_path: Path) -> None:
    text = changed(tmp_path, "", "")
    assert "## gpu-leaf-[01-04],spine-[01-02]: sn5600-2x400g under cumulus\n" in text
    assert "\nnv set qos roce mode lossless\nnv config apply\n" in text
    assert "No source" not in text and "qos map dscp" not in text
    assert text.count("\nSource: ") == text.count("\n### ")


@pytest.mark.parametrize(
    ("system", "missing"), [("sonic", "### Thresholds of ECN"), ("eos", "### Memory for")]
)
def test_what_no_source_tells_is_said(system: str, missing: str, tmp_path: Path) -> None:
    model = "7060x6-64pe-2x400g" if system == "eos" else "sn5600-2x400g"
    text = changed(tmp_path, "sn5600-2x400g\n    system: cumulus", f"{model}\n    system: {system}")
    after = text.partition(missing)[2].partition("\n## ")[0]
    assert "No source that is known here tells it" in after
    assert text.count("No source") == len(untold(system)) == 1


def test_a_system_that_nobody_says_is_asked_for(tmp_path: Path) -> None:
    text = changed(tmp_path, "    system: cumulus\n", "")
    assert "The description does not say what runs on it: cumulus or sonic." in text

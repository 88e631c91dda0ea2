"""Lists of machines as sites have them: what is taken of each, and everything that is told.

A case is a folder: its lists, read in the order of their names, and in `expected` what comes of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterwright.cli.terminal.findings import show
from clusterwright.finding import Refused
from clusterwright.operate.inventory import collect
from clusterwright.operate.inventory.draft import draft
from clusterwright.spec.machines import parse_machines

CASES = sorted(folder for folder in (Path(__file__).parent / "cases").iterdir())


def lists(case: Path) -> list[Path]:
    return sorted(file for file in case.iterdir() if file.name != "expected")


def seen(case: Path) -> str:
    try:
        imported = collect(lists(case))
    except Refused as refused:
        return "".join(f"{finding}\n" for finding in refused.findings).replace(f"{case}/", "")
    pools, doubts = draft(imported.machines)
    told = [f"{one.severity.value} {one}" for one in (*imported.findings, *doubts)]
    text = "\n".join([imported.text(), pools, *told]) + "\n"
    return text.replace(f"{case}/", "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_list_comes_to_machines_and_findings(case: Path, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-goldens"):
        (case / "expected").write_text(seen(case))
    assert seen(case) == (case / "expected").read_text()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_written_can_be_read_again(case: Path) -> None:
    try:
        imported = collect(lists(case))
    except Refused:
        return
    file, findings = parse_machines(imported.text(), "machines.csv")
    assert findings == []
    assert [row.node for row in file.rows] == [one.node for one in imported.machines]


def test_a_password_reaches_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    case = next(case for case in CASES if case.name == "passwords")
    show(collect(lists(case)).findings, as_json=False)
    printed = seen(case) + "".join(capsys.readouterr())
    assert "SNMP community" in printed
    assert "hunter2" not in printed and "publik" not in printed


@pytest.mark.parametrize(
    "text",
    [
        "name,mac\n" + "x" * 200_000 + ",1\ngpu1,0c42a1000001\n",
        'name,mac\n"' + "x\n" * 100 + "gpu1,0c42a1000001\n",
        "name,mac\n\0,\0\ngpu1,0c42a1000001\n",
        "name,mac\n,,,,,\n\n;;;\ngpu1,0c42a1000001",
        "sep=,\nname,mac\ngpu1,0c42a1000001\n",
    ],
    ids=["long-cell", "open-quote", "zeros", "only-delimiters", "spreadsheet-mark"],
)
def test_what_is_spoilt_takes_nothing_else_with_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "list.csv").write_text(text)
    imported = collect([tmp_path / "list.csv"])
    assert "gpu1" in [one.node for one in imported.machines]


@given(st.binary(max_size=300))
def test_no_bytes_make_it_stumble(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("list") / "list.csv"
    path.write_bytes(b"name,mac,serial\n" + content)
    try:
        imported = collect([path])
    except Refused:
        return
    assert parse_machines(imported.text(), "machines.csv")[1] == []

"""The file of machines: what is read of it, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterwright.finding import Refused
from clusterwright.spec.load import load
from clusterwright.spec.mac import mac
from clusterwright.spec.machines import Machine, parse_machines
from clusterwright.spec.site import OnpremSite

DESCRIPTION = """
cluster: try
site: {provider: onprem, machines: try.csv}
pools: {box: {roles: [controller, login, compute, storage], machine: rtx4090-workstation}}
"""
WRONG = {
    "misspelt-head": ("node,serail\nbox,1\n", "CW1671", 1, 6),
    "head-twice": ("node,mac,mac\nbox,,\n", "CW1671", 1, 10),
    "no-node": ("mac,serial\n,1\n", "CW1671", 1, 1),
    "empty": ("# nothing\n\n", "CW1671", 1, 1),
    "password-column": ("node,bmc_password\nbox,hunter2\n", "CW1672", 1, 6),
    "password-as-reference": ("node,bmc_credentials\nbox,hunter2\n", "CW1673", 2, 5),
    "short-mac": ("node,serial,mac\nbox,A1,0a:1b:2c:3d:4e\n", "CW1673", 2, 8),
    "mac-after-quotes": ('node,serial,mac\nbox,"A,1",zz\n', "CW1673", 2, 5),
    "short-fingerprint": ("node,bmc_certificate\nbox,0a:1b\n", "CW1673", 2, 5),
    "no-address": ("node,address\nbox,10.70.0\n", "CW1673", 2, 5),
    "no-node-name": ("node,mac\nBox 1,\n", "CW1673", 2, 1),
    "cell-too-many": ("node,mac\nbox,,x\n", "CW1673", 2, 1),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_used_is_told_with_its_place(case: str) -> None:
    text, code, line, column = WRONG[case]
    _, findings = parse_machines(text, "try.csv")
    where = findings[0].where
    assert (findings[0].code, where.file, where.line, where.column) == (code, "try.csv", line, column)
    assert "hunter2" not in "".join(map(str, findings))


def test_a_description_knows_its_machines(tmp_path: Path) -> None:
    (tmp_path / "try.yaml").write_text(DESCRIPTION)
    (tmp_path / "try.csv").write_text(
        "\ufeffnode,mac,serial\r\n# spare parts\r\n\r\nbox,0C42.A1AA.BB01,X-1\r\n"
    )
    site = load(tmp_path / "try.yaml").spec.site
    assert isinstance(site, OnpremSite) and site.known_machines
    assert site.known_machines.rows == (Machine("box", mac="0c:42:a1:aa:bb:01", serial="X-1", line=4),)


@pytest.mark.parametrize("content", [None, b"node,mac\nk\xf6ln,\n"], ids=["absent", "latin-1"])
def test_a_file_that_cannot_be_read_refuses_the_description(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / "try.yaml").write_text(DESCRIPTION)
    if content:
        (tmp_path / "try.csv").write_bytes(content)
    with pytest.raises(Refused) as refused:
        load(tmp_path / "try.yaml")
    assert [finding.code for finding in refused.value.findings] == ["CW1670"]


@pytest.mark.parametrize(
    ("spelled", "read"),
    [
        ("0A-1B-2C-3D-4E-5F", "0a:1b:2c:3d:4e:5f"),
        ("a:1b:2:3d:4e:5f", "0a:1b:02:3d:4e:5f"),
        ("0a1b.2c3d.4e5f", "0a:1b:2c:3d:4e:5f"),
        ("0a1b2c-3d4e5f", "0a:1b:2c:3d:4e:5f"),
        ("0A1B2C3D4E5F", "0a:1b:2c:3d:4e:5f"),
        ("0a:1b-2c:3d:4e:5f", None),
        ("0a:1b:2c:3d:4e:5f:60:71", None),
        ("10.70.0.1", None),
        ("", None),
    ],
)
def test_macs_of_any_spelling(spelled: str, read: str | None) -> None:
    assert mac(spelled) == read


@pytest.mark.parametrize("spelled", ["ab" * 32, ":".join(["AB"] * 32), f"sha256:{'ab' * 32}"])
def test_fingerprints_of_any_spelling(spelled: str) -> None:
    file, findings = parse_machines(f"node,bmc_certificate\nbox,{spelled}\n", "try.csv")
    assert (findings, file.rows[0].bmc_certificate) == ([], "ab" * 32)


@given(st.text(max_size=200))
def test_no_text_makes_it_stumble(text: str) -> None:
    file, findings = parse_machines(f"node,mac,address,serial,bmc_credentials\n{text}", "try.csv")
    for where in (finding.where for finding in findings):
        assert where.line > 0 and where.column > 0
    for row in file.rows:
        assert file.where(row.line, "mac").column > 0

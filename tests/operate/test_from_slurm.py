"""A slurm.conf that is there begins a description: what it says is in there, or is named. Nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.checks import check
from clusterwright.finding import Refused, Severity
from clusterwright.operate.own.from_slurm import from_slurm
from clusterwright.operate.own.slurm_conf import read
from clusterwright.spec.load import load

FOLDER = Path(__file__).with_name("slurm_confs")
CASES = sorted(file.stem for file in FOLDER.glob("*.conf"))


@pytest.mark.parametrize("case", CASES)
def test_description_and_what_was_not_said(case: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    begun = from_slurm(FOLDER / f"{case}.conf")
    told = "".join(
        f"{one.severity} {one.where.line or ''} {one.what}. {one.remedy}\n".replace("  ", " ")
        for one in begun.findings
    )
    for kind, text in (("yaml", begun.text), ("findings", told)):
        golden = FOLDER / f"{case}.{kind}"
        if request.config.getoption("--update-goldens"):
            golden.write_text(text)
        assert text == golden.read_text()
    file = tmp_path / "site.yaml"
    file.write_text(begun.text)
    loaded = load(file)
    assert not [one for one in check(loaded.spec, loaded.where) if one.severity is Severity.ERROR]


@pytest.mark.parametrize("case", CASES)
def test_every_word_is_in_the_description_or_in_a_finding(case: str) -> None:
    conf, begun = read(FOLDER / f"{case}.conf"), from_slurm(FOLDER / f"{case}.conf")
    everything = (begun.text + "".join(str(one) for one in begun.findings)).lower()
    for line in conf.settings:
        for key, value in line.words.items():
            assert key in everything or key in ("clustername", "slurmctldhost"), key
            assert value.partition("(")[0].lower().replace("_", "-") in everything.replace("_", "-")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", ["has no ClusterName", "has no NodeName"]),
        ("ClusterName=a\n", ["has no NodeName"]),
        ("NodeName=n1\n", ["has no ClusterName"]),
        (
            "ClusterName=a\nNodeName=n[1 CPUs=2\nNodeName=ALL\nPartitionName=p Nodes=n1,GPU2\n",
            ["'n[1' is no node name", "'ALL' is no node name", "'GPU2' is no node name"],
        ),
    ],
)
def test_something_else_is_refused(text: str, wrong: list[str], tmp_path: Path) -> None:
    file = tmp_path / "slurm.conf"
    file.write_text(text)
    with pytest.raises(Refused) as refused:
        from_slurm(file)
    assert [(one.code, one.what) for one in refused.value.findings] == [("CW8183", what) for what in wrong]


def test_an_include_that_is_missing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "slurm.conf"
    file.write_text("ClusterName=a\nNodeName=n1\nInclude nodes.conf\n")
    with pytest.raises(Refused, match=r"nodes\.conf"):
        from_slurm(file)

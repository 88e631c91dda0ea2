from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clusterwright.accept import report
from clusterwright.accept.result import Acceptance, GateResult
from clusterwright.finding import Refused

GATES = (
    GateResult("answers", "gpu-001", "pass", "an answer", "in 0.1 s", seconds=0.1),
    GateResult("answers", "gpu-002", "pass", "an answer", "in 0.2 s", seconds=0.2),
    GateResult("mounts", "gpu-001", "fail", "/home mounted", "not mounted", "Run `mount /home`"),
    GateResult("mounts", "gpu-002", "fail", "/home mounted", "not mounted", "Run `mount /home`"),
    GateResult("slurm-state", "gpu-001", "fail", "idle", "<b>down</b>", "Look"),
    GateResult("jobs", "gpu-002", "skip", "an idle node", "allocated: left alone"),
    GateResult(
        "all-reduce",
        "gpu-[001-002]",
        "pass",
        "a sum",
        "exact",
        figures={"latency_us": 16.4, "bandwidth_gb_s": 0.8},
    ),
)
BROKEN = Acceptance("lab", GATES, 1_795_000_000.0, 2.5, True)
GOOD = Acceptance("lab", GATES[:2] + GATES[-1:], 1_795_000_000.0, 2.5, False)


def test_the_report_reads_back(tmp_path: Path) -> None:
    report.write(BROKEN, tmp_path / "run")
    text = (tmp_path / "run/accept.json").read_text()
    assert report.loads(text) == BROKEN
    assert json.loads(text)["version"] == 1
    assert json.loads(text)["accepted"] is False
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["accept.html", "accept.json"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 2}', '{"version": 1, "accepted": true}'])
def test_a_damaged_report_is_a_finding(text: str) -> None:
    with pytest.raises(Refused, match="CW600"):
        report.loads(text, "accept.json")


def test_the_summary_says_alike_failures_once() -> None:
    text = report.summary(BROKEN)
    assert text.count("mounts failed") == 1
    assert "gpu-[001-002]: mounts failed" in text
    assert "skip  jobs            gpu-002: allocated: left alone" in text
    assert text.endswith(
        "lab: NOT accepted (3 gates passed, 3 failed, 1 skipped, simulated hardware, 2.5 s)\n"
    )
    assert report.verdict(GOOD) == "lab: accepted (3 gates passed, 2.5 s)"


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_stands_alone_and_escapes_what_nodes_said() -> None:
    page = Page(report.page(BROKEN))
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "b "}
    assert not any(key in attributes for _, attributes in page.tags for key in ("src", "href"))
    assert "<b>down</b>" in page.text
    assert "not accepted" in page.text and "simulated hardware" in page.text
    assert re.search(r"16 µs\s*all-reduce of 8 B", page.text)


def test_the_page_of_a_large_cluster_stays_small() -> None:
    gates = tuple(GateResult("answers", f"n{i:05}", "pass", "an answer", f"in {i} s") for i in range(20_000))
    page = report.page(Acceptance("big", gates, 0.0, 60.0, False))
    assert len(page) < 200_000
    assert "and 19800 more" in page

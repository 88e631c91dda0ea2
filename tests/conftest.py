"""Tests of the real world may not be skipped in CI."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

REAL_WORLD = ("lab", "slurm", "engine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write tests/golden from what is rendered now"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marks = [name for name in REAL_WORLD if item.get_closest_marker(name)]
    if marks and report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"marked {', '.join(marks)} and skipped in CI: {report.longrepr}"
    return report

"""What holds for every test: those of the real world share one worker, and CI does not let them be skipped."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

REAL_WORLD = ("lab", "slurm", "engine")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _real(item):
            item.add_marker(pytest.mark.xdist_group("real-world"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and _real(item) and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"marked {', '.join(_real(item))} and skipped in CI: {report.longrepr}"
    return report


def _real(item: pytest.Item) -> list[str]:
    return [name for name in REAL_WORLD if item.get_closest_marker(name)]

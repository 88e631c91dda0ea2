"""Tests of the real world come first, and in CI none of them may be skipped; what hypothesis tries."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REAL_WORLD = ("lab", "slurm", "engine")

# In CI hypothesis takes its own profile, with the same examples each time; elsewhere every run tries others.
# A loaded machine misses deadlines in both.
if os.environ.get("CI") != "true":
    settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("here")


_ALLOCATIONS = (50_000, 20, 50)
"""Python looks for cycles after each 700 objects, a fifth of the suite's time: most that tests make stays."""


def pytest_configure() -> None:
    gc.set_threshold(*_ALLOCATIONS)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write tests/golden from what is rendered now"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of the real world first: they last longest, and short files fill up what is left of the time."""
    slow = {item.path for item in items if any(map(item.get_closest_marker, REAL_WORLD))}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run have."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marks = [name for name in REAL_WORLD if item.get_closest_marker(name)]
    if marks and report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"marked {', '.join(marks)} and skipped in CI: {report.longrepr}"
    elif report.skipped and os.environ.get("CI") == "true" and "Skipped: needs " in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, which has to bring it: {report.longrepr}"
    return report

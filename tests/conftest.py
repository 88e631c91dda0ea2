"""Tests of the real world share one worker, and in CI none of them may be skipped."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from functools import cache
from typing import Any

import pytest

REAL_WORLD = ("lab", "slurm", "engine")
_MARKED = re.compile(rf"\bmark\.({'|'.join(REAL_WORLD)})\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write tests/golden from what is rendered now"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    # Written out because `--dist loadgroup` of pytest-xdist 3.8 groups nothing under pytest 9.2.
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    @cache
    def scope(file: str) -> str:
        return "real-world" if _MARKED.search((config.rootpath / file).read_text()) else file

    class RealWorldOnOneWorker(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid.partition("::")[0])

    return RealWorldOnOneWorker(config, log)


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

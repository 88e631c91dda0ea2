"""A cloud whose SDK is not installed is asked for by name, not with a crash."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clusterwright.finding import Refused, Where
from clusterwright.operate.built import cloud_images
from clusterwright.operate.live import live
from clusterwright.operate.source import Source
from clusterwright.operate.stack.left import left
from clusterwright.plan import plan
from clusterwright.spec.load import load

CLUSTERS = Path(__file__).parents[2] / "clusters"


@pytest.mark.parametrize(
    ("file", "module", "extra"), [("gcp-a3-mega", "google.auth", "gcp"), ("aws-p5", "botocore", "aws")]
)
def test_is_refused_also_where_another_package_of_the_vendor_is_there(
    file: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    description = CLUSTERS / f"{file}.yaml"
    spec = load(description).spec
    for ask in (
        lambda: left(spec, None),
        lambda: cloud_images(Source(description)),
        lambda: live(plan(spec), lambda path: Where(path=path), datetime(2026, 1, 1, tzinfo=UTC)),
    ):
        with pytest.raises(Refused, match=rf"CW7101 .*clusterwright\[{extra}\]"):
            ask()

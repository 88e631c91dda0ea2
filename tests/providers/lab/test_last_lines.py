"""Of a log that is long, the newest lines say what happened."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clusterwright.providers.lab.logs import logs


def test_the_last_lines_are_the_newest(tmp_path: Path) -> None:
    console = tmp_path / "console.log"
    console.write_text("".join(f"{number}\n" for number in range(1, 10)))
    lab: Any = SimpleNamespace(name="lab", machine=lambda _: SimpleNamespace(console=console))
    assert [*logs(lab, "gpu-001", console=True, last=2)] == ["8", "9"]
    assert [*logs(lab, "gpu-001", console=True)] == [*map(str, range(1, 10))]

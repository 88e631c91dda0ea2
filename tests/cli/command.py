"""The real command, in a folder and a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        **more,
    }


def clusterwright(*words: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    argv = [str(BIN / "clusterwright"), *words]
    return subprocess.run(
        argv, env=environment(home, **more), cwd=home, capture_output=True, text=True, timeout=60, check=False
    )

"""The controller of an example in a network of its own, with the real dnsmasq and nginx."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PROGRAMS = ("dnsmasq", "nginx", "unshare", "nsenter", "ip")


@pytest.fixture(scope="session", autouse=True)
def _needed() -> None:
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    missing += [] if Path("/usr/lib/ipxe/undionly.kpxe").exists() else ["ipxe"]
    if missing or os.geteuid():
        pytest.skip(f"needs root and {', '.join(missing) or 'nothing else'}")


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that dnsmasq may read after it gave up its privileges; pytest's own are closed to others."""
    with TemporaryDirectory(prefix="boot-") as name:
        Path(name).chmod(0o755)
        yield Path(name)

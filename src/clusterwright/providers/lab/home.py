"""Where labs keep what they share (the cache) and what they are (the state)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LabHome:
    """Two folders: `cache` may be deleted at any time without losing a lab, `state` is the labs."""

    cache: Path
    state: Path

    @classmethod
    def of_user(cls, environ: Mapping[str, str] = os.environ) -> LabHome:
        """The XDG base directories of whoever runs the program."""
        home = Path(environ.get("HOME") or Path.home())
        cache = _xdg(environ, "XDG_CACHE_HOME", home / ".cache")
        state = _xdg(environ, "XDG_STATE_HOME", home / ".local" / "state")
        return cls(cache / "clusterwright" / "lab", state / "clusterwright" / "lab")

    @property
    def rootfs(self) -> Path:
        return self.cache / "rootfs"

    @property
    def images(self) -> Path:
        return self.cache / "images"

    @property
    def netboot(self) -> Path:
        """Images that own machines boot over their network, baked as a lab's are."""
        return self.cache / "netboot"

    @property
    def package_archives(self) -> Path:
        """Downloaded Debian packages, shared by the base and by every image bake."""
        return self.cache / "archives"

    @property
    def vendor(self) -> Path:
        """Repositories of simulated packages, each under the digest of what is in it."""
        return self.cache / "vendor"

    @property
    def vendor_key(self) -> Path:
        """Signs those repositories and nothing else. Beside them, so that labs of one cache share images."""
        return self.cache / "vendor-key"

    @property
    def labs(self) -> Path:
        return self.state / "labs"

    @property
    def locks(self) -> Path:
        return self.state / "locks"


def _xdg(environ: Mapping[str, str], variable: str, default: Path) -> Path:
    # The XDG specification: a relative path is to be ignored.
    value = Path(environ.get(variable, ""))
    return value if value.is_absolute() else default

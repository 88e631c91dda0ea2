"""Which of the addresses that vendors name for their packages a package manager can install from."""

from __future__ import annotations

from clusterwright.catalog.distributions import Format

_FILES = (".gz", ".repo")
"""What is behind such an address is one file."""


def installable(url: str, suite: str, *, has_key: bool, packages: Format) -> bool:
    """A signed repository. Some vendors hand out an archive, or files on a page, and some sign nothing:
    apt reads no source at all once one of them has no suite."""
    return has_key and (bool(suite) if packages == "deb" else not url.endswith(_FILES))

"""Where in the bundle a package's file lies."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from clusterwright.operate.offline.apt import Origin
from clusterwright.operate.offline.origins import ADDED, DISTRIBUTION, SECURITY


def place(uri: str, origins: Iterable[Origin]) -> str:
    """The distribution's as in its own archive; a vendor's in a folder of the vendor's name."""
    fitting = (origin for origin in origins if _plain(uri).startswith(_plain(origin.url).rstrip("/") + "/"))
    origin = max(fitting, key=lambda origin: len(origin.url))
    path = unquote(_plain(uri)[len(_plain(origin.url).rstrip("/")) + 1 :])
    if origin.name in (DISTRIBUTION, SECURITY):
        return f"{origin.name}/{path}"
    name = path.rpartition("/")[2]
    return f"{ADDED}/{name}" if origin.name == ADDED else f"vendors/{origin.name}/{name}"


def _plain(uri: str) -> str:
    return "file:/" + uri.removeprefix("file:").lstrip("/") if uri.startswith("file:") else uri

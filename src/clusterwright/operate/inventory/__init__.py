"""Lists of machines that a site has already, read into the file of machines of a description."""

from __future__ import annotations

from clusterwright.operate.inventory.collect import Imported, collect

__all__ = ["Imported", "collect"]

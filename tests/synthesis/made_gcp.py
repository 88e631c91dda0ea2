"""What Google Cloud adds to each type of resource, as far as programs read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

MADE: Mapping[str, Callable[[str, Mapping[str, Any]], Mapping[str, Any]]] = {}

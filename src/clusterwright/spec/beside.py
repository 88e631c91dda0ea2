"""Files that stand beside the description."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

BESIDE = r"^[^/\s-][^\s]*$"

Beside = Annotated[str, Field(pattern=BESIDE)]
"""A path relative to the description's folder."""

"""What every section is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Closed(BaseModel):
    """Read without conversion, changed by nobody, and with no key that is not written here."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

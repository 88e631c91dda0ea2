"""Tags: everything that is made says which cluster it is of."""

from __future__ import annotations

from collections.abc import Mapping


def named(tags: Mapping[str, str], name: str) -> dict[str, str]:
    """With the name that Amazon's console shows."""
    return {**tags, "Name": name}

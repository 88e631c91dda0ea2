"""MAC addresses, however a tool spells them."""

from __future__ import annotations

import re

_SPELLED = re.compile(
    r"(?:[0-9a-f]{1,2}(?P<sep>[:-])(?:[0-9a-f]{1,2}(?P=sep)){4}[0-9a-f]{1,2}"
    r"|[0-9a-f]{4}[.:-][0-9a-f]{4}[.:-][0-9a-f]{4}|[0-9a-f]{6}-[0-9a-f]{6}|[0-9a-f]{12})",
    re.IGNORECASE,
)


def mac(text: str) -> str | None:
    """Any spelling, `0a1b.2c3d.4e5f` for instance, as `0a:1b:2c:3d:4e:5f`; None for what is none."""
    if not _SPELLED.fullmatch(text):
        return None
    parts = re.split("[.:-]", text.lower())
    digits = "".join(part.zfill(2) for part in parts) if len(parts) == 6 else "".join(parts)
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def is_of_one_card(address: str) -> bool:
    """Whether a vendor gave it to one card: no group address, none that software made up, not all zero."""
    return not int(address[:2], 16) & 3 and address != "00:00:00:00:00:00"

"""Host keys as cloud-init prints them on a machine's console."""

from __future__ import annotations

import re

_KEYS = re.compile(r"-----BEGIN SSH HOST KEY KEYS-----(.*?)-----END SSH HOST KEY KEYS-----", re.DOTALL)
"""cloudinit.readthedocs.io, Module reference, Keys to Console (2026-11)."""
_KEY = re.compile(r"\bssh-ed25519 [A-Za-z0-9+/]{68}")


def host_key(text: str) -> str | None:
    """The Ed25519 key of the last boot that printed one."""
    blocks = _KEYS.findall(text)
    found = _KEY.search(blocks[-1]) if blocks else None
    return found[0] if found else None

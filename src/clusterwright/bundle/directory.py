"""The directory that has people: what of it is on every node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterwright.handoff import Handoff

PASSWORD = "/etc/sssd/conf.d/50-clusterwright.conf"
DOMAIN = "cluster"


def of(handoff: Handoff) -> Mapping[str, Any] | None:
    return handoff.cluster["surroundings"].get("directory")  # type: ignore[no-any-return]  # plain JSON


def people(handoff: Handoff) -> list[str]:
    """Those of the description whom the directory has."""
    return sorted(name for name, user in handoff.cluster["users"].items() if user["uid"] is None)


def secrets(handoff: Handoff) -> Mapping[str, str]:
    """Path on the node → file beside the description."""
    directory = of(handoff)
    return {PASSWORD: directory["bind"]["password"]} if directory and directory["bind"] else {}


def password_file(content: bytes) -> bytes | None:
    """sssd reads a password from its configuration only, and that in several files.

    None where the content is not one line of text: sssd would take a second one for a setting."""
    try:
        password = content.decode().strip("\r\n")
    except UnicodeDecodeError:
        return None
    if not password or not password.isprintable() or password != password.strip():
        return None
    return f"[domain/{DOMAIN}]\nldap_default_authtok = {password}\n".encode()

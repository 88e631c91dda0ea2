"""The directory that has a site's people."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described, OneOrMany
from clusterwright.spec.beside import Beside

SERVER = r"^ldaps?://[A-Za-z0-9.\[\]:-]+(:[0-9]+)?$"
DISTINGUISHED_NAME = r"^[A-Za-z][A-Za-z0-9-]*=[^\s,][^\r\n]*$"
GROUP = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"

DistinguishedName = Annotated[str, Field(pattern=DISTINGUISHED_NAME)]


class Bind(Described):
    """As whom nodes ask the directory."""

    dn: DistinguishedName
    """Its distinguished name."""
    password: Beside
    """A file beside the description that has the password, in one line."""


class Directory(Described):
    """An LDAP directory with people's names, numbers, groups, passwords and keys. sssd asks it over TLS."""

    servers: Annotated[list[Annotated[str, Field(pattern=SERVER)]], OneOrMany(), Field(min_length=1)]
    """`ldaps://HOST`, or `ldap://HOST`, which is asked for TLS first; the next one where one is silent."""
    base: DistinguishedName
    """Where people and groups are, as in `dc=example,dc=org`."""
    ldap_schema: Literal["rfc2307", "rfc2307bis"] = "rfc2307"
    """How groups name their members: by login, or by distinguished name."""
    bind: Bind | None = None
    """Without it, nodes ask anonymously."""
    login_groups: Annotated[list[Annotated[str, Field(pattern=GROUP)]], OneOrMany()] = []
    """Who may log in; without any, everybody whom the directory has."""

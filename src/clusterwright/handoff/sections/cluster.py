"""Name, people and surroundings of a cluster."""

from __future__ import annotations

from typing import Literal

from clusterwright.handoff.sections.closed import Closed


class UserSection(Closed):
    """A person's login on every node. Without a number, the directory has it."""

    uid: int | None
    keys: list[str]
    account: str
    admin: bool


class BindSection(Closed):
    """As whom nodes ask the directory: its password's file is beside the description."""

    dn: str
    password: str


class DirectorySection(Closed):
    """The LDAP directory that has people."""

    servers: list[str]
    base: str
    ldap_schema: Literal["rfc2307", "rfc2307bis"]
    bind: BindSection | None
    login_groups: list[str]


class SurroundingsSection(Closed):
    """Proxy, certificates, mirror and time. Paths are relative to the description's folder."""

    http_proxy: str | None
    no_proxy: list[str]
    certificate_authorities: list[str]
    package_mirror: str | None
    security_mirror: str | None
    time_servers: list[str]
    directory: DirectorySection | None = None


class HookSection(Closed):
    """A step of the site's own. No pools means all."""

    at: str
    run: str
    pools: list[str]


class ClusterSection(Closed):
    """Name, people and surroundings. A node is `<node>.<name>.<domain>`."""

    name: str
    domain: str
    users: dict[str, UserSection]
    surroundings: SurroundingsSection
    hooks: list[HookSection]
    converge: Literal["push", "pull"] = "push"

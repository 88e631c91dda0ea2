"""Name, people and surroundings of a cluster."""

from __future__ import annotations

from typing import Literal

from clusterwright.handoff.sections.closed import Closed


class UserSection(Closed):
    """A person's login on every node."""

    uid: int
    keys: list[str]
    account: str
    admin: bool


class SurroundingsSection(Closed):
    """Proxy, certificates, mirror and time. Paths are relative to the description's folder."""

    http_proxy: str | None
    no_proxy: list[str]
    certificate_authorities: list[str]
    package_mirror: str | None
    security_mirror: str | None
    time_servers: list[str]


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

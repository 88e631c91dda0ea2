"""The description as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.fabric import Fabric
from clusterwright.spec.name import AccountName, ClusterName, Label
from clusterwright.spec.people import Account, User
from clusterwright.spec.pool import Pool
from clusterwright.spec.quantity import Watts
from clusterwright.spec.scheduler import Scheduler
from clusterwright.spec.site import Site
from clusterwright.spec.software import Software
from clusterwright.spec.storage import Storage
from clusterwright.spec.surroundings import Hook, Surroundings

DOMAIN = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"


class ClusterSpec(Described):
    """One GPU cluster."""

    cluster: ClusterName
    """Name of the cluster."""
    site: Site | None = None
    """Where the machines are. Give this, or `sites` for more than one."""
    sites: dict[Label, Site] = {}
    """Sites by name, when the cluster has more than one; each pool then names its own."""
    pools: Annotated[dict[Label, Pool], Field(min_length=1)]
    """Machines by pool."""
    domain: Annotated[str, Field(pattern=DOMAIN, max_length=190)] = "internal"
    """DNS domain of the nodes; a node is `<node>.<cluster>.<domain>`."""
    fabric: Fabric = Fabric()
    """How compute nodes hang together."""
    scheduler: Scheduler = Scheduler()
    """Slurm."""
    users: dict[AccountName, User] = {}
    """People by login name."""
    accounts: dict[AccountName, Account] = {"default": Account()}
    """Teams in Slurm's accounting database, by name."""
    storage: Storage = Storage()
    """Shared file systems."""
    software: Software = Software()
    """What is installed."""
    surroundings: Surroundings = Surroundings()
    """Proxy, certificates, mirror, time."""
    hooks: list[Hook] = []
    """Steps of the site's own."""
    converge: Literal["push", "pull"] = "push"
    """How nodes are configured: `push` over SSH, or `pull`, each by itself from a signed bundle."""
    power_limit: Watts | None = None
    """What the whole cluster may draw."""

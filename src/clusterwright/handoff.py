"""The one versioned document between what builds machines and what configures them.

Everything to its right (render, bundle, converge, accept, operate) reads this and nothing else.
It holds references to keys, never keys.

Hardware stands once per machine type under `hardware`, and a node names its type: at 65,000 nodes the
document stays in the tens of megabytes instead of the hundreds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from clusterwright.catalog.hardware import Gpu, Hardware, Nic
from clusterwright.finding import Where, refuse
from clusterwright.plan.model import ClusterPlan

VERSION = 1


@dataclass(frozen=True, slots=True)
class Node:
    """One node, cloud-blind."""

    name: str
    pool: str
    roles: tuple[str, ...]
    site: str
    machine: str
    address: str
    gpus: int
    features: tuple[str, ...]
    partitions: tuple[str, ...]
    rack: str | None
    block: str | None
    switches: tuple[str, ...]


@dataclass(frozen=True)
class Handoff:
    """The hand-off. Sections other than nodes and hardware are plain JSON objects of the published schema."""

    cluster: Mapping[str, Any]
    """`name`, `domain`, `users`, `surroundings`, `hooks`."""
    site: Mapping[str, Any]
    """By name: `provider`, `network`, `place`, `simulated`."""
    hardware: Mapping[str, Hardware]
    nodes: tuple[Node, ...]
    fabric: Mapping[str, Any]
    """`topology`, `nodes_per_leaf`, `block_size`."""
    storage: Mapping[str, Any]
    """`shares` by mount point."""
    scheduler: Mapping[str, Any]
    """`release`, `partitions`, `accounts`, `options`, `accounting`, `rest`, `cgroup`, `config_overrides`."""
    software: Mapping[str, Any]
    """`distribution`, `packages`, `slurm_repository`, `containers`, `monitoring`."""
    version: int = VERSION

    @property
    def name(self) -> str:
        return str(self.cluster["name"])

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    def with_role(self, role: str) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if role in node.roles)

    def dumps(self) -> str:
        """The document: keys sorted, one line per node, so that a diff shows nodes."""
        body: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        nodes = ",\n  ".join(_line(_node_json(node)) for node in self.nodes)
        body["hardware"] = {machine: asdict(row) for machine, row in self.hardware.items()}
        body["nodes"] = "@nodes@"
        text = json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False, default=list)
        return text.replace('"@nodes@"', f"[\n  {nodes}\n ]") + "\n"


def _node_json(node: Node) -> dict[str, Any]:
    return {f.name: getattr(node, f.name) for f in fields(node)}


def _line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _hardware(row: Mapping[str, Any]) -> Hardware:
    return Hardware(
        **{
            **row,
            "gpus": tuple(Gpu(**gpu) for gpu in row["gpus"]),
            "nics": tuple(Nic(**nic) for nic in row["nics"]),
        }
    )


def _node(row: Mapping[str, Any]) -> Node:
    lists = ("roles", "features", "partitions", "switches")
    values: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in row.items()}
    return Node(**values)


def loads(text: str, file: str = "") -> Handoff:
    """Read a document. Raises Refused for another version or a damaged file."""
    remedy = "Make it again with `clusterwright up`"
    try:
        body = json.loads(text)
        version = body.pop("version")
    except (ValueError, AttributeError, KeyError) as error:
        raise refuse("CW2001", Where(file), f"not a hand-off document ({error})", remedy) from error
    if version != VERSION:
        what = f"hand-off version {version}, and this clusterwright reads version {VERSION}"
        raise refuse("CW2002", Where(file), what, remedy)
    try:
        body["hardware"] = {machine: _hardware(row) for machine, row in body["hardware"].items()}
        body["nodes"] = tuple(_node(row) for row in body["nodes"])
        return Handoff(**body)
    except (TypeError, KeyError) as error:
        raise refuse("CW2001", Where(file), f"a damaged hand-off document ({error})", remedy) from error


def from_plan(plan: ClusterPlan) -> Handoff:
    """The hand-off of a plan whose addresses are all known."""
    spec = plan.spec
    pools = spec.pools
    compute_partitions = {
        name: tuple(sorted(pool.partitions or [name])) if "compute" in pool.roles else ()
        for name, pool in pools.items()
    }
    features = {name: tuple(sorted(pool.features)) for name, pool in pools.items()}
    gpus = {machine: len(row.gpus) for machine, row in plan.hardware.items()}
    nodes = tuple(
        Node(
            name=node.name,
            pool=node.pool,
            roles=node.roles,
            site=node.site,
            machine=node.machine,
            address=node.address,
            gpus=gpus[node.machine],
            features=features[node.pool],
            partitions=compute_partitions[node.pool],
            rack=node.rack,
            block=node.block,
            switches=node.switches,
        )
        for node in plan.nodes
    )
    ground = plan.sites[0].ground
    return Handoff(
        cluster={
            "name": spec.cluster,
            "domain": spec.domain,
            "users": {name: user.model_dump() for name, user in spec.users.items()},
            "surroundings": spec.surroundings.model_dump(),
            "hooks": [hook.model_dump() for hook in spec.hooks],
        },
        site={
            site.name: {
                "provider": site.provider,
                "network": site.network,
                "place": site.place,
                "simulated": site.ground.simulated,
            }
            for site in plan.sites
        },
        hardware=plan.hardware,
        nodes=nodes,
        fabric=spec.fabric.model_dump(),
        storage={"shares": {path: share.model_dump() for path, share in spec.storage.shares.items()}},
        scheduler={
            "release": plan.slurm_release,
            "partitions": {
                partition.name: {f.name: getattr(partition, f.name) for f in fields(partition)}
                for partition in plan.partitions
            },
            "accounts": {name: account.model_dump() for name, account in spec.accounts.items()},
            "options": dict(spec.scheduler.options),
            "accounting": spec.scheduler.accounting,
            "rest": spec.scheduler.rest,
            "cgroup": {"plugin": ground.cgroup_plugin, "mountpoint": ground.cgroup_mountpoint},
            "config_overrides": ground.simulated,
        },
        software={
            "distribution": spec.software.distribution,
            "packages": list(spec.software.packages),
            "slurm_source": plan.slurm_source,
            "slurm_repository": (
                spec.software.slurm_repository.model_dump() if spec.software.slurm_repository else None
            ),
            "containers": spec.software.containers,
            "monitoring": spec.software.monitoring,
        },
    )

"""From a plan to its hand-off."""

from __future__ import annotations

from dataclasses import fields

from clusterwright.handoff.document import Handoff, Node
from clusterwright.handoff.ends import last_moments
from clusterwright.handoff.software import software_section
from clusterwright.plan.mig import Cut, cut
from clusterwright.plan.model import ClusterPlan
from clusterwright.plan.shares import mounted_shares, shares_of_sites
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.machines import Machine
from clusterwright.spec.pool import BUILT
from clusterwright.spec.site import OnpremSite


def from_plan(plan: ClusterPlan) -> Handoff:
    """The hand-off of a plan whose addresses are all known."""
    spec = plan.spec
    pools = spec.pools
    compute_partitions = {
        name: tuple(sorted(pool.partitions or [name])) if "compute" in pool.roles else ()
        for name, pool in pools.items()
    }
    features = {name: tuple(sorted(pool.features)) for name, pool in pools.items()}
    cuts = {name: cut(pool.mig, plan.hardware[pool.machine]) for name, pool in pools.items()}
    shards = {name: pool.shards for name, pool in pools.items() if pool.shards}
    mps = {name: pool.mps for name, pool in pools.items() if pool.mps}
    gpus = {name: _counted(cuts[name], len(plan.hardware[pool.machine].gpus)) for name, pool in pools.items()}
    nodes = tuple(
        Node(
            name=node.name,
            pool=node.pool,
            roles=node.roles,
            site=node.site,
            machine=node.machine,
            address=node.address,
            gpus=gpus[node.pool],
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
            "surroundings": spec.surroundings.model_dump(
                exclude=None if spec.surroundings.directory else {"directory"}
            ),
            "hooks": [hook.model_dump() for hook in spec.hooks],
            "converge": spec.converge,
        },
        site={
            site.name: {
                "provider": site.provider,
                "network": site.network,
                "place": site.place,
                "simulated": site.ground.simulated,
                **_boot(plan, site.name),
                **_firewall(plan, site.name),
            }
            for site in plan.sites
        },
        hardware=plan.hardware,
        nodes=nodes,
        fabric=spec.fabric.model_dump(exclude={"switches"}),
        storage={
            "shares": {path: share.model_dump() for path, share in mounted_shares(spec).items()},
            **({"sites": own} if (own := _shares_of_sites(spec)) else {}),
        },
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
            "mig": {name: _section(parts) for name, parts in cuts.items() if parts},
            **({"shards": shards} if shards else {}),
            **({"mps": mps} if mps else {}),
            **({"ends": ends} if (ends := last_moments(plan)) else {}),
            **({"state": f"{state}/{spec.cluster}"} if (state := spec.scheduler.state) else {}),
            **({"backup": backup.model_dump()} if (backup := spec.scheduler.backup) else {}),
        },
        software=software_section(plan),
        machines=_machines(plan),
    )


def _shares_of_sites(spec: ClusterSpec) -> dict[str, dict[str, object]]:
    return {
        site: {mount: share and share.model_dump() for mount, share in shares.items()}
        for site, shares in shares_of_sites(spec).items()
    }


def _firewall(plan: ClusterPlan, name: str) -> dict[str, object]:
    """What a site's nodes let in from outside, where that is described."""
    site = plan.spec.sites.get(name) or plan.spec.site
    return {"firewall": site.firewall.model_dump()} if site and site.firewall else {}


def _boot(plan: ClusterPlan, name: str) -> dict[str, object]:
    """How a site's machines boot over the network, where they do."""
    site = plan.spec.sites.get(name) or plan.spec.site
    if not isinstance(site, OnpremSite) or site.boot is None:
        return {}
    pools = {node.pool for node in plan.nodes if node.site == name}
    named = {pool: image for pool in sorted(pools) if (image := plan.spec.pools[pool].image)}
    made = {node.pool: plan.images[node.name] for node in plan.nodes if node.name in plan.images}
    # Which image the software makes is known once the software of the hand-off is: see `with_images`.
    images = {pool: f"{BUILT}:{made[pool]}" if pool in made else image for pool, image in named.items()}
    disks = {pool: disk for pool in sorted(pools) if (disk := plan.spec.pools[pool].install_to)}
    return {"boot": {**site.boot.model_dump(), "images": images, "disks": disks}}


def _machines(plan: ClusterPlan) -> dict[str, dict[str, object]]:
    """The lines of own machines that are nodes of the plan."""
    found: dict[str, dict[str, object]] = {}
    for site in (plan.spec.site, *plan.spec.sites.values()):
        file = site.known_machines if isinstance(site, OnpremSite) else None
        credentials = site.bmc_credentials if isinstance(site, OnpremSite) else None
        for node in plan.nodes if file else ():
            if file and (row := file.by_node.get(node.name)):
                found[node.name] = _machine(row, credentials)
    return found


def _machine(row: Machine, credentials: str | None) -> dict[str, object]:
    named = row.bmc_credentials or credentials
    bmc = {"address": row.bmc_address or None, "mac": row.bmc_mac or None, "credentials": named}
    bmc |= {"certificate": row.bmc_certificate} if row.bmc_certificate else {}
    has_bmc = row.bmc_address or row.bmc_mac
    return {"mac": row.mac or None, "serial": row.serial or None, "bmc": bmc if has_bmc else None}


def _counted(parts: Cut, gpus: int) -> int:
    """As jobs count them: instances, and GPUs that are whole."""
    return gpus - len(parts) + sum(map(len, parts.values()))


def _section(parts: Cut) -> dict[str, list[dict[str, str | int]]]:
    return {
        str(minor): [{"profile": place.profile, "start": place.start} for place in places]
        for minor, places in parts.items()
    }

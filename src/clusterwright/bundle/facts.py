"""What a role's rows and templates may ask of a node and its cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clusterwright.bundle import directory, shares
from clusterwright.bundle.role import Facts, Role, holds, roles
from clusterwright.catalog import lustre, mig
from clusterwright.catalog.distributions import distribution
from clusterwright.catalog.selinux import rules_for
from clusterwright.catalog.slurm import releases
from clusterwright.handoff import Handoff, Node
from clusterwright.plan.software.traits import traits
from clusterwright.render import boot
from clusterwright.render.slurm import state_folder

SYSTEM_USER = "clusterwright"
SYSTEM_UID = 500
"""In the middle of the system range: `adduser` takes numbers from its lower end, systemd-sysusers from its
upper end (100 to 999, Debian policy 9.2.2)."""

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
_SLURM_HOSTS = {"controller", "compute"}


def facts(handoff: Handoff, node: Node) -> Facts:
    software, scheduler = handoff.software, handoff.scheduler
    release = releases()[str(scheduler["release"])]
    hardware, stack = handoff.hardware[node.machine], stack_of(handoff, node)
    served = [share for share in handoff.storage["shares"].values() if share["kind"] == "served"]
    return {
        "role": node.roles,
        "component": tuple(stack),
        "flavour": tuple(sorted({row["flavour"] for row in stack.values()})),
        "trait": tuple(sorted(traits(hardware))),
        "gpu_vendor": (hardware.gpu_vendor or "none",),
        "gpu_generation": (hardware.gpu_generation or "none",),
        "mig": (_switch(instances_of(handoff, node)),),
        "shards": (_switch(scheduler.get("shards", {}).get(node.pool)),),
        "mps": (_switch(scheduler.get("mps", {}).get(node.pool)),),
        "nic": tuple(sorted({nic.kind for nic in hardware.nics})),
        "distribution": (str(software["distribution"]),),
        "packages": (distribution(software["distribution"]).packages,),
        "slurm_source": (str(software["slurm_source"]),),
        "auth": ("sack" if release.auth == "slurm" else "munge",),
        "login": ("sackd" if release.sackd and not _SLURM_HOSTS & set(node.roles) else "files",),
        "metrics": ("openmetrics" if release.openmetrics else "textfile",),
        "database": (_switch(scheduler["accounting"] and node.name == first_controller(handoff)),),
        "ends": (_switch(scheduler.get("ends")),),
        "state": ("shared" if scheduler.get("state") else "own",),
        "backup": (_switch(scheduler.get("backup") and node.name == first_controller(handoff)),),
        "rest": (_switch(scheduler["rest"]),),
        "monitoring": (_switch(software["monitoring"]),),
        "containers": (_switch(software["containers"]),),
        "images": (_switch(software["images"]),),
        "shares": (_switch(handoff.shares(node.site)),),
        "mounts": tuple(sorted({share["kind"] for share in shares.mounted(handoff, node).values()})),
        "lnet": tuple(sorted({lustre.network_type(name) for name in shares.lnet(handoff, node)})),
        "rates": (_switch(any(share.get("throughput") for share in shares.mounted(handoff, node).values())),),
        "serves": (_switch(served and node.name == shares.file_server(handoff)),),
        "network_boot": (_switch(boot.serves(handoff, node)),),
        "firewall": (_switch(handoff.site[node.site].get("firewall")),),
        "mirror": (_switch(handoff.cluster["surroundings"]["package_mirror"]),),
        "converge": (str(handoff.cluster["converge"]),),
        "proxy": (_switch(handoff.cluster["surroundings"]["http_proxy"]),),
        "time_servers": (_switch(handoff.cluster["surroundings"]["time_servers"]),),
        "directory": (_switch(directory.of(handoff)),),
        "directory_password": (_switch(directory.secrets(handoff)),),
        "directory_people": (_switch(directory.people(handoff)),),
    }


def stack_of(handoff: Handoff, node: Node) -> Mapping[str, Any]:
    """The locked components of a node's pool, by name."""
    return handoff.software["stacks"].get(node.pool, {})  # type: ignore[no-any-return]  # a section is plain JSON


def treatments(handoff: Handoff, node: Node) -> Mapping[str, str]:
    """Ansible roles of a node that are not managed: `observe` or `skip`."""
    return handoff.software.get("treatments", {}).get(node.pool, {})  # type: ignore[no-any-return]  # plain JSON


def roles_of(handoff: Handoff, node: Node, known: Facts) -> tuple[list[Role], list[Role]]:
    """Ansible roles of a node: those that are managed, and those that the site keeps itself."""
    kept = treatments(handoff, node)
    applied = [role for role in roles() if holds(role.applies, known)]
    return [role for role in applied if role.name not in kept], [r for r in applied if r.name in kept]


def instances_of(handoff: Handoff, node: Node) -> Mapping[str, Any]:
    """What each GPU of a node is cut into, by its minor; empty where jobs get whole GPUs only."""
    cut = handoff.scheduler["mig"].get(node.pool, {}) if "compute" in node.roles else {}
    if not cut:
        return {}
    hardware = handoff.hardware[node.machine]
    known = mig.profiles(hardware)
    return {
        str(gpu.minor): [{**each, "id": known[each["profile"]].id} for each in cut.get(str(gpu.minor), [])]
        for gpu in hardware.gpus
    }


def values(handoff: Handoff, node: Node) -> Mapping[str, object]:
    """What a role's template is filled with; the same for every node of a kind."""
    surroundings = handoff.cluster["surroundings"]
    networks = sorted({str(row["network"]) for row in handoff.site.values()})
    controllers = [node.name for node in handoff.with_role("controller")]
    # Programs call a controller by its short name, which no domain and no network covers.
    own = [f".{handoff.cluster['domain']}", *controllers, "localhost", "127.0.0.1", "::1", *networks]
    return {
        "cluster": handoff.name,
        "domain": handoff.cluster["domain"],
        "codename": distribution(handoff.software["distribution"]).codename,
        "family": distribution(handoff.software["distribution"]).family,
        "controllers": controllers,
        "networks": networks,
        "uids": sorted(user["uid"] for user in handoff.cluster["users"].values() if user["uid"] is not None),
        "admins": sorted(name for name, user in handoff.cluster["users"].items() if user["admin"]),
        "http_proxy": surroundings["http_proxy"],
        "no_proxy": ",".join([*surroundings["no_proxy"], *own]),
        # apt knows exceptions by whole host names only, and does not read `no_proxy` once it has a proxy.
        "direct_hosts": [host for host in surroundings["no_proxy"] if _HOST.fullmatch(host)],
        "package_mirror": surroundings["package_mirror"],
        "security_mirror": surroundings["security_mirror"],
        "time_servers": surroundings["time_servers"],
        "directory": directory.of(handoff),
        "people": directory.people(handoff),
        "selinux": rules_for({**handoff.software, **handoff.storage}),
        "images": handoff.software["images"],
        "shares": handoff.shares(node.site),
        "served": sorted(path for path, row in handoff.storage["shares"].items() if row["kind"] == "served"),
        "mount_units": [mount.unit for mount in shares.mounts(handoff, node, _mounted_kinds(handoff, node))],
        "lustre": _lustre(handoff, node),
        "weka": list(shares.of_kind(handoff, node, "weka").values()),
        "site": node.site,
        "stack": stack_of(handoff, node),
        "traits": sorted(traits(handoff.hardware[node.machine])),
        "hardware": handoff.hardware[node.machine],
        "instances": instances_of(handoff, node),
        "backup": _backup(handoff, node),
        "state": _state(handoff, node),
    }


def _backup(handoff: Handoff, node: Node) -> Mapping[str, object]:
    """Where the controller's state is saved, and the mount without which that would be its own disk."""
    wanted = handoff.scheduler.get("backup")
    if not wanted:
        return {}
    return {
        **wanted,
        "mount": _mount_of(handoff, node, wanted["folder"]),
        "accounting": handoff.scheduler["accounting"],
    }


def _state(handoff: Handoff, node: Node) -> Mapping[str, object]:
    """Where slurmctld keeps its state, and the mount without which that would be its own disk."""
    folder = state_folder(handoff)
    mount = _mount_of(handoff, node, folder)
    unit = shares.mount_unit(mount) if mount else None
    return {"folder": folder, "mount": mount, "unit": unit, "shared": bool(handoff.scheduler.get("state"))}


def _mount_of(handoff: Handoff, node: Node, folder: str) -> str | None:
    within = [path for path in shares.mounted(handoff, node) if f"{folder}/".startswith(f"{path}/")]
    return max(within, key=len, default=None)


def _lustre(handoff: Handoff, node: Node) -> Mapping[str, object]:
    """LNet's networks and how each finds its interfaces, settings, and the units that mount Lustre."""
    networks = shares.lnet(handoff, node)
    efa = {
        name: " ".join(row) or str(count)
        for name, count in shares.interfaces(handoff, node).items()
        if lustre.network_type(name) == "efa"
        for row in (networks[name],)
    }
    ranges = shares.address_ranges(str(handoff.site[node.site]["network"]))
    return {
        "rails": {name: row for name, row in networks.items() if row and name not in efa},
        "ranges": {name: ranges for name, row in networks.items() if not row and name not in efa},
        "efa": efa,
        "settings": lustre.settings(handoff.hardware[node.machine], networks),
        "units": [mount.unit for mount in shares.mounts(handoff, node, ("lustre",))],
    }


def _mounted_kinds(handoff: Handoff, node: Node) -> set[str]:
    """Kinds of share for which there are mount units of ours."""
    kept = treatments(handoff, node)
    return {kind for role in roles() if role.name not in kept for kind in role.mounts}


def first_controller(handoff: Handoff) -> str:
    """slurm.conf names it as AccountingStorageHost, and takes it before all others."""
    return next((node.name for node in handoff.nodes if "controller" in node.roles), "")


def _switch(on: object) -> str:
    return "yes" if on else "no"

"""slurm.conf and the files beside it: they live on the controller, and configless nodes fetch them."""

from __future__ import annotations

from typing import Any

from clusterwright.handoff import Handoff
from clusterwright.render import machines, partitions, stack, topology
from clusterwright.render.file import NodeFile
from clusterwright.render.release import SlurmRelease
from clusterwright.render.templates import fill

_TAKEOVER_SECONDS = 6
"""slurm.conf(5) SlurmctldTimeout (2026-11): how long the others wait for a controller that does not answer;
120 s where nothing is said. One whose heartbeat in the state folder goes on is left alone."""
_BACKFILL_SECONDS = 10
"""slurm.conf(5) SchedulerParameters bf_interval (2026-11), 30 s where nothing is said. One that took over
looks at the queue before its nodes have answered, and starts no job before it looks again."""
_OWN_DISK = "/var/spool/slurmctld"


def state_folder(handoff: Handoff) -> str:
    """Slurm's StateSaveLocation."""
    return str(handoff.scheduler.get("state") or _OWN_DISK)


def files(handoff: Handoff, release: SlurmRelease) -> tuple[NodeFile, ...]:
    roles = ("controller",) if release.sackd else ("controller", "login")
    affects = (f"slurmctld:{release.node_changes}",)
    return tuple(
        NodeFile(f"/etc/slurm/{name}", content, roles, affects=affects)
        for name, content in _contents(handoff, release).items()
    )


def _contents(handoff: Handoff, release: SlurmRelease) -> dict[str, str]:
    common = {"cluster": handoff.name, "release": release}
    groups = machines.groups(handoff)
    contents = {
        "slurm.conf": _slurm_conf(handoff, release, groups),
        "cgroup.conf": fill("slurm/cgroup.conf.j2", **common, **_cgroup(handoff)),
        "mpi.conf": fill("slurm/mpi.conf.j2", **common),  # plugins that are not there pass over it
        # Distributions ship one that includes a folder, which configless slurmctld reports as an error.
        "plugstack.conf": fill("slurm/plugstack.conf.j2", **common, pyxis=stack.has(handoff, "pyxis")),
    }
    gres = [_gres(group, release) for group in groups if group.gres]
    if gres:
        contents["gres.conf"] = fill("slurm/gres.conf.j2", **common, groups=gres)
    kind = handoff.fabric["topology"]
    if kind != "flat":
        template = f"slurm/{release.topology_file}.j2"
        contents[release.topology_file] = fill(template, **common, kind=kind, **_topology(handoff))
    return contents


def _slurm_conf(handoff: Handoff, release: SlurmRelease, groups: tuple[machines.Group, ...]) -> str:
    scheduler = handoff.scheduler
    options = {str(key): value for key, value in scheduler["options"].items()}
    text = fill(
        "slurm/slurm.conf.j2",
        cluster=handoff.name,
        release=release,
        controllers=[node.name for node in handoff.with_role("controller")],
        takeover_seconds=_TAKEOVER_SECONDS,
        backfill_seconds=_BACKFILL_SECONDS,
        state=state_folder(handoff),
        accounting=scheduler["accounting"],
        rest=scheduler["rest"],
        config_overrides=scheduler["config_overrides"],
        monitoring=handoff.software["monitoring"],
        topology=handoff.fabric["topology"],
        pmix=handoff.software["slurm_source"] == "distribution",  # its packages carry the plugin
        gres=_gres_types(groups),
        task_prolog=stack.has_task_prolog(handoff),
        imex=release.imex_switch and stack.has(handoff, "imex"),
        nodes=groups,
        partitions=partitions.lines(handoff, accounting=scheduler["accounting"]),
        options=sorted(options.items()),
    )
    return _without_overridden(text, {key.lower() for key in options})


def _without_overridden(text: str, chosen: set[str]) -> str:
    """A key that the description sets stands once in the file: at its end, as the user wrote it."""
    if not chosen:
        return text
    head, marker, tail = text.rpartition("\n# From the description")
    kept = [line for line in head.split("\n") if line.partition("=")[0].lower() not in chosen]
    return "\n".join(kept) + marker + tail


def _gres_types(groups: tuple[machines.Group, ...]) -> list[str]:
    shared = [kind for kind in machines.SHARED if any(kind in group.shared for group in groups)]
    return ["gpu", *shared] if any(group.gres for group in groups) else []


def _gres(group: machines.Group, release: SlurmRelease) -> dict[str, Any]:
    detected = release.detects_nvidia and machines.is_detectable(group.hardware) and not group.cut
    found = () if detected else machines.devices(group)
    return {"names": group.names, "devices": found, "shared": group.shared}


def _cgroup(handoff: Handoff) -> dict[str, object]:
    cgroup = handoff.scheduler["cgroup"]
    return {
        "plugin": cgroup["plugin"],
        "mountpoint": cgroup["mountpoint"],
        "constrain_cores": not handoff.scheduler["config_overrides"],
    }


def _topology(handoff: Handoff) -> dict[str, object]:
    if handoff.fabric["topology"] == "tree":
        return {"switches": topology.switches(handoff)}
    return {"blocks": topology.blocks(handoff), "block_size": handoff.fabric["block_size"]}

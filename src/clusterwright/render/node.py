"""What a configless node has of its own: where its configuration comes from, and what Slurm runs on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.render.release import SlurmRelease
from clusterwright.render.stack import has
from clusterwright.render.templates import fill

SLURMCTLD_PORT = 6817


def files(handoff: Handoff, release: SlurmRelease, served: Iterable[NodeFile]) -> tuple[NodeFile, ...]:
    """`served` is what the node fetches from the controller."""
    servers = ",".join(f"{node.name}:{SLURMCTLD_PORT}" for node in handoff.with_role("controller"))
    # Before 23.11 a slurmd learns of other nodes only when it starts: slurm.schedmd.com/faq.html (2026-11).
    digest = _digest(served) if release.node_changes == "restart" else ""
    settings = [_daemon("slurmd", servers, "compute", digest), _unit()]
    if release.sackd:
        settings.append(_daemon("sackd", servers, "login"))
    return (*settings, *_programs(handoff))


def _digest(served: Iterable[NodeFile]) -> str:
    whole = "".join(f"{file.path}\n{file.content}\n" for file in served)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _daemon(name: str, servers: str, role: str, digest: str = "") -> NodeFile:
    content = fill("node/daemon.j2", variable=f"{name.upper()}_OPTIONS", servers=servers, digest=digest)
    return NodeFile(f"/etc/default/{name}", content, (role,), affects=(f"{name}:restart",))


def _unit() -> NodeFile:
    """Some distributions start slurmd only where there is a slurm.conf; a configless node has none."""
    path = "/etc/systemd/system/slurmd.service.d/10-configless.conf"
    return NodeFile(path, fill("node/slurmd.service.j2"), ("compute",), affects=("slurmd:restart",))


def _programs(handoff: Handoff) -> tuple[NodeFile, ...]:
    programs = {
        "/usr/lib/clusterwright/health-check": "node/health-check.j2",
        "/etc/slurm/prolog": "node/prolog.j2",
        "/etc/slurm/epilog": "node/epilog.j2",
    }
    told = {"gpu_epilog": has(handoff, "driver"), "mps": bool(handoff.scheduler.get("mps"))}
    return tuple(
        NodeFile(path, fill(template, **told), ("compute",), mode=0o755)
        for path, template in programs.items()
    )

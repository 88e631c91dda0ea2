"""The accounting daemon and the database settings it wants; MariaDB knows user slurm without a password."""

from __future__ import annotations

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.render.release import SlurmRelease
from clusterwright.render.templates import fill

_RECOMMENDED_POOL_MIB = 4096
"""slurmdbd reports a smaller buffer pool as an error in its log, and runs with it."""


def _buffer_pool_mib(memory_mib: int) -> int:
    return min(_RECOMMENDED_POOL_MIB, memory_mib // 4)


def files(handoff: Handoff, release: SlurmRelease) -> tuple[NodeFile, ...]:
    if not handoff.scheduler["accounting"]:
        return ()
    controller = handoff.with_role("controller")[0]
    memory = handoff.hardware[controller.machine].memory_mib
    slurmdbd = fill(
        "slurm/slurmdbd.conf.j2",
        cluster=handoff.name,
        release=release,
        host=controller.name,
        rest=handoff.scheduler["rest"],
    )
    return (
        NodeFile(
            "/etc/slurm/slurmdbd.conf",
            slurmdbd,
            ("controller",),
            mode=0o600,  # slurmdbd refuses to start when others can read it
            owner="slurm",
            group="slurm",
            affects=("slurmdbd:restart",),
            node=controller.name,
        ),
        NodeFile(
            "/etc/mysql/mariadb.conf.d/60-slurm.cnf",
            fill("slurm/mariadb.cnf.j2", cluster=handoff.name, buffer_pool_mib=_buffer_pool_mib(memory)),
            ("controller",),
            affects=("mariadb:restart",),
            node=controller.name,
        ),
    )

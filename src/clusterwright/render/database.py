"""The accounting daemon and the database settings it wants; MariaDB knows user slurm without a password."""

from __future__ import annotations

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.render.release import SlurmRelease
from clusterwright.render.templates import fill

_SMALLEST_POOL_MIB = 128
_LARGEST_POOL_MIB = 16 * 1024


def files(handoff: Handoff, release: SlurmRelease) -> tuple[NodeFile, ...]:
    if not handoff.scheduler["accounting"]:
        return ()
    controller = handoff.with_role("controller")[0]
    memory = handoff.hardware[controller.machine].memory_mib
    pool = min(max(memory // 8, _SMALLEST_POOL_MIB), _LARGEST_POOL_MIB)
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
        ),
        NodeFile(
            "/etc/mysql/mariadb.conf.d/60-slurm.cnf",
            fill("slurm/mariadb.cnf.j2", cluster=handoff.name, buffer_pool_mib=pool),
            ("controller",),
            affects=("mariadb:restart",),
        ),
    )

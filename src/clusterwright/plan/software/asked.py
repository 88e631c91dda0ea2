"""What a description asks of the solver: its pools as the catalog knows them, its wishes, what is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.lustre import network_type, runs_on
from clusterwright.finding import Refused, Where, refuse
from clusterwright.plan.software.question import Given, Question
from clusterwright.plan.software.traits import PoolFacts, traits
from clusterwright.plan.software.wish import Wish
from clusterwright.spec.parallel import Lustre
from clusterwright.spec.storage import Share

if TYPE_CHECKING:  # the plan's model holds a lock, and so stands below this
    from clusterwright.plan.outline import Outline

Place = Callable[[str], Where]


def asked(outline: Outline, where: Place, *, architecture: str | None = None) -> Question:
    """The question of a description that passed its checks; `where` gives a field's place in the file.

    `architecture`: what the nodes really run on, where they only play their machine types.
    """
    software = outline.spec.software
    wishes = [*_wishes("software.versions", software.versions, where)]
    for name, pool in outline.spec.pools.items():
        wishes += _wishes(f"pools.{name}.versions", pool.versions, where, name)
    return Question(
        pools={name: _facts(outline, name, architecture) for name in outline.spec.pools},
        wishes=tuple(wishes),
        distribution=software.distribution,
        where=where("software.distribution"),
        given=tuple(_given(outline)),
        elsewhere=frozenset(["slurm"] if software.slurm_repository else []),
    )


def _wishes(path: str, versions: dict[str, str], where: Place, pool: str = "") -> Iterator[Wish]:
    for component, text in versions.items():
        yield Wish(component, text, where(f"{path}.{component}"), pool)


def _given(outline: Outline) -> Iterator[Given]:
    """Slurm's release is settled by the plan: slurm.conf is written for it."""
    wanted, distribution = outline.spec.scheduler.release, outline.spec.software.distribution
    if outline.slurm_release:
        release = outline.slurm_release
        why = f"scheduler.release is {wanted}" if wanted else f"{distribution} carries Slurm {release}"
        yield Given("slurm", f"=={release}.*", why)


def _facts(outline: Outline, pool: str, architecture: str | None) -> PoolFacts:
    hardware, spec = outline.hardware[pool], outline.spec.pools[pool]
    if hardware is None:
        raise _impossible(pool)
    if architecture is not None:
        hardware = replace(hardware, architecture=architecture)
    shares = {f"share:{share.kind}" for share in outline.mounted(pool).values()}
    if any(_over_efa(share, hardware) for share in outline.mounted(pool).values()):
        shares.add("share:lustre-efa")
    roles = {f"role:{role.value}" for role in spec.roles}
    return PoolFacts(hardware.machine, hardware.architecture, traits(hardware) | shares | roles)


def _over_efa(share: Share, hardware: Hardware) -> bool:
    return isinstance(share, Lustre) and any(
        network_type(network) == "efa" and runs_on(network, hardware) for network in share.networks
    )


def _impossible(pool: str) -> Refused:
    what, remedy = "this cannot be locked: the machine type is unknown", "Run `clusterwright validate` on it"
    return refuse("CW1200", Where(path=f"pools.{pool}.machine"), what, remedy)

"""Which machine types fit a wish, and why the nearest ones do not when none does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.offers import Price

CLOUDS = ("aws", "gcp")
"""Providers that sell machines by the hour."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a machine type shall be; None where it does not matter."""

    provider: str | None = None
    gpu: str | None = None
    """Words of a GPU's name, for instance `H100` or `A100 80GB`."""
    gpus: int | None = None
    """At least so many in one machine."""
    fabric: int | None = None
    """At least so many Gbit/s between machines."""
    region: str | None = None
    max_price: float | None = None
    """US dollars for one machine and hour, however it is got."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A machine type with what speaks for it: its best price, and what keeps it from fitting."""

    kind: MachineType
    price: Price | None
    """On demand where that is known, else the lowest; in the wished region, else in any."""
    regions: tuple[str, ...] | None
    """Where it is sold; None where no source tells."""
    misses: tuple[str, ...]

    @property
    def usd_per_gpu_hour(self) -> float | None:
        gpus = len(self.kind.hardware.gpus)
        return self.price.usd_per_hour / gpus if self.price and gpus else None


@dataclass(frozen=True, slots=True)
class Choice:
    """What fits, the best first; and what almost does: it misses one thing, the dearest wish."""

    fitting: tuple[Candidate, ...]
    near: tuple[Candidate, ...]


def choose(catalog: MachineCatalog, wish: Wish) -> Choice:
    """Machine types that fit: those with GPUs first, the cheapest GPU first, unknown prices last."""
    found = sorted((_candidate(catalog, kind, wish) for kind in catalog.types.values()), key=_rank)
    return Choice(
        fitting=tuple(one for one in found if not one.misses),
        near=tuple(one for one in found if len(one.misses) == 1 and _is_near(one, wish)),
    )


def gpu_names(catalog: MachineCatalog) -> tuple[str, ...]:
    """Names of GPUs as Slurm knows them, which `Wish.gpu` takes."""
    return tuple(dict.fromkeys(model.gres_type for model in catalog.gpu_models.values()))


def regions(catalog: MachineCatalog) -> frozenset[str]:
    """Every region that some row speaks of."""
    sold = {region for offering in catalog.offerings.values() for region in offering.zones}
    return frozenset(sold | {price.region for prices in catalog.prices.values() for price in prices})


def sold_in(catalog: MachineCatalog, machine: str) -> tuple[str, ...] | None:
    """Regions where a machine type is sold: a price says so too, but only a list of zones is complete."""
    offering = catalog.offerings.get(machine)
    return tuple(offering.zones) if offering else None


def names_gpu(words: str, catalog: MachineCatalog, kind: MachineType) -> bool:
    """Whether each word stands in a name of the machine's GPU: `B200` is not part of `GB200`."""
    models = catalog.gpu_models.items()
    of = [f"{name} {model.model}" for name, model in models if model.model == kind.hardware.gpu_model]
    return bool(of) and _words(words) <= _words(" ".join([*of, kind.hardware.gpu_type or ""]))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def _candidate(catalog: MachineCatalog, kind: MachineType, wish: Wish) -> Candidate:
    sold = sold_in(catalog, kind.name)
    price = _best(catalog.prices, kind.name, wish)
    return Candidate(kind, price, sold, tuple(_misses(catalog, kind, sold, price, wish)))


def _best(prices: Mapping[str, tuple[Price, ...]], machine: str, wish: Wish) -> Price | None:
    known = [price for price in prices.get(machine, ()) if wish.region in (None, price.region)]
    affordable = [p for p in known if wish.max_price is None or p.usd_per_hour <= wish.max_price]
    if not affordable:
        return min(known, key=lambda p: p.usd_per_hour, default=None)
    return min(affordable, key=lambda p: (p.capacity != "on-demand", p.usd_per_hour, p.region))


def _misses(
    catalog: MachineCatalog, kind: MachineType, sold: tuple[str, ...] | None, price: Price | None, wish: Wish
) -> Iterator[str]:
    hardware = kind.hardware
    if wish.provider is not None and hardware.provider != wish.provider:
        yield f"it is of {hardware.provider}"
    if wish.gpu is not None and not names_gpu(wish.gpu, catalog, kind):
        yield f"its GPUs are {hardware.gpu_type}" if hardware.gpus else "it has no GPUs"
    if wish.gpus is not None and len(hardware.gpus) < wish.gpus:
        yield f"it has {len(hardware.gpus)} GPUs"
    if wish.fabric is not None and (kind.fabric_gbps or 0) < wish.fabric:
        yield f"its fabric carries {kind.fabric_gbps} Gbit/s" if kind.fabric_gbps else "it has no fabric"
    if wish.region is not None and wish.region not in (sold or (price.region if price else "",)):
        yield f"it is sold in {', '.join(sold)}" if sold else "no source tells where it is sold"
    if wish.max_price is not None and (price is None or price.usd_per_hour > wish.max_price):
        yield f"it costs ${price.usd_per_hour:.2f} an hour" if price else "no source tells its price"


def _is_near(candidate: Candidate, wish: Wish) -> bool:
    """Another GPU than the wished one, or none, is no near miss: everything would be."""
    return wish.gpu is None or not candidate.misses[0].startswith(("its GPUs are", "it has no GPUs"))


def _rank(candidate: Candidate) -> tuple[bool, bool, float, bool, float, str]:
    per_gpu, price = candidate.usd_per_gpu_hour, candidate.price
    return (
        not candidate.kind.hardware.gpus,
        per_gpu is None,
        round(per_gpu or 0, 4),
        price is None,
        price.usd_per_hour if price else 0,
        candidate.kind.name,
    )

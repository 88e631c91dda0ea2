"""Network cards of a machine type: what may be made on each, and which network it joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clusterwright.catalog.hardware import Nic
from clusterwright.catalog.table import Row, whole

UNUSED = "unused"


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """One card. On AWS its index is the NetworkCardIndex, on Google the number of the interface."""

    index: int
    kind: str
    """What the node sees: `ethernet`, `efa`, `gvnic`, `idpf`, `mrdma`, `infiniband`, `roce`."""
    gbps: int
    interfaces: tuple[str, ...]
    """Kinds of interface that may be made on it; none where the provider makes none."""
    max_interfaces: int | None
    network: str
    """`main` (AWS); `host` and `gpu` (a VPC for each card), `rdma`, `rdma-metal` (Google); `unused`: a card
    that shares its bandwidth with another one; empty where the site decides."""
    mtu: int | None
    """What the network must be made with; None where any will do."""

    @property
    def is_fabric(self) -> bool:
        """Whether GPUs of different machines talk over it. A gVNIC is one where it is a GPU's own."""
        return self.kind in {"efa", "infiniband", "mrdma", "roce"} or self.network == "gpu"


def cards_of(rows: Iterable[Row]) -> tuple[NetworkCard, ...]:
    """The cards of one machine type by index; a row stands for all cards that are alike."""
    return tuple(sorted((card for row in rows for card in _cards(row)), key=lambda card: card.index))


def nics_of(cards: Iterable[NetworkCard]) -> tuple[Nic, ...]:
    """The cards in use, as a node shows them."""
    used = [card for card in cards if card.network != UNUSED]
    return tuple(Nic(place, card.kind, card.gbps) for place, card in enumerate(used))


def _cards(row: Row) -> Iterator[NetworkCard]:
    interfaces, most, mtu = tuple(row["interfaces"].split()), whole(row["max_interfaces"]), whole(row["mtu"])
    for part in row["cards"].split():
        first, _, last = part.partition("-")
        for index in range(int(first), int(last or first) + 1):
            yield NetworkCard(index, row["kind"], int(row["gbps"]), interfaces, most, row["network"], mtu)

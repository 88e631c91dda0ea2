"""Switches of a fabric, and the speeds that InfiniBand's tools name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows, whole


@dataclass(frozen=True, slots=True)
class SwitchModel:
    """A switch with all its ports alike. `ports` are counted as its software counts them."""

    model: str
    kind: str
    """`infiniband` or `ethernet`."""
    ports: int
    gbps: int
    ports_per_cage: int
    """Two where a twin-port transceiver makes two ports of one cage."""
    rack_units: int
    watts: int | None
    lanes: int | None
    """Electrical lanes of one cage, from which some systems count; None where no source tells."""
    systems: tuple[str, ...]
    """Operating systems that run on it; none on InfiniBand, whose tools number ports themselves."""
    source: str
    date: str

    def label(self, port: int) -> str:
        """What is printed beside a port, `7/2` where a cage has several."""
        cage, place = divmod(port - 1, self.ports_per_cage)
        return f"{cage + 1}/{place + 1}" if self.ports_per_cage > 1 else str(port)


@cache
def switch_models() -> Mapping[str, SwitchModel]:
    """Every switch that a description can name."""
    return {row["model"]: _model(row) for row in rows("switches")}


def _model(row: Mapping[str, str]) -> SwitchModel:
    return SwitchModel(
        model=row["model"],
        kind=row["kind"],
        ports=int(row["ports"]),
        gbps=int(row["gbps"]),
        ports_per_cage=int(row["ports_per_cage"]),
        rack_units=int(row["rack_units"]),
        watts=whole(row["watts"]),
        lanes=whole(row["lanes"]),
        systems=tuple(row["systems"].split()),
        source=row["source"],
        date=row["date"],
    )


@cache
def infiniband_speeds() -> Mapping[str, int]:
    """Gbit/s of a link four lanes wide, by the name of its speed."""
    return {row["name"]: int(row["gbps_4x"]) for row in rows("infiniband_speeds")}

"""What a switch's operating system calls its ports: `swp7s0`, `Ethernet7/1`, `et-0/0/6:0`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from string import Formatter

from clusterwright.catalog.switches import SwitchModel
from clusterwright.catalog.table import rows

LETTERS = "abcdefgh"
_OF_LANES = {"lane", "first_lane"}


@dataclass(frozen=True, slots=True)
class PortForm:
    """How a system writes the name of a port. The first form of a system is what people see."""

    system: str
    split: bool
    """For the ports of a cage that several share."""
    form: str
    source: str
    date: str

    def name(self, model: SwitchModel, port: int) -> str | None:
        """None where the name has the number of a lane, and nobody tells how many a cage has."""
        if model.lanes is None and _OF_LANES & {field for _, field, _, _ in Formatter().parse(self.form)}:
            return None
        cage, place = divmod(port - 1, model.ports_per_cage)
        lanes = model.lanes or 0
        lane = place * lanes // model.ports_per_cage
        words = {"cage": cage + 1, "cage0": cage, "place": place + 1, "place0": place}
        words |= {"lane": lane + 1, "first_lane": cage * lanes + lane}
        return self.form.format(letter=LETTERS[place], **words)


@cache
def port_forms() -> tuple[PortForm, ...]:
    return tuple(
        PortForm(row["system"], row["split"] == "yes", row["form"], row["source"], row["date"])
        for row in rows("switch_ports")
    )


@cache
def port_numbers(model: SwitchModel, system: str | None) -> Mapping[str, int]:
    """Ports by each of their names. Without a system, names that all systems of the model agree on."""
    found: dict[str, int] = {}
    doubtful = set()
    for form in _forms(model, system):
        for port in range(1, model.ports + 1):
            name = form.name(model, port)
            if name and found.setdefault(name, port) != port:
                doubtful.add(name)
    return {name: port for name, port in found.items() if name not in doubtful}


def port_name(model: SwitchModel, system: str | None, port: int) -> str | None:
    """What one sees on the switch; None where nobody says which system runs on it."""
    system = system or (model.systems[0] if len(model.systems) == 1 else None)
    form = next(iter(_forms(model, system)), None) if system else None
    return form.name(model, port) if form else None


def _forms(model: SwitchModel, system: str | None) -> list[PortForm]:
    systems = (system,) if system else model.systems
    split = model.ports_per_cage > 1
    return [form for form in port_forms() if form.system in systems and form.split == split]

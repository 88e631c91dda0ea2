"""Switches of own machines: whether they can join the nodes, and stand where the description says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.switches import SwitchModel, switch_models
from clusterwright.checks.fabric import trays_of_domain
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.wiring import Design, Unbuildable, design, switches_of
from clusterwright.plan.wiring.design import fabric_cards, wired_pools
from clusterwright.plan.wiring.racks import Spot, node_spots
from clusterwright.spec.fabric import Switches
from clusterwright.spec.nodeset import size
from clusterwright.spec.pool import Role

_PORTS = "the switch's row in the catalog: its ports and their speed"
_LAYOUT = "the description's own racks and units"


def _designed(outline: Outline) -> Design | None:
    try:
        return design(outline)
    except Unbuildable:
        return None


@rule(
    "CW1601",
    "Switches that cannot join these nodes",
    source=_PORTS,
    example="fabric: {topology: tree, nodes_per_leaf: 48, switches: {model: qm9700}}",
)
def cannot_be_built(outline: Outline) -> Iterator[Problem]:
    """A leaf has too few ports, no row tells of the model, or three levels do not reach every card."""
    try:
        design(outline)
    except Unbuildable as problem:
        yield Problem(f"fabric.{problem.field}", str(problem), problem.remedy)


def _levels(switches: Switches) -> Iterator[tuple[str, SwitchModel]]:
    named = {"model": switches.model, "spine": switches.spine, "core": switches.core}
    known = switch_models()
    return ((field, known[name]) for field, name in named.items() if name and name in known)


def _fabric_kind(kind: MachineType) -> str:
    kinds = {card.kind for card in kind.cards if card.is_fabric}
    return "infiniband" if "infiniband" in kinds else "ethernet"


@rule(
    "CW1602",
    "Switches of another kind than the cards",
    source=_PORTS,
    example="pools: {gpu: {machine: hgx-h100-8gpu}}, fabric: {switches: {model: sn5600}}",
)
def another_kind(outline: Outline) -> Iterator[Problem]:
    """InfiniBand cards get no link at an Ethernet switch, nor a spine of one kind at a leaf of the other."""
    switches = outline.spec.fabric.switches
    if switches is None:
        return
    for name, kind in wired_pools(outline):
        for field, model in _levels(switches):
            if model.kind != _fabric_kind(kind):
                cards = f"cards of pool '{name}' are {_word(_fabric_kind(kind))}"
                what = f"'{model.model}' is an {_word(model.kind)} switch, and {cards}"
                yield Problem(f"fabric.switches.{field}", what, "Name a switch of that kind")


def _word(kind: str) -> str:
    return {"infiniband": "InfiniBand", "ethernet": "Ethernet"}[kind]


@rule(
    "CW1603",
    "A switch slower than the cards",
    source=_PORTS,
    example="pools: {gpu: {machine: hgx-h100-8gpu}}, fabric: {switches: {model: qm8700}}",
    severity=Severity.WARNING,
)
def slower_than_cards(outline: Outline) -> Iterator[Problem]:
    """Every card runs at the switch's speed, and the machines' fabric is not what their data sheet says."""
    switches = outline.spec.fabric.switches
    leaf = switch_models().get(switches.model) if switches else None
    for name, kind in wired_pools(outline) if leaf else ():
        gbps = max(card.gbps for card in kind.cards if card.is_fabric)
        if leaf and leaf.gbps < gbps:
            what = (
                f"a port of '{leaf.model}' carries {leaf.gbps} Gbit/s, and a card of pool '{name}' has {gbps}"
            )
            yield Problem("fabric.switches.model", what, "Take a faster switch, or know that it is so")


@rule(
    "CW1604",
    "Switches that join no card",
    source="the machine types' cards in the catalog",
    example="pools: {gpu: {machine: rtx4090-workstation}}, fabric: {switches: {model: qm9700}}",
)
def nothing_to_join(outline: Outline) -> Iterator[Problem]:
    """No pool of own machines has cards for a fabric; a cloud's switches are not described."""
    if outline.spec.fabric.switches is not None and not any(wired_pools(outline)):
        what = "no pool has own machines with cards on a fabric"
        yield Problem("fabric.switches", what, "Leave `switches` out")


@rule(
    "CW1605",
    "Names for another number of cards",
    source="the machine type's cards in the catalog: each is a rail",
    example="pools: {gpu: {machine: hgx-h100-8gpu}}, fabric: {switches: {model: qm9700, devices: [mlx5_0]}}",
)
def devices_do_not_fit(outline: Outline) -> Iterator[Problem]:
    """A card without its name would be drawn on another one's cable."""
    switches = outline.spec.fabric.switches
    for name, kind in wired_pools(outline) if switches and switches.devices else ():
        given, rails = len(switches.devices) if switches else 0, fabric_cards(kind)
        if given != rails:
            what = (
                f"{given} devices are named, and machines of pool '{name}' have {rails} cards on the fabric"
            )
            yield Problem("fabric.switches.devices", what, f"Name {rails}, in the order of rails")
    for device, times in Counter(switches.devices if switches else ()).items():
        if times > 1:
            what = f"the device '{device}' is named {times} times"
            yield Problem("fabric.switches.devices", what, "Name each card once")


@rule(
    "CW1606",
    "More nodes than the fabric is sized for",
    source=_LAYOUT,
    example="pools: {gpu: {count: 40}}, fabric: {switches: {model: qm9700, sized_for: 32}}",
)
def outgrown(outline: Outline) -> Iterator[Problem]:
    """Ports that are kept for a pool do not suffice, and cables would have to move."""
    switches = outline.spec.fabric.switches
    for name, _ in wired_pools(outline) if switches and switches.sized_for else ():
        wanted = switches.sized_for if switches else None
        if wanted and outline.count(name) > wanted:
            what = f"pool '{name}' has {outline.count(name)} nodes, and the fabric is sized for {wanted}"
            yield Problem("fabric.switches.sized_for", what, f"Write {outline.count(name)} or more")


@rule(
    "CW1607",
    "A fabric that Slurm is not told of",
    source="topology.conf(5): TopologyPlugin=topology/tree",
    example="fabric: {topology: flat, switches: {model: qm9700}}",
    severity=Severity.WARNING,
)
def slurm_not_told(outline: Outline) -> Iterator[Problem]:
    """Jobs are spread over scalable units although one would hold them, and talk through spines."""
    made = _designed(outline)
    if made and made.levels > 1 and outline.spec.fabric.topology == "flat":
        units = sum(pool.units for pool in made.pools)
        what = f"nodes hang on {units} units of leaves, and the topology is 'flat'"
        yield Problem("fabric.topology", what, "Write `topology: tree`")


@rule(
    "CW1608",
    "Uplinks slower than the ports below",
    source=_PORTS,
    example="fabric: {switches: {model: qm9700, spine: qm8700}}",
    severity=Severity.WARNING,
)
def not_as_claimed(outline: Outline) -> Iterator[Problem]:
    """`oversubscription` counts links; slower links above make the fabric block more than it says."""
    made, switches = _designed(outline), outline.spec.fabric.switches
    if made and switches and made.levels > 1 and made.ratio > switches.oversubscription * 1.001:
        what = f"a leaf's nodes have {made.ratio:.3g} times the bandwidth of its uplinks"
        what += f", and {switches.oversubscription:g} is asked for"
        field = "fabric.switches.spine" if switches.spine else "fabric.switches.oversubscription"
        yield Problem(field, what, "Take a faster spine, or say so in `oversubscription`")


@rule(
    "CW1611",
    "Fewer racks than the nodes fill",
    source=_LAYOUT,
    example='pools: {gpu: {count: 8, racks: {nodes_per_rack: 4, names: "a1"}}}',
)
def too_few_racks(outline: Outline) -> Iterator[Problem]:
    """The nodes that are left over would stand nowhere."""
    for name, pool in outline.spec.pools.items():
        if pool.racks is None or pool.racks.names is None:
            continue
        needed, named = -(-outline.count(name) // pool.racks.nodes_per_rack), size(pool.racks.names)
        if named < needed:
            what = f"{outline.count(name)} nodes fill {needed} racks, and {_racks(named)} named"
            yield Problem(f"pools.{name}.racks.names", what, f"Name {needed}")


def _racks(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"


@rule(
    "CW1612",
    "Two devices in one rack unit",
    source=_LAYOUT,
    example="pools: {a: {racks: {names: r1, first_unit: 1, units: 8}}, b: {racks: {names: r1}}}",
)
def one_unit_twice(outline: Outline) -> Iterator[Problem]:
    """One of them stands elsewhere, and cable lists lead to the wrong place."""
    taken: dict[tuple[str, int], str] = {}
    for name, pool in outline.spec.pools.items():
        height, told = (pool.racks.units if pool.racks else None) or 1, False
        for node, spot in node_spots(outline, name).items():
            for unit in _units(spot, height):
                other = taken.setdefault((spot.rack, unit), node)
                if other != node and not told:
                    told = True
                    what = f"unit {unit} of rack '{spot.rack}' has '{node}' and '{other}'"
                    yield Problem(
                        f"pools.{name}.racks.first_unit", what, "Give one of them another unit or rack"
                    )
    yield from _switches_in(outline, taken)


def _units(spot: Spot, height: int) -> range:
    return range(spot.unit, spot.unit + height) if spot.unit else range(0)


def _switches_in(outline: Outline, taken: dict[tuple[str, int], str]) -> Iterator[Problem]:
    switches = outline.spec.fabric.switches
    made = _designed(outline) if switches and switches.racks else None
    for switch in switches_of(outline, made) if made else ():
        if switch.spot is None:
            what = f"the racks are full before {switch.level} '{switch.name}'"
            yield Problem("fabric.switches.racks", what, "Name more racks, or put more switches into one")
            return
        for unit in _units(switch.spot, switch.model.rack_units):
            other = taken.setdefault((switch.spot.rack, unit), switch.name)
            if other != switch.name:
                what = f"unit {unit} of rack '{switch.spot.rack}' has '{switch.name}' and '{other}'"
                yield Problem("fabric.switches.racks", what, "Give the switches other units or another rack")
                return


@rule(
    "CW1613",
    "An NVLink domain over several racks",
    source="NVIDIA GB200 NVL72: the 18 trays of one NVLink domain are one rack",
    example="pools: {gpu: {machine: gb200-nvl72-tray, count: 18, racks: {nodes_per_rack: 9}}}",
    severity=Severity.WARNING,
)
def domain_over_racks(outline: Outline) -> Iterator[Problem]:
    """NVLink's cables do not leave the rack, so the trays of a domain stand in one."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        racks, trays = pool.racks, trays_of_domain(outline.hardware[name])
        if racks and trays and racks.nodes_per_rack % trays:
            what = f"{trays} '{pool.machine}' are one rack, and {racks.nodes_per_rack} stand in each here"
            yield Problem(f"pools.{name}.racks.nodes_per_rack", what, f"Write {trays}")

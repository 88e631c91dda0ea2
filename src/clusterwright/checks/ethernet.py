"""Ethernet fabrics of own machines: what LLDP and people need to know of switches and cards."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterwright.catalog.lossless import untold
from clusterwright.catalog.switches import SwitchModel, switch_models
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.wiring.design import wired_pools
from clusterwright.plan.wiring.lossless import system_of
from clusterwright.spec.fabric import Switches

_SYSTEMS = "the switch's row in the catalog: systems that run on it"
_RDMA_DEVICE = re.compile(r"(mlx[45]_|bnxt_re|irdma|rocep|ibp|efa_)[0-9a-z]*")
"""As the kernel's drivers and rdma-core's persistent names (rdma_rename, NAME_PCI) call RDMA devices."""


def _ethernet(outline: Outline) -> tuple[Switches, SwitchModel] | None:
    """Switches and leaf, where cards of Ethernet hang on them."""
    switches = outline.spec.fabric.switches
    leaf = switch_models().get(switches.model) if switches else None
    cards = {card.kind for _, kind in wired_pools(outline) for card in kind.cards if card.is_fabric}
    fits = leaf is not None and leaf.kind == "ethernet" and bool(cards - {"infiniband"})
    return (switches, leaf) if switches and leaf and fits else None


@rule(
    "CW1680",
    "Cards of an Ethernet fabric without names",
    source="IEEE 802.1AB: a node announces its port by the name of the network interface",
    example="pools: {gpu: {machine: mi300x-8gpu-roce}}, fabric: {switches: {model: sn5400, devices: []}}",
    severity=Severity.WARNING,
)
def nameless_interfaces(outline: Outline) -> Iterator[Problem]:
    """Cables are drawn for names that no node has, and `verify fabric` cannot hold them against LLDP."""
    found = _ethernet(outline)
    if found and not found[0].devices:
        what = "nobody says what nodes call the network interfaces on this fabric"
        yield Problem("fabric.switches", what, "Name them in `devices`, in the order of rails")


@rule(
    "CW1681",
    "RDMA devices where interfaces are asked for",
    source="IEEE 802.1AB: a node announces its port by the name of the network interface",
    example="pools: {gpu: {machine: mi300x-8gpu-roce}}, fabric: {switches: {devices: [bnxt_re0, …]}}",
    severity=Severity.WARNING,
)
def devices_of_rdma(outline: Outline) -> Iterator[Problem]:
    """`mlx5_0` and `bnxt_re0` are what RDMA calls a card; LLDP tells the interface, `ip link` shows it."""
    found = _ethernet(outline)
    names = [name for name in found[0].devices if _RDMA_DEVICE.fullmatch(name)] if found else []
    if names:
        more = " …" if len(names) > 3 else ""
        what = f"{', '.join(names[:3])}{more} are RDMA devices, and LLDP tells interfaces"
        yield Problem(
            "fabric.switches.devices", what, "Name interfaces: `rdma link` shows both names of a card"
        )


@rule(
    "CW1682",
    "A system that does not run on this switch",
    source=_SYSTEMS,
    example="fabric: {switches: {model: sn5400, system: eos}}",
)
def another_system(outline: Outline) -> Iterator[Problem]:
    """Ports would be called by names that the switch does not have."""
    switches = outline.spec.fabric.switches
    known = switch_models()
    if switches is None or switches.system is None:
        return
    named = (name for name in (switches.model, switches.spine, switches.core) if name in known)
    for model in dict.fromkeys(known[name] for name in named if name):
        if model.kind == "ethernet" and switches.system not in model.systems:
            what = f"'{model.model}' runs {_or(model.systems)}, and the system is '{switches.system}'"
            yield Problem("fabric.switches.system", what, f"Write {_or(model.systems)}, or leave it out")


def _or(words: tuple[str, ...]) -> str:
    return " or ".join(words) or "no system that a source tells"


@rule(
    "CW1683",
    "A system of InfiniBand switches",
    source="infiniband-diags: ports are numbers, whatever runs on a switch",
    example="fabric: {switches: {model: qm9700, system: cumulus}}",
    severity=Severity.WARNING,
)
def system_of_infiniband(outline: Outline) -> Iterator[Problem]:
    """It has no effect: InfiniBand's ports have numbers, and there are no lossless settings to make."""
    switches = outline.spec.fabric.switches
    leaf = switch_models().get(switches.model) if switches else None
    if switches and switches.system and leaf and leaf.kind == "infiniband":
        what = f"'{leaf.model}' is an InfiniBand switch, and 'system' has no effect on it"
        yield Problem("fabric.switches.system", what, "Leave it out")


@rule(
    "CW1684",
    "Switches of which nobody says what runs on them",
    source=_SYSTEMS,
    example="fabric: {switches: {model: sn5400}}",
    severity=Severity.WARNING,
)
def no_system(outline: Outline) -> Iterator[Problem]:
    """Lists and findings have numbers of ports and not their names, and lossless settings cannot be told."""
    found = _ethernet(outline)
    if found and found[0].system is None and len(found[1].systems) > 1:
        what = f"on '{found[1].model}' runs {_or(found[1].systems)}, and nobody says which"
        yield Problem("fabric.switches", what, f"Write `system: {found[1].systems[0]}`, if it is that")


@rule(
    "CW1685",
    "Lossless settings that no source tells",
    source="the catalog's lossless settings by system, each with its source",
    example="fabric: {switches: {model: sn5400, system: sonic}}",
    severity=Severity.WARNING,
)
def lossless_untold(outline: Outline) -> Iterator[Problem]:
    """RoCE slows down at the first lost packet; what keeps switches from it has to come from elsewhere."""
    found = _ethernet(outline)
    system = system_of(found[1], found[0].system) if found else None
    if found and system in found[1].systems and (missing := untold(system or "")):
        what = f"no source tells how these are set under '{system}': {', '.join(missing)}"
        remedy = "Ask the switch's maker; `cabling --lossless` has the rest"
        yield Problem("fabric.switches", what, remedy)

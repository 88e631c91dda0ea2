"""Pools for a description, as far as a list of machines tells them."""

from __future__ import annotations

import re
from itertools import pairwise

import yaml

from clusterwright.catalog.machines import machines as catalog
from clusterwright.catalog.machines import nearest
from clusterwright.finding import Finding, Severity, Where
from clusterwright.operate.inventory.collect import Found
from clusterwright.spec.nodeset import expand, fold

_ROLES = (
    ("login", re.compile(r"login|submit|gateway|bastion", re.IGNORECASE)),
    ("controller", re.compile(r"control|head|master|slurmctld|mgmt|management", re.IGNORECASE)),
    ("storage", re.compile(r"storage|nfs|file", re.IGNORECASE)),
    ("compute", re.compile(r"compute|gpu|worker|hpc|node|server", re.IGNORECASE)),
)


def draft(machines: tuple[Found, ...]) -> tuple[str, list[Finding]]:
    """The text of `pools`, and what has to be said by hand."""
    findings: list[Finding] = []
    groups: dict[tuple[str, str], list[Found]] = {}
    for found in machines:
        groups.setdefault((_role(found), found.text("model")), []).append(found)
    pools: dict[str, object] = {}
    for (role, model), members in groups.items():
        name = _free(role or "compute", pools)
        if not role:
            findings.append(
                _told(members[0], f"no role is known of {len(members)} machines; compute is assumed")
            )
        machine = _machine(model)
        if machine not in catalog():
            near = ", ".join(nearest(machine)) or "`clusterwright machines` lists them"
            what = f"'{model}' is no machine type of the catalog" if model else "no machine type is told"
            findings.append(_told(members[0], what, f"Write `machine` of pool '{name}' by hand. {near}"))
        racks, problem = _racks(members)
        findings += [_told(members[0], f"pool '{name}': {problem}")] if problem else []
        nodes = _ordered(members) if racks else fold(one.node for one in members)
        body: dict[str, object] = {"roles": role or "compute", "machine": machine, "nodes": nodes}
        pools[name] = {**body, **({"racks": racks} if racks else {})}
    return yaml.safe_dump({"pools": pools}, sort_keys=False, width=120), findings


def _told(
    found: Found, what: str, remedy: str = "Look at it, and write it by hand where it is wrong"
) -> Finding:
    where: Where = found.cells["model"].where if "model" in found.cells else found.where
    return Finding("CW8126", where, what, remedy, Severity.WARNING)


def _role(found: Found) -> str:
    said = found.text("role")
    return next((role for role, pattern in _ROLES if said and pattern.search(said)), "")


def _machine(model: str) -> str:
    """A model as the catalog would name it."""
    return re.sub(r"[^a-z0-9._]+", "-", model.lower()).strip("-") or "unknown"


def _free(name: str, taken: dict[str, object]) -> str:
    number = 1
    while (wanted := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return wanted


def _by_rack(members: list[Found]) -> dict[str, list[Found]]:
    racks: dict[str, list[Found]] = {}
    for one in sorted(members, key=lambda one: (_natural(one.text("rack")), int(one.text("unit") or 0))):
        racks.setdefault(one.text("rack").lower(), []).append(one)
    return racks


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text.lower())]


def _ordered(members: list[Found]) -> str:
    """Node sets in the order of racks: that order says who stands where."""
    racks = _by_rack(members).values()
    folded = fold(one.node for one in members)
    if expand(folded) == [one.node for rack in racks for one in rack]:
        return folded
    return ",".join(fold(one.node for one in rack) for rack in racks)


def _racks(members: list[Found]) -> tuple[dict[str, object] | None, str]:
    """How nodes stand, where one pool can say it: as many in each rack, from the same unit up."""
    if not any(one.text("rack") for one in members):
        return None, ""
    if not all(re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", one.text("rack").lower()) for one in members):
        return None, "not every machine has a rack whose name is letters, digits and '-'; `racks` is left out"
    racks = _by_rack(members)
    sizes = [len(rack) for rack in racks.values()]
    if len({*sizes[:-1]}) > 1 or sizes[-1] > sizes[0]:
        return None, f"racks hold {min(sizes)} to {max(sizes)} nodes; make a pool of those that are alike"
    found: dict[str, object] = {"names": _names(list(racks)), "nodes_per_rack": sizes[0]}
    units = [[int(one.text("unit") or 0) for one in rack] for rack in racks.values()]
    if not all(all(rack) for rack in units):
        return found, ""
    steps = {after - before for rack in units for before, after in pairwise(rack)}
    if len({rack[0] for rack in units}) > 1 or len(steps) > 1:
        return found, "its nodes do not stand in the same units of each rack; units are left out"
    return {**found, "first_unit": units[0][0], **({"units": steps.pop()} if steps else {})}, ""


def _names(racks: list[str]) -> str:
    folded = fold(racks)
    return folded if expand(folded) == racks else ",".join(racks)

"""Rules on the fabric: every card of a machine, and nothing in its way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.machines import catalog
from clusterwright.checks.resources.rule import Resource, ResourceRule, rule
from clusterwright.plan.interfaces import interface_plan

_INSTANCE = "aws:ec2/instance:Instance"
_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
_INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
_EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
_GCP = {"gcp:compute/instance:Instance", "gcp:compute/instanceTemplate:InstanceTemplate"}
_EFA = {"efa", "efa-only"}


@rule(
    "whole-fabric",
    remedy="Ask for the interfaces that `clusterwright machines NAME` shows",
    source="Amazon EC2 and Google Cloud: network interfaces of accelerated machines, see network_cards.csv",
)
def whole_fabric(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """A machine with fabric on some of its cards is slow, and says nothing of it."""
    for one, kind, template in _machines(resources):
        asked = [row for row in _interfaces(template) if row.get("interfaceType") in _EFA]
        planned = [row for row in interface_plan(kind).interfaces if row.kind in _EFA]
        cards = {int(row.get("networkCardIndex") or 0) for row in asked}
        missing = sorted({row.card for row in planned} - cards)
        if missing and (asked or kind.hardware.gpus):
            told = ", ".join(map(str, missing))
            yield one, f"{kind.name} has EFA on {len(planned)} cards, and none is asked for on {told}"
    for one in (each for each in resources if each.type in _GCP):
        yield from _google(one)


@rule(
    "primary-interface",
    remedy="Make the first interface of card 0 one that takes an address",
    source="Amazon EC2 user guide, Elastic Fabric Adapter: EFA-only interfaces, 2026-11",
)
def primary_interface(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """A machine without an address on its first interface does not boot into the network."""
    for one in (each for each in resources if each.type == _TEMPLATE):
        places = {_place(row): row.get("interfaceType") for row in _interfaces(one)}
        if places and (0, 0) not in places:
            yield one, "it has no interface at card 0, device 0"
        if places.get((0, 0)) == "efa-only":
            yield one, "its primary interface takes no address"


@rule(
    "open-within",
    remedy="Allow all traffic from the security group to itself, in and out",
    source="Amazon EC2 user guide, Get started with EFA: security group, 2026-11",
)
def open_within(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """EFA carries nothing unless its security group lets everything in from itself and out to itself."""
    open_groups = {kind: _open_groups(resources, kind) for kind in (_INGRESS, _EGRESS)}
    for one in (each for each in resources if each.type == _TEMPLATE):
        if not any(row.get("interfaceType") in _EFA for row in _interfaces(one)):
            continue
        linked = _linked(one)
        for kind, way in ((_INGRESS, "in"), (_EGRESS, "out")):
            if not linked & open_groups[kind]:
                yield one, f"its security group does not let everything {way} that is its own"


@rule(
    "one-fabric",
    remedy="Put all machines of a fabric into one subnet",
    source="Amazon EC2 user guide, Elastic Fabric Adapter: limitations, 2026-11",
)
def one_fabric(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """EFA does not cross subnets: machines in two of them are two clusters."""
    seen: Counter[str] = Counter()
    found: list[tuple[Resource, str]] = []
    for one in (each for each in resources if each.type == _TEMPLATE):
        if any(row.get("interfaceType") in _EFA for row in _interfaces(one)):
            for key in sorted(key for key in _linked(one) if "subnet:Subnet" in key):
                seen[key] += 1
                found.append((one, key))
    if len(seen) > 1:
        most = seen.most_common(1)[0][0]
        for one, key in found:
            if key != most:
                yield (
                    one,
                    f"its interfaces are in {key.rpartition('::')[2]}, others in {most.rpartition('::')[2]}",
                )


def _google(one: Resource) -> Iterator[tuple[Resource, str]]:
    kind = catalog().types.get(str(one.get("machineType")))
    rows = _interfaces(one)
    if kind is None or len(rows) < 2:
        return
    asked = Counter(str(row.get("nicType")) for row in rows)
    planned = Counter(row.kind.upper() for row in interface_plan(kind).interfaces)
    if missing := planned - asked:
        told = ", ".join(f"{count} {name}" for name, count in sorted(missing.items()))
        yield one, f"{kind.name} has more cards than these: {told} is not asked for"


def _machines(resources: Sequence[Resource]) -> Iterator[tuple[Resource, MachineType, Resource]]:
    """Instances of known types, with the templates of their interfaces; of a group its template."""
    by_key = {one.key: one for one in resources}
    for one in resources:
        kind = catalog().types.get(str(one.get("instanceType"))) if one.type == _INSTANCE else None
        keys = [key for keys in one.links.values() for key in keys if key.startswith(_TEMPLATE)]
        if kind and keys and keys[0] in by_key:
            yield one, kind, by_key[keys[0]]
        whole = catalog().types.get(str(one.get("instanceType"))) if one.type == _TEMPLATE else None
        if whole:
            yield one, whole, one


def _interfaces(one: Resource) -> list[Mapping[str, Any]]:
    return [row for row in one.get("networkInterfaces") or () if isinstance(row, Mapping)]


def _place(row: Mapping[str, Any]) -> tuple[int, int]:
    return int(row.get("networkCardIndex") or 0), int(row.get("deviceIndex") or 0)


def _linked(one: Resource) -> set[str]:
    return {key for keys in one.links.values() for key in keys}


def _open_groups(resources: Sequence[Resource], kind: str) -> set[str]:
    """Security groups with a rule of this kind for everything that is their own."""
    return {
        group
        for one in resources
        if one.type == kind and one.get("ipProtocol") == "-1"
        for group in one.links.get("securityGroupId", ())
        if group in one.links.get("referencedSecurityGroupId", ())
    }


FABRIC: tuple[ResourceRule, ...] = (whole_fabric, primary_interface, open_within, one_fabric)

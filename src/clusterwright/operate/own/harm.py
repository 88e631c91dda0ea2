"""What a survey saw that would be harmed, or would be in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clusterwright.bundle import directory
from clusterwright.bundle.facts import treatments
from clusterwright.finding import Finding, Severity, Where
from clusterwright.handoff import Handoff, Node
from clusterwright.operate.own.asking import Machine
from clusterwright.spec.nodeset import fold

_UNDOING = ("puppet", "salt-minion", "chef-client")
_SHOWN = 8
_MEMORY_SHARE = 0.95
"""A kernel keeps some of what the vendor sells."""


@dataclass(frozen=True, slots=True)
class _Case:
    handoff: Handoff
    node: Node
    machine: Machine

    def says(self, code: str, severity: Severity, what: str, remedy: str) -> Finding:
        return Finding(code, Where(path=self.node.name), what, remedy, severity)


def harm(handoff: Handoff, node: Node, machine: Machine) -> Iterator[Finding]:
    """Of one machine. Of one that clusterwright keeps already, only what a person put in the way."""
    case = _Case(handoff, node, machine)
    yield from _people(case)
    yield from _files(case)
    yield from _surroundings(case)
    yield from _hardware(case)
    if not machine.applied:
        yield from _slurm(case)
        yield from _software(case)


def no_python(node: Node) -> Finding:
    what = "has no Python, without which little can be seen"
    return Finding(
        "CW8180", Where(path=node.name), what, "`clusterwright bootstrap` brings it", Severity.WARNING
    )


def together(findings: Iterable[Finding]) -> list[Finding]:
    """The same of several nodes is one finding about a node set."""
    alike: dict[Finding, list[str]] = {}
    for finding in findings:
        alike.setdefault(replace(finding, where=Where()), []).append(finding.where.path)
    return [replace(finding, where=Where(path=fold(names))) for finding, names in alike.items()]


def _slurm(case: _Case) -> Iterator[Finding]:
    there = case.machine.seen["slurm"]
    if there["jobs"]:
        jobs = ", ".join(map(str, there["jobs"][:_SHOWN]))
        what = f"jobs of another Slurm run there: {jobs}{' …' if len(there['jobs']) > _SHOWN else ''}"
        remedy = "Drain it there, and wait until they have ended: `up` would take Slurm from under them"
        yield case.says("CW8186", Severity.ERROR, what, remedy)
    if there["daemons"] or there["conf"]:
        named = f" of the cluster '{there['cluster']}'" if there["cluster"] else ""
        what = f"Slurm {there['version'] or 'of an unknown version'}{named} is there"
        what += f", with {' and '.join(there['daemons'])} running" if there["daemons"] else ""
        remedy = "`up` puts this cluster's in its place"
        if there["conf"]:
            remedy += f"; `clusterwright init --from-slurm FILE` begins a description with {there['conf']}"
        yield case.says("CW8187", Severity.WARNING, what, remedy)


def _software(case: _Case) -> Iterator[Finding]:
    wanted = case.handoff.software["stacks"].get(case.node.pool, {}).get("driver", {}).get("version")
    loaded = case.machine.seen["gpus"]["nvidia_driver"]
    kept = "nvidia_driver" in treatments(case.handoff, case.node)
    if wanted and loaded and loaded != wanted and not kept:
        what = f"the GPU driver {loaded} is loaded, and the lock has {wanted}"
        remedy = (
            f"`up` exchanges it and boots the machine; `versions: {{driver: {loaded}}}` keeps it, if it fits"
        )
        yield case.says("CW8187", Severity.WARNING, what, remedy)
    if lowered := case.machine.lowered:
        what = f"packages would go down in version: {', '.join(lowered[:_SHOWN])}"
        yield case.says(
            "CW8187", Severity.ERROR, what, "Choose newer ones with `versions`, or install it anew"
        )
    if replaced := case.machine.changes.get("replace"):
        what = f"{len(replaced)} files of its own would be replaced: {', '.join(replaced[:_SHOWN])}"
        remedy = "Keep a copy of what is needed; the description has places for most of it"
        yield case.says("CW8187", Severity.WARNING, what, remedy)


def _files(case: _Case) -> Iterator[Finding]:
    for path in case.machine.seen["hidden"]:
        what = f"{path} has files of the machine's own, which the share mounted there would hide"
        yield case.says("CW8187", Severity.WARNING, what, "Move them to the share, or to another place")


def _people(case: _Case) -> Iterator[Finding]:
    for collision in case.machine.seen["collisions"]:
        remedy = "Give the description the number that owns the files, or move the files to the new one"
        yield case.says("CW8188", Severity.ERROR, collision, remedy)
    yield from _directory(case)


def _directory(case: _Case) -> Iterator[Finding]:
    there = case.machine.seen["people"]["directory"]
    ours = directory.of(case.handoff) is not None and "sssd" not in treatments(case.handoff, case.node)
    what = f"logins come from a directory as well ({', '.join(there)})"
    if there and not ours:
        remedy = "It stays. Names of the description are local logins and come first"
        yield case.says("CW8189", Severity.NOTE, what, remedy)
    elif there and not case.machine.applied:
        remedy = "`up` configures sssd for the description's; `ansible_roles: {sssd: skip}` keeps this one"
        yield case.says("CW8189", Severity.WARNING, what, remedy)


def _surroundings(case: _Case) -> Iterator[Finding]:
    seen, handoff = case.machine.seen, case.handoff
    wanted, there = handoff.software["distribution"], seen["system"]["distribution"]
    if there != wanted and not there.startswith(f"{wanted}."):
        remedy = f"Write `software: {{distribution: …}}` as it is, or install {wanted}"
        yield case.says("CW8189", Severity.ERROR, f"runs {there}, and the description says {wanted}", remedy)
    yield from _firewall(case)
    if undoing := [name for name in _UNDOING if name in seen["services"]]:
        what = f"{', '.join(undoing)} keeps this machine, and may undo what `up` does"
        yield case.says("CW8189", Severity.WARNING, what, "Take out of it what the description says")
    if seen["name"].partition(".")[0] != case.node.name:
        what = f"calls itself {seen['name']}"
        yield case.says(
            "CW8189", Severity.NOTE, what, f"Bootstrap names it {case.node.name}, as Slurm needs it"
        )


def _firewall(case: _Case) -> Iterator[Finding]:
    seen = case.machine.seen["firewall"]
    if not seen["by"] and not seen["rules"]:
        return
    by = " and ".join(seen["by"]) or "nobody that is known"
    what = f"{seen['rules']} firewall rules are in force, kept by {by}"
    remedy = "`up` switches ufw and firewalld off on compute nodes; elsewhere let the cluster through"
    if not case.handoff.site[case.node.site].get("firewall"):
        yield case.says("CW8189", Severity.WARNING, what, remedy)
        return
    if seen["closed"]:
        what += f", and drop what they do not know ({', '.join(seen['closed'])})"
    remedy = f"Both firewalls hold: {remedy[0].lower()}{remedy[1:]}, or switch the other one off"
    yield case.says("CW8290", Severity.WARNING, what, remedy)


def _hardware(case: _Case) -> Iterator[Finding]:
    system, wanted = case.machine.seen["system"], case.handoff.hardware[case.node.machine]
    short = [
        f"{there} {what} of {needed}"
        for what, there, needed in (
            ("processors", system["cpus"], wanted.cpus),
            ("GPUs", case.machine.seen["gpus"]["cards"], len(wanted.gpus)),
            ("MiB of memory", system["memory_mib"], int(wanted.memory_mib * _MEMORY_SHARE)),
        )
        if there < needed
    ]
    if short:
        what = f"has less than its machine type {wanted.machine}: {', '.join(short)}"
        yield case.says(
            "CW8189", Severity.WARNING, what, "Name the type that it is, or see what is broken there"
        )

"""People, their keys and their teams."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.key import KeyFault, examine
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.people import Limits

_SYSTEM_USERS = """
_apt _chrony backup bin clusterwright daemon games irc list lp mail man messagebus munge mysql news nobody
polkitd postfix prometheus proxy root slurm sshd statd sync sys systemd-network systemd-resolve
systemd-timesync uucp uuidd www-data
"""
_LIMITS = ("gpus", "nodes", "jobs", "wall_time")


def _keys(outline: Outline) -> Iterator[tuple[str, str, str]]:
    for name, user in outline.spec.users.items():
        for index, key in enumerate(user.keys):
            yield name, f"users.{name}.keys.{index}", key


@rule(
    "CW1261",
    "A login name of the system",
    source="Debian base-passwd, and the accounts that the installed daemons bring",
    example="users: {slurm: {uid: 2001}}",
)
def system_user(outline: Outline) -> Iterator[Problem]:
    """A person who is called like a daemon would own the daemon's files, or keep it from starting."""
    for name in sorted({*_SYSTEM_USERS.split()} & {*outline.spec.users} - {"root"}):
        yield Problem(f"users.{name}", f"'{name}' is a user of the system itself", "Choose another name")


@rule(
    "CW1262",
    "A public key that is not one",
    source="RFC 4253 §6.6: a key's data begin with its type",
    example="users: {ada: {uid: 2001, keys: ['ssh-ed25519 AAAA']}}",
)
def key_malformed(outline: Outline) -> Iterator[Problem]:
    """sshd passes over such a line in silence, and the person cannot log in."""
    for name, field, key in _keys(outline):
        if examine(key).fault is KeyFault.MALFORMED:
            what = f"this key of '{name}' is damaged or not a public key"
            yield Problem(field, what, "Paste the whole line of the .pub file")


@rule(
    "CW1263",
    "A public key that is too weak",
    source="OpenSSH 7.0 (ssh-dss), OpenSSH 9.1 RequiredRSASize, NIST SP 800-131A: RSA from 2048 bits",
    example="users: {ada: {uid: 2001, keys: ['ssh-dss …']}}",
)
def key_weak(outline: Outline) -> Iterator[Problem]:
    """OpenSSH no longer takes DSA keys, and short RSA keys can be broken."""
    for name, field, key in _keys(outline):
        if examine(key).fault is KeyFault.WEAK:
            what = f"this key of '{name}' is {examine(key).kind}"
            yield Problem(field, what, "Make a new one: `ssh-keygen -t ed25519`")


@rule(
    "CW1264",
    "One key for two people",
    source="a key is what tells people apart in the log",
    example="users: {ada: {keys: [K]}, bob: {keys: [K]}}",
    severity=Severity.WARNING,
)
def key_shared(outline: Outline) -> Iterator[Problem]:
    """Whoever holds the key can be either of them; and a key given twice to one person is a slip."""
    holders: dict[str, str] = {}
    for name, field, key in _keys(outline):
        data = key.split()[1] if len(key.split()) > 1 else key
        if data in holders:
            yield Problem(
                field, f"this key is already one of '{holders[data]}'", "Give each person their own"
            )
        holders.setdefault(data, name)


@rule(
    "CW1265",
    "A team's limit is above its parent's",
    source="slurm.schedmd.com/resource_limits.html: a job counts against every account above its own",
    example="accounts: {lab: {limits: {gpus: 8}}, vision: {parent: lab, limits: {gpus: 16}}}",
    severity=Severity.WARNING,
)
def limit_above_parent(outline: Outline) -> Iterator[Problem]:
    """The parent's limit holds for all below it together, so the larger one never takes effect."""
    accounts = outline.spec.accounts
    for name, account in accounts.items():
        above = accounts.get(account.parent or "", None)
        for limit in _LIMITS if above else ():
            own, bound = _limit(account.limits, limit), _limit(above.limits, limit) if above else None
            if own is not None and bound is not None and own > bound:
                what = f"'{name}' may use {own}, and '{account.parent}' above it {bound}"
                yield Problem(f"accounts.{name}.limits.{limit}", what, "Make it no larger than the parent's")


def _limit(limits: Limits, name: str) -> int | None:
    value: int | None = getattr(limits, name)
    return value


@rule(
    "CW1266",
    "Limits without accounting",
    source="slurm.schedmd.com/resource_limits.html: limits are kept in the accounting database",
    example="scheduler: {accounting: false}, accounts: {vision: {limits: {gpus: 8}}}",
    severity=Severity.WARNING,
)
def limits_without_accounting(outline: Outline) -> Iterator[Problem]:
    """Slurm enforces accounts, shares and limits only with its database; here they would be words."""
    if outline.spec.scheduler.accounting:
        return
    for name, account in outline.spec.accounts.items():
        if any(_limit(account.limits, limit) is not None for limit in _LIMITS):
            what = f"the limits of '{name}' need accounting, which is off"
            yield Problem(f"accounts.{name}.limits", what, "Switch accounting on, or remove them")


@rule(
    "CW1267",
    "A limit above what the cluster has",
    source="the plan's own count of nodes and GPUs",
    example="pools: {gpu: {machine: lab-h100, count: 2}}, accounts: {vision: {limits: {gpus: 64}}}",
    severity=Severity.NOTE,
)
def limit_above_cluster(outline: Outline) -> Iterator[Problem]:
    """A limit that can never be reached does nothing: a slip, or a cluster that has shrunk."""
    compute = [name for name, pool in outline.spec.pools.items() if "compute" in pool.roles]
    gpus = sum(outline.count(name) * len(row.gpus) for name in compute if (row := outline.hardware[name]))
    totals = {"nodes": sum(map(outline.count, compute)), "gpus": gpus}
    if any(outline.hardware[name] is None for name in compute):
        return
    for name, account in outline.spec.accounts.items():
        for limit, total in totals.items():
            own = _limit(account.limits, limit)
            if own is not None and own > total:
                what = f"'{name}' may use {own} {limit}, and the cluster has {total}"
                yield Problem(f"accounts.{name}.limits.{limit}", what, "Lower it, or remove it")

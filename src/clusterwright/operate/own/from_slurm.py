"""A description from a slurm.conf that is there: what it can say is said, everything else is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.catalog.slurm import settings
from clusterwright.finding import Finding, Severity, Where
from clusterwright.operate.own.slurm_conf import Line, SlurmConf, read
from clusterwright.operate.own.wanted import Wanted
from clusterwright.spec.nodeset import fold

_LABEL = re.compile(r"[^a-z0-9-]+")
_OF_ONE = frozenset({"nodename", "nodeaddr", "nodehostname", "port", "state"})
"""What nodes of a pool may differ in."""
_OF_A_POOL = frozenset(
    {"features", "feature", "cpus", "boards", "sockets", "socketsperboard"}
    | {"corespersocket", "threadspercore", "realmemory", "gres", "procs"}
)
_OF_A_PARTITION = frozenset(
    {"partitionname", "nodes", "default", "maxtime", "defaulttime", "prioritytier", "oversubscribe", "state"}
)
_HOSTS = ("slurmctldhost", "controlmachine", "backupcontroller")


@dataclass
class _Pool:
    """Nodes with the same words in the same partitions."""

    nodes: list[str]
    words: Mapping[str, str]
    partitions: tuple[str, ...]
    where: Where
    name: str = ""


@dataclass
class Begun:
    """The description's text, and what is to be looked at."""

    text: str = ""
    findings: list[Finding] = field(default_factory=list)


def from_slurm(file: Path) -> Begun:
    """Raises Refused for what is no slurm.conf."""
    return _Description(read(file)).write()


class _Description:
    def __init__(self, conf: SlurmConf) -> None:
        self._conf = conf
        self._findings: list[Finding] = []

    def write(self) -> Begun:
        cluster, hosts, options = self._settings()
        pools = self._pools()
        partitions = [line for entry in self._conf.partitions for line in self._partition(entry)]
        for line in self._conf.others:
            self._lost(line.where, f"{line.key.capitalize()}={line.words[line.key]}")
        note = "Logins, accounts, shares and the network are not in a slurm.conf"
        self._say(
            Where(self._conf.settings[0].file),
            note,
            "Add `users`, `storage` and `site.network`",
            Severity.NOTE,
        )
        lines = [
            "# Begun from a slurm.conf. What it says and this does not was told when this was written.",
            f"cluster: {cluster}",
            "site: {provider: onprem}",
            "pools:",
            *self._controllers(hosts, pools),
            *(line for pool in pools for line in self._pool(pool)),
            *self._scheduler(options, partitions),
        ]
        return Begun("\n".join(lines) + "\n", self._findings)

    def _say(self, where: Where, what: str, remedy: str, severity: Severity = Severity.WARNING) -> None:
        self._findings.append(Finding("CW8183", where, what, remedy, severity))

    def _lost(self, where: Where, what: str) -> None:
        self._say(where, f"{what} has no place in a description", "See whether the cluster needs it")

    def _settings(self) -> tuple[str, list[str], dict[str, str]]:
        cluster, hosts, options = "", [], {}
        known = settings()
        for line in self._conf.settings:
            for key, value in line.words.items():
                setting = known.get(key)
                if key == "clustername":
                    cluster = _label(value)
                elif key in _HOSTS:
                    hosts.append(value.partition("(")[0])
                elif setting is None:
                    self._say(
                        line.where,
                        f"{key}={value} is no setting that is known",
                        "See whether it is spelled so",
                    )
                elif setting.owned:
                    remedy = f"See that the one of `clusterwright render` will do: {setting.name}"
                    self._say(
                        line.where, f"{setting.name}={value} is decided by the plan", remedy, Severity.NOTE
                    )
                else:
                    options[setting.name] = value
        return cluster, hosts, options

    def _pools(self) -> list[_Pool]:
        alike: dict[object, _Pool] = {}
        members = [(row.words["partitionname"], row.members()) for row in self._conf.partitions]
        for line in self._conf.nodes:
            self._of_single_nodes(line)
            words = {key: value for key, value in line.words.items() if key not in _OF_ONE}
            for name in line.nodes():
                among = tuple(one for one, nodes in members if nodes is None or name in nodes)
                key = (tuple(sorted(words.items())), among)
                alike.setdefault(key, _Pool([], words, among, line.where)).nodes.append(name)
        taken: set[str] = {"controller"}
        for pool in alike.values():
            base = _label(re.split(r"[0-9\[]", fold(pool.nodes), maxsplit=1)[0]) or "compute"
            pool.name = next(n for n in (base, *(f"{base}-{i}" for i in range(2, 1000))) if n not in taken)
            taken.add(pool.name)
        return list(alike.values())

    def _of_single_nodes(self, line: Line) -> None:
        nodes = line.words["nodename"]
        for key in ("nodeaddr", "nodehostname", "port"):
            if key in line.words:
                self._lost(line.where, f"{key}={line.words[key]} of {nodes}")
        if (state := line.words.get("state", "UNKNOWN").upper()) != "UNKNOWN":
            self._lost(line.where, f"State={state} of {nodes}")

    def _controllers(self, hosts: list[str], pools: list[_Pool]) -> Iterator[str]:
        own = [host for host in dict.fromkeys(hosts) if not any(host in pool.nodes for pool in pools)]
        if not hosts:
            what = "no SlurmctldHost is named, and `controller` is made up"
            self._say(Where(self._conf.settings[0].file), what, "Name the machine")
        if len(hosts) > 1:
            what = f"{', '.join(hosts[1:])} takes over for {hosts[0]}, and the description has only that one"
            remedy = (
                "Add it to `nodes` of the controller, and say in `scheduler.state` where both keep the state"
            )
            self._say(Where(self._conf.settings[0].file), what, remedy)
        if own or not hosts:
            name = f'nodes: "{own[0]}"' if own else "count: 1"
            where = Where(self._conf.settings[0].file)
            self._say(
                where, "what machine the controller is, no slurm.conf tells", "See `machine` of its pool"
            )
            yield f"  controller: {{roles: [controller, login], machine: generic-x86-16c, {name}}}"

    def _pool(self, pool: _Pool) -> Iterator[str]:
        hosts = {
            line.words[key].partition("(")[0]
            for line in self._conf.settings
            for key in _HOSTS
            if key in line.words
        }
        roles = "[controller, compute]" if hosts & {*pool.nodes} else "compute"
        if "controller" in roles and not hosts >= {*pool.nodes}:
            what = f"one of {fold(pool.nodes)} is a controller"
            self._say(pool.where, what, "Give that node a pool of its own")
        features = [f for key in ("features", "feature") for f in pool.words.get(key, "").split(",") if f]
        if not pool.partitions:
            self._say(pool.where, f"{fold(pool.nodes)} is in no partition", "The pool's name becomes one")
        for key, value in pool.words.items():
            if key not in _OF_A_POOL:
                self._lost(pool.where, f"{key}={value} of {fold(pool.nodes)}")
        yield f"  {pool.name}:"
        yield f"    roles: {roles}"
        yield f"    machine: {self._machine(pool)}"
        yield f'    nodes: "{fold(pool.nodes)}"'
        if pool.partitions:
            yield f"    partitions: [{', '.join(map(_label, pool.partitions))}]"
        if features:
            yield f"    features: [{', '.join(features)}]"

    def _machine(self, pool: _Pool) -> str:
        """The type of the catalogue that is most like it."""
        wanted = Wanted.of(pool.words)
        best = wanted.nearest()
        if difference := wanted.unlike(best):
            what = f"{fold(pool.nodes)}: no machine type is like that; {best.machine} has {difference}"
            self._say(pool.where, what, "Add a row of yours (docs/machines.md), or choose another type")
        if wanted.other_gres:
            self._lost(pool.where, f"Gres={wanted.other_gres} of {fold(pool.nodes)}")
        return best.machine

    def _partition(self, line: Line) -> Iterator[str]:
        words, rows = line.words, []
        if words.get("default", "").upper() == "YES":
            rows.append("default: true")
        for key, said in (("maxtime", "max_time"), ("defaulttime", "default_time")):
            value = words.get(key, "UNLIMITED")
            minutes = _minutes(value)
            if minutes:
                rows.append(f"{said}: {minutes} min")
            elif value.upper() not in ("UNLIMITED", "INFINITE", "NONE"):
                self._lost(line.where, f"{key}={value}")
        if words.get("prioritytier", "1").isdecimal() and words.get("prioritytier", "1") != "1":
            rows.append(f"priority: {words['prioritytier']}")
        shared = words.get("oversubscribe", "NO").upper()
        if shared == "EXCLUSIVE":
            rows.append("exclusive: true")
        elif shared != "NO":
            self._lost(line.where, f"OverSubscribe={shared} of the partition {words['partitionname']}")
        for key, value in words.items():
            if key not in _OF_A_PARTITION:
                self._lost(line.where, f"{key}={value} of the partition {words['partitionname']}")
        if words.get("state", "UP").upper() != "UP":
            self._lost(line.where, f"State={words['state']} of the partition {words['partitionname']}")
        if rows:
            yield f"    {_label(words['partitionname'])}: {{{', '.join(rows)}}}"

    def _scheduler(self, options: Mapping[str, str], partitions: list[str]) -> Iterator[str]:
        if options or partitions:
            yield "scheduler:"
        if partitions:
            yield "  partitions:"
            yield from partitions
        if options:
            yield "  options:"
            yield from (f"    {key}: {_quoted(value)}" for key, value in sorted(options.items()))


def _label(name: str) -> str:
    return _LABEL.sub("-", name.lower()).strip("-")[:40]


def _minutes(text: str) -> int:
    """`30`, `1:30` (minutes), `2:00:00`, `1-12`, `7-00:00:00`; 0 for what is none."""
    days, _, rest = text.rpartition("-")
    cells = rest.split(":")
    if not all(cell.isdecimal() for cell in cells) or not (days or "0").isdecimal():
        return 0
    numbers = [int(cell) for cell in cells]
    if days:
        hours, minutes = (*numbers, 0)[:2]
        return int(days) * 1440 + hours * 60 + minutes
    return numbers[0] * 60 + numbers[1] if len(numbers) == 3 else numbers[0]


def _quoted(value: str) -> str:
    return value if value.isdecimal() else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

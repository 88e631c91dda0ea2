"""What a node gets from a role, in the role's README: `scripts/generate` writes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from clusterwright.bundle.kinds import starting_order
from clusterwright.bundle.role import ORDER, Role, roles
from clusterwright.bundle.role_packages import alike, of_component, of_part, services_of
from clusterwright.catalog.distributions import distributions

_BEGIN, _END = "<!-- generated: what a node gets -->", "<!-- end -->"
_LEGEND = "../../docs/gpu-stack.md#how-to-read-a-roles-tables"

Row = Mapping[str, Any]
Cells = Sequence[str]
Services = Mapping[str, tuple[str, ...]]
"""By distribution, the units that packages bring."""


def pages() -> Iterator[tuple[Path, str]]:
    """Every role's README as the committed file holds it; outside the two comments it is written by hand."""
    for role in roles():
        file = Path("roles") / role.name / "README.md"
        before, _, rest = file.read_text(encoding="utf-8").partition(_BEGIN)
        after = rest.partition(_END)[2]
        yield file, f"{before.rstrip()}\n\n{_BEGIN}\n{section(role)}\n{_END}\n{after.lstrip()}"


def section(role: Role) -> str:
    """What a node gets, and when: nothing is said of what a role does not have."""
    tables = {
        "Packages of the distribution": _table(
            ("packages", "distribution", "part", "when"), chain.from_iterable(map(_part, role.parts))
        ),
        "Packages of the lock": _table(
            ("component", "packages", "distribution", "of the releases", "from", "held", "when"),
            chain.from_iterable(map(_component, role.components)),
        ),
        "Directories": _table(("path", "owner", "mode", "when"), map(_directory, role.directories)),
        "Files": _table(
            ("path", "owner", "mode", "placed", "a change of it", "when"), map(_file, role.files)
        ),
        "Units, in the order in which they start": _table(
            ("unit", "starts at boot", "runs", "distribution", "when"), _units(role)
        ),
    }
    lines = ["## What a node gets", "", *_lead(role)]
    for title, table in tables.items():
        lines += ["", f"**{title}**", "", *table] if table else []
    return "\n".join([*lines, ""])


def _lead(role: Role) -> Iterator[str]:
    turn = ORDER.index(role.name)
    after = f"after {_link(ORDER[turn - 1])}" if turn else ""
    before = f"before {_link(ORDER[turn + 1])}" if turn + 1 < len(ORDER) else ""
    yield f"On {'nodes with ' + _when(role.applies) if role.applies else 'every node'}."
    yield f"Its turn is {' and '.join(filter(None, (after, before)))}."
    yield f"[How to read the tables]({_LEGEND});"
    yield "they are written from [`node.yml`](node.yml) and the catalogue."


def _part(row: Row) -> Iterator[Cells]:
    for found in of_part(row["name"]):
        names = _code(found.packages) or "no source names one"
        yield names, _places(found.distributions), _code([row["name"]]), _when(row.get("when", {}))


def _component(row: Row) -> Iterator[Cells]:
    for found in of_component(row["name"]):
        yield (
            _code([row["name"]]),
            _code(found.packages),
            _places(found.distributions),
            ", ".join(found.releases),
            found.origin,
            _yes(found.held),
            _when(row.get("when", {})),
        )


def _directory(row: Row) -> Cells:
    return _code([row["path"]]), _owner(row), row.get("mode", "0755"), _when(row.get("when", {}))


def _file(row: Row) -> Cells:
    return (
        f"`{row['path']}`, a key" if row.get("key") else f"[`{row['path']}`]({_source(row['source'])})",
        _owner(row),
        row.get("mode", "0644"),
        "before packages" if row.get("early") else "",
        ", ".join(_effects(row.get("affects", ()))),
        _when(row.get("when", {})),
    )


def _source(name: str) -> str:
    return f"{'templates' if name.endswith('.j2') else 'files'}/{name}"


def _effects(affects: Iterable[str]) -> Iterator[str]:
    """`UNIT:restart` and the like; the same is said once."""
    units: dict[str, list[str]] = {}
    for affected in affects:
        unit, _, what = affected.rpartition(":")
        units.setdefault(what, []).append(unit)
    for what, names in units.items():
        yield f"{what}s {_code(names)}{' before it is removed' if what == 'stop' else ''}"


def _units(role: Role) -> Iterator[Cells]:
    """As `Kinds` orders them: what mounts need, mounts, what packages bring, the role's own."""
    yield from (_unit(row) for row in role.units if row.get("before_mounts"))
    for kind in role.mounts:
        yield f"a mount unit for each share of the kind `{kind}`", "yes", "yes", "", ""
    treated = [*map(_of_part, role.parts), *map(_of_component, role.components)]
    brought = [
        ({**row, "name": name}, "" if len(places) == len(services) else _places(places))
        for row, services in treated
        for names, places in alike(services)
        for name in names
    ]
    yield from (_unit(*each) for each in sorted(brought, key=lambda each: starting_order(each[0]["name"])))
    yield from (_unit(row) for row in role.units if not row.get("before_mounts"))


def _unit(row: Row, places: str = "") -> Cells:
    on = _yes(row.get("enabled", True)), _yes(row.get("active", True))
    return _code([row["name"]]), *on, places, _when(row.get("when", {}))


def _of_part(row: Row) -> tuple[Row, Services]:
    return _treated(row, {name: each.parts[row["name"]].services for name, each in distributions().items()})


def _of_component(row: Row) -> tuple[Row, Services]:
    when = {"component": [row["name"]], **row.get("when", {})}
    return _treated({**row, "when": when}, services_of(row["name"]))


def _treated(row: Row, services: Services) -> tuple[Row, Services]:
    """What is left to a unit of the role's own stands there."""
    how = row.get("services", "run")
    return {**row, "enabled": how == "run", "active": how == "run"}, {} if how == "left" else services


def _table(heads: Cells, rows: Iterable[Cells]) -> list[str]:
    """Without the columns that nothing stands in."""
    body = list(rows)
    kept = [column for column in range(len(heads)) if any(row[column] for row in body)]
    lines = [[f" {cell} " for cell in line] for line in (heads, *body)]
    lines.insert(1, ["---"] * len(heads))
    return [f"|{'|'.join(line[column] for column in kept)}|" for line in lines] if body else []


def _when(facts: Mapping[str, Collection[Any]]) -> str:
    return ", ".join(f"`{fact}: {' or '.join(map(str, values))}`" for fact, values in facts.items())


def _places(names: Cells) -> str:
    """`debian 12, 13; rocky 9`: families with their releases."""
    if len(names) == len(distributions()):
        return "all"
    families: dict[str, list[str]] = {}
    for name in names:
        family, _, release = name.rpartition("-")
        families.setdefault(family, []).append(release)
    return "; ".join(
        f"{family} {', '.join(sorted(releases, key=float))}" for family, releases in families.items()
    )


def _owner(row: Row) -> str:
    return f"{row.get('owner', 'root')}:{row.get('group', 'root')}"


def _code(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def _link(role: str) -> str:
    return f"[{role}](../{role}/README.md)"


def _yes(on: object) -> str:
    return "yes" if on else "no"

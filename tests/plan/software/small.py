"""A catalog of a few made-up rows, for what the real one has no case of."""

from __future__ import annotations

from pathlib import Path

from clusterwright.catalog.software import SoftwareCatalog

COLUMNS = {
    "components": "component,title,vendor,scope,modules",
    "releases": "component,version,channel,flavours,built_for,distributions,architectures,released,"
    "end_of_support,sha256",
    "rules": "component,versions,kind,needs,accepts,why",
    "hardware_rules": "trait,component,kind,accepts,flavour,why",
    "packages": "component,versions,distributions,flavours,package,package_version,services,repository,hold",
    "repositories": "repository,distributions,architectures,url,suite,components,key_url,fingerprint",
    "defaults": "component,trait,prefer",
}


def small(folder: Path, **tables: str) -> SoftwareCatalog:
    """Rows as lines with `|` between cells; `source` and `date` are added, missing last cells are empty."""
    for table, columns in COLUMNS.items():
        width = columns.count(",") + 1
        lines = [f"{columns},source,date"]
        for row in tables.get(table, "").strip().splitlines():
            cells = [cell.strip() for cell in row.split("|")]
            cells += [""] * (width - len(cells))
            lines.append(",".join([*(f'"{cell}"' for cell in cells), "made up", "2026-11"]))
        (folder / f"{table}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return SoftwareCatalog(folder)

"""A role's README says what a node gets from it: names are read here by other code than the page's."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.bundle.role_packages import of_component
from clusterwright.bundle.role_page import pages

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "src/clusterwright/catalog/data"
ROLES = sorted(folder.name for folder in (REPOSITORY / "roles").iterdir() if folder.is_dir())


def rows(file: str) -> list[dict[str, str]]:
    with (DATA / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def brought(components: set[str], parts: set[str]) -> Iterator[str]:
    """Packages that these bring anywhere."""
    for row in rows("software/packages.csv"):
        if row["component"] in components:
            yield row["package"]
    for row in rows("packages.csv"):
        if row["part"] in parts:
            yield from row["packages"].split()


@pytest.mark.parametrize("role", ROLES)
def test_a_readme_names_all_that_the_role_brings(role: str) -> None:
    folder = REPOSITORY / "roles" / role
    body: dict[str, Any] = yaml.safe_load((folder / "node.yml").read_text())

    def named(kind: str, key: str = "name") -> set[str]:
        return {row if isinstance(row, str) else row[key] for row in body.get(kind, [])}

    packages = set(brought(named("components"), named("parts")))
    names = packages | named("files", "path") | named("directories", "path") | named("units")
    text = (folder / "README.md").read_text()
    assert sorted(name for name in names if f"`{name}`" not in text) == []


def said(component: str, place: str) -> set[tuple[str, str, str, bool]]:
    return {
        (" ".join(row.packages), ", ".join(row.releases), row.origin, row.held)
        for row in of_component(component)
        if place in row.distributions
    }


def test_names_that_changed_stand_with_their_releases() -> None:
    assert said("imex", "ubuntu-24.04") == {
        ("nvidia-imex-{branch}", "`<580`", "`nvidia-cuda`", True),
        ("nvidia-imex", "`>=580,<580.127` or `>=580.159,<615`", "`nvidia-cuda`", True),
    }
    both = "cuda-drivers-{branch} nvidia-driver-{branch}-open"
    assert (both, "`<560`, `open`", "`nvidia-cuda`", True) in said("driver", "ubuntu-24.04")
    assert said("nccl", "debian-13") == {("libnccl-dev libnccl2", "", "`nvidia-cuda`", True)}


def test_where_packages_come_from() -> None:
    assert {origin for _, _, origin, _ in said("gdrcopy", "ubuntu-24.04")} == {"no repository: a mirror"}
    assert said("enroot", "debian-12") == {
        ("enroot enroot+caps", "", "`enroot-{version}`, no signed repository: a mirror", True)
    }
    assert {row[2:] for row in said("efa", "debian-13")} == {
        ("`efa-installer-{version}`, files that are verified", True)
    }
    assert said("apptainer", "debian-12") == {
        (
            "apptainer",
            "`==1.4.1` or `==1.4.3`",
            "`apptainer-{version}`, no signed repository: a mirror",
            True,
        ),
        ("apptainer", "`==1.4.5`", "`apptainer-{version}`, files that are verified", True),
    }
    assert said("opencl", "debian-13") == {("ocl-icd-libopencl1", "", "the distribution", False)}


def test_what_is_written_by_hand_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ROLES:
        folder = tmp_path / "roles" / role
        folder.mkdir(parents=True)
        (folder / "README.md").write_text(f"# {role}\n")
    monkeypatch.chdir(tmp_path)
    first = dict(pages())
    for file, text in first.items():
        file.write_text(text + "\nA last word.\n")
    again = dict(pages())
    assert all(text.startswith("# ") and "## What a node gets" in text for text in again.values())
    assert [file for file in again if again[file] != first[file] + "A last word.\n"] == []

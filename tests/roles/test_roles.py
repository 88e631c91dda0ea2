"""Every role keeps the shape that users, Ansible and the bundle count on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.bundle.role import ORDER
from clusterwright.catalog.distributions import distributions

REPOSITORY = Path(__file__).parents[2]
ROLES = sorted(folder.name for folder in (REPOSITORY / "roles").iterdir() if folder.is_dir())
ROW_KEYS = {
    "parts": {"name", "services", "when"},
    "components": {"name", "services", "when"},
    "directories": {"path", "mode", "owner", "group", "when"},
    "files": {"path", "source", "key", "mode", "owner", "group", "affects", "early", "when"},
    "units": {"name", "enabled", "active", "before_mounts", "when"},
}
KINDS = {"mounts", "clients"}
"""Lists of kinds of share."""


def read(role: str, file: str) -> Any:
    return yaml.safe_load((REPOSITORY / "roles" / role / file).read_text())


def test_every_role_has_its_turn() -> None:
    assert sorted(ORDER) == ROLES


@pytest.mark.parametrize("role", ROLES)
def test_arguments_and_defaults_agree(role: str) -> None:
    options = read(role, "meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    assert {name: option["default"] for name, option in options.items()} == read(role, "defaults/main.yml")
    assert all(option["description"] for option in options.values())
    assert all(name.startswith(f"{role}_") for name in options)


@pytest.mark.parametrize("role", ROLES)
def test_the_readme_names_every_variable(role: str) -> None:
    text = (REPOSITORY / "roles" / role / "README.md").read_text()
    assert not [name for name in read(role, "defaults/main.yml") if f"`{name}`" not in text]


@pytest.mark.parametrize("role", ROLES)
def test_every_task_has_a_tag_of_its_role(role: str) -> None:
    for file in (REPOSITORY / "roles" / role / "tasks").glob("*.yml"):
        for task in yaml.safe_load(file.read_text()):
            if "ansible.builtin.import_tasks" in task:
                continue
            tags = task["tags"]
            assert [tag for tag in tags if re.fullmatch(rf"{role}_(install|configure|start)", tag)] == tags


@pytest.mark.parametrize("role", ROLES)
def test_rows_name_what_exists(role: str) -> None:
    body = read(role, "node.yml")
    folder = REPOSITORY / "roles" / role
    assert set(body) <= {"applies", *KINDS, *ROW_KEYS}
    for kind, keys in ROW_KEYS.items():
        for row in body.get(kind, []):
            assert isinstance(row, str) or set(row) <= keys, (kind, row)
    for row in body.get("files", []):
        place = "templates" if row.get("source", "").endswith(".j2") else "files"
        assert row.get("key") or (folder / place / row["source"]).is_file(), row


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("distribution", sorted(distributions()))
def test_every_distribution_says_whether_it_has_the_packages(role: str, distribution: str) -> None:
    for row in read(role, "node.yml").get("parts", []):
        name = row if isinstance(row, str) else row["name"]
        assert name in distributions()[distribution].parts


def test_no_role_asks_where_it_runs() -> None:
    asked = re.compile(r"\b(lab|nspawn|simulated?|rehears\w+)\b", re.IGNORECASE)
    places = [*(REPOSITORY / "roles").rglob("*"), *(REPOSITORY / "plugins").rglob("*.py")]
    texts = [file for file in places if file.is_file() and file.suffix not in (".md", ".pyc")]
    guilty = [str(file) for file in texts if file.name != "gate" and asked.search(_code(file))]
    assert not guilty


def _code(file: Path) -> str:
    """Without documentation, where a cluster may be called `lab`."""
    return re.sub(r'(DOCUMENTATION|EXAMPLES|RETURN) = r""".*?"""', "", file.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("playbook", ["install", "configure", "site", "hook", "bootstrap", "survey"])
def test_playbooks_pass_ansibles_own_check(playbook: str, collections: Path) -> None:
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(collections)}
    command = [Path(sys.executable).parent / "ansible-playbook", "--syntax-check", "-i", "localhost,"]
    done = subprocess.run(
        [*command, f"clusterwright.cluster.{playbook}"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

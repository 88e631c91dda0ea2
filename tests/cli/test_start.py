"""A command starts with what it needs: each that is typed pays for what is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

SSH = ("cli.parser", "cli.verb.ssh", "operate.session", "operate.stack.known", "operate.lab")
HEAVY = {
    "ansible_runner",
    "jinja2",
    "pulumi",
    "rich",
    "yaml",
    "clusterwright.checks",
    "clusterwright.plan.build",
    "clusterwright.render.slurm",
    "clusterwright.spec.cluster",
}


@pytest.mark.parametrize("modules", [("cli.parser",), SSH], ids=["any verb", "ssh"])
def test_neither_a_verb_nor_a_command_on_a_node_loads_what_plans_and_renders(
    modules: tuple[str, ...],
) -> None:
    imports = ", ".join(f"clusterwright.{module}" for module in modules)
    program = f"import sys, {imports}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(loaded.stdout.split()) == set()

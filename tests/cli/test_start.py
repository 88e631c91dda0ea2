"""A command starts with what it needs: each that is typed pays for what is loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

ON_A_NODE = ("cli.parser", "cli.verb.ssh", "operate.session", "operate.stack.known", "operate.lab.machines")
STATUS = ("cli.parser", "cli.verb.status", "operate.status", "operate.stack.known", "operate.lab.machines")
HEAVY = {
    "ansible_runner",
    "jinja2",
    "pulumi",
    "rich",
    "yaml",
    "clusterwright.accept.cluster",
    "clusterwright.bundle.generated",
    "clusterwright.checks",
    "clusterwright.plan.build",
    "clusterwright.plan.model",
    "clusterwright.render.slurm",
    "clusterwright.spec.cluster",
}


@pytest.mark.parametrize("modules", [("cli.parser",), ON_A_NODE, STATUS], ids=["any verb", "ssh", "status"])
def test_neither_a_verb_nor_a_look_at_a_cluster_loads_what_plans_and_renders(
    modules: tuple[str, ...],
) -> None:
    imports = ", ".join(f"clusterwright.{module}" for module in modules)
    program = f"import sys, {imports}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert HEAVY & set(loaded.stdout.split()) == set()

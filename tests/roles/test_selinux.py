"""`tell-selinux` with programs that stand in for SELinux's own, and the data that it is given."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from clusterwright.catalog.selinux import rules_for, selinux_rules

from . import solved

PROGRAM = Path(__file__).parents[2] / "roles/base/files/tell-selinux"
PROGRAMS = {
    "selinuxenabled": "exit $(cat {0}/off 2>/dev/null || echo 0)",
    "getsebool": 'grep "^$1 " {0}/booleans',
    "setsebool": "echo $2 --\\> $3 > {0}/booleans; echo setsebool >> {0}/said",
    "semanage": '[ "$2" = --list ] && exec cat {0}/contexts\necho "$5 " >> {0}/contexts; echo + >> {0}/said',
    "restorecon": 'echo "restorecon $2" >> {0}/said',
}
RULES = """# why
boolean use_nfs_home_dirs on
boolean of_another_package on
context /usr/lib/clusterwright(/.*)? bin_t
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text.format(tmp_path)}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "booleans").write_text("use_nfs_home_dirs --> off\n")
    (tmp_path / "contexts").write_text("")
    (tmp_path / "rules").write_text(RULES)
    return tmp_path


def told(machine: Path) -> list[str]:
    (machine / "said").write_text("")
    environ = {**os.environ, "PATH": f"{machine}:{os.environ['PATH']}"}
    subprocess.run(["/bin/sh", PROGRAM, machine / "rules"], env=environ, check=True)
    return (machine / "said").read_text().splitlines()


def test_it_changes_what_differs_and_nothing_on_the_second_run(machine: Path) -> None:
    assert told(machine) == ["setsebool", "+", "restorecon /usr/lib/clusterwright"]
    assert told(machine) == ["restorecon /usr/lib/clusterwright"]


def test_it_leaves_a_machine_without_selinux_alone(machine: Path) -> None:
    (machine / "off").write_text("1")
    assert told(machine) == []


def test_every_rule_says_why_and_where_it_is_known_from() -> None:
    for rule in selinux_rules():
        assert rule.kind in ("boolean", "context") and rule.when in ("", "containers", "shares")
        assert rule.why and rule.source and re.fullmatch(r"\d{4}-\d{2}", rule.date)
    assert not [rule for rule in rules_for({"containers": False, "shares": {}}) if rule.kind == "boolean"]


def test_only_machines_of_dnf_have_the_rules() -> None:
    assert "/etc/clusterwright/selinux" not in solved.files(solved.handoff("hgx-h100-8gpu"))

"""What the modules decide to do, from what they find."""

from __future__ import annotations

import grp
import pwd
from collections.abc import Callable
from typing import Any

import pytest

Plugin = Callable[[str], Any]


@pytest.fixture
def units(plugin: Plugin) -> Any:
    return plugin("module_utils.units")


@pytest.fixture
def people(plugin: Plugin) -> Any:
    return plugin("module_utils.people")


@pytest.fixture
def accounting(plugin: Plugin) -> Any:
    return plugin("modules.accounting")


RUNNING = {
    "LoadState": "loaded",
    "ActiveState": "active",
    "UnitFileState": "enabled",
    "NeedDaemonReload": "no",
}
OFF = {**RUNNING, "ActiveState": "inactive", "UnitFileState": "disabled"}
WANTED = {"name": "slurmd", "enabled": True, "active": True}
UNWANTED = {"name": "slurmd", "enabled": False, "active": False}

NOTHING_TO_DO = {
    **RUNNING,
    "ActiveState": "inactive",
    "ConditionResult": "no",
    "ConditionTimestampMonotonic": "7",
}
RETRIED = {"ActiveState": "activating", "SubState": "auto-restart"}


@pytest.mark.parametrize(
    ("wanted", "seen", "owed", "calls"),
    [
        (WANTED, RUNNING, {}, []),
        (WANTED, OFF, {}, [["enable", "slurmd"], ["start", "slurmd"]]),
        (WANTED, {**RUNNING, "ActiveState": "failed"}, {"slurmd": "reload"}, [["start", "slurmd"]]),
        (WANTED, RUNNING, {"slurmd": "reload"}, [["reload", "slurmd"]]),
        (WANTED, RUNNING, {"slurmd": "restart"}, [["restart", "slurmd"]]),
        (WANTED, {**RUNNING, "ActiveState": "activating"}, {"slurmd": "restart"}, [["restart", "slurmd"]]),
        (WANTED, {**RUNNING, **RETRIED}, {}, [["restart", "slurmd"]]),
        (WANTED, NOTHING_TO_DO, {}, []),
        (WANTED, NOTHING_TO_DO, {"slurmd": "restart"}, [["start", "slurmd"]]),
        (WANTED, {**RUNNING, "UnitFileState": "static"}, {}, []),
        (WANTED, {**RUNNING, "UnitFileState": "masked"}, {}, [["enable", "slurmd"]]),
        (WANTED, {**RUNNING, "NeedDaemonReload": "yes"}, {}, [["daemon-reload"]]),
        (WANTED, {**OFF, "LoadState": "not-found"}, {}, [["enable", "slurmd"], ["start", "slurmd"]]),
        (UNWANTED, RUNNING, {}, [["disable", "slurmd"], ["stop", "slurmd"]]),
        (UNWANTED, OFF, {"slurmd": "restart"}, []),
        (UNWANTED, {**OFF, "LoadState": "not-found", "UnitFileState": ""}, {}, []),
    ],
)
def test_units(units: Any, wanted: dict[str, Any], seen: Any, owed: Any, calls: list[list[str]]) -> None:
    assert units.plan([wanted], {"slurmd": seen}, owed) == calls


def test_units_start_in_the_order_given(units: Any) -> None:
    names = ["mariadb", "slurmdbd", "slurmctld"]
    wanted = [{"name": name, "enabled": True, "active": True} for name in names]
    calls = units.plan(wanted, dict.fromkeys(names, OFF), {})
    assert calls == [["enable", *names], *[["start", name] for name in names]]


def test_facts_are_read_from_systemctl_show(units: Any) -> None:
    text = "Names=mariadb.service mysql.service\nActiveState=active\n\nNames=x\nActiveState=inactive\n"
    facts = units.facts_of(text, ["mariadb", "nothing"])
    assert [facts[name]["ActiveState"] for name in ("mariadb", "nothing")] == ["active", "inactive"]


ADA = {"name": "ada", "uid": 2001, "home": "/home/ada", "shell": "/bin/bash", "groups": []}
LOCK = "usermod --lock --expiredate 1970-01-02 ada"
PRESENT = pwd.struct_passwd(("ada", "x", 2001, 2001, "", "/home/ada", "/bin/bash"))
GROUP = grp.struct_group(("ada", "x", 2001, []))
ADMINS = grp.struct_group(("clusterwright-admin", "x", 990, []))


@pytest.mark.parametrize(
    ("users", "passwd", "groups", "made", "commands"),
    [
        (
            [ADA],
            {},
            {},
            {},
            [
                "groupadd --gid 2001 ada",
                "useradd --no-create-home --uid 2001 --gid 2001 --home-dir /home/ada --shell /bin/bash ada",
            ],
        ),
        ([ADA], {"ada": PRESENT}, {"ada": GROUP}, {"ada": "active"}, []),
        (
            [{**ADA, "uid": 2002}],
            {"ada": PRESENT},
            {"ada": GROUP},
            {},
            [
                "groupmod --gid 2002 ada",
                "usermod --uid 2002 --gid 2002 --home /home/ada --shell /bin/bash ada",
            ],
        ),
        (
            [{**ADA, "groups": ["clusterwright-admin"]}],
            {"ada": PRESENT},
            {"ada": GROUP, "clusterwright-admin": ADMINS},
            {},
            ["usermod --append --groups clusterwright-admin ada"],
        ),
        (
            [ADA],
            {"ada": PRESENT},
            {
                "ada": GROUP,
                "clusterwright-admin": grp.struct_group(("clusterwright-admin", "x", 990, ["ada", "eve"])),
                "sudo": grp.struct_group(("sudo", "x", 27, ["ada"])),
            },
            {"ada": "active"},
            ["gpasswd --delete ada clusterwright-admin", "gpasswd --delete eve clusterwright-admin"],
        ),
        (
            [],
            {"ada": PRESENT},
            {"ada": GROUP},
            {"ada": "active"},
            ["usermod --lock --expiredate 1970-01-02 ada"],
        ),
        ([], {"ada": PRESENT}, {"ada": GROUP}, {"ada": "locked"}, []),
        ([], {"ada": PRESENT}, {"ada": GROUP}, {}, []),
        ([ADA], {"ada": PRESENT}, {"ada": GROUP}, {"ada": "locked"}, ["usermod --unlock --expiredate  ada"]),
    ],
    ids=[
        "new",
        "as wanted",
        "other number",
        "becomes admin",
        "admins leave",
        "leaves",
        "has left",
        "not ours",
        "comes back",
    ],
)
def test_people(people: Any, users: Any, passwd: Any, groups: Any, made: Any, commands: list[str]) -> None:
    assert [" ".join(command) for command in people.plan(users, passwd, groups, made)] == commands


def test_people_that_are_left_to_the_site_are_neither_locked_nor_taken_from_a_group(people: Any) -> None:
    admins = grp.struct_group(("clusterwright-admin", "x", 990, ["ada", "eve"]))
    groups = {"ada": GROUP, "clusterwright-admin": admins}
    commands = people.plan([], {"ada": PRESENT}, groups, {"ada": "active"}, frozenset({"ada"}))
    assert commands == [["gpasswd", "--delete", "eve", "clusterwright-admin"]]


TEAM = {"description": "Vision", "parent": "root", "shares": 2, "limits": {"gpus": 8, "wall_time": 90000}}
TEAM_ROW = ("vision", "", "root", "2", "gres/gpu=8", "", "1-01:00:00")
ROOT_ROWS = [("root", "", "", "1", "", "", ""), ("root", "root", "", "1", "", "", "")]
ADA_ROW = ("vision", "ada", "", "1", "", "", "")
MEMBER = {"ada": {"account": "vision", "admin": False}}
KNOWN = {"root": ("root", "Administrator"), "ada": ("vision", "None")}


def plan(
    accounting: Any, accounts: Any, users: Any, rows: Any, seen: Any, *, known: bool = True
) -> list[str]:
    database = accounting.Database(known, [accounting.Association(*row) for row in rows], seen)
    return [" ".join(call) for call in accounting.plan("lab", accounts, users, database)]


def test_accounts_as_wanted_are_left_alone(accounting: Any) -> None:
    assert plan(accounting, {"vision": TEAM}, MEMBER, [*ROOT_ROWS, TEAM_ROW, ADA_ROW], KNOWN) == []


def test_a_new_cluster_gets_its_teams_before_its_people(accounting: Any) -> None:
    child = {**TEAM, "parent": "vision", "limits": {}}
    calls = plan(accounting, {"a-child": child, "vision": TEAM}, MEMBER, [], {}, known=False)
    assert calls == [
        "add cluster lab",
        "add account vision cluster=lab description=Vision organization=lab parent=root fairshare=2"
        " maxwall=1-01:00:00 grptres=gres/gpu=8",
        "add account a-child cluster=lab description=Vision organization=lab parent=vision fairshare=2",
        "add user ada cluster=lab account=vision defaultaccount=vision adminlevel=None",
    ]


@pytest.mark.parametrize(
    ("change", "call"),
    [
        ({"shares": 5}, "set fairshare=5"),
        ({"limits": {"wall_time": 90000}}, "set grptres=gres/gpu=-1,node=-1"),
        ({"limits": {"gpus": 8}}, "set maxwall=-1"),
        ({"limits": {"gpus": 8, "wall_time": 90000, "jobs": 3}}, "set grpjobs=3"),
    ],
)
def test_only_what_differs_is_modified(accounting: Any, change: Any, call: str) -> None:
    calls = plan(accounting, {"vision": {**TEAM, **change}}, MEMBER, [*ROOT_ROWS, TEAM_ROW, ADA_ROW], KNOWN)
    assert calls == [f"modify account where name=vision cluster=lab {call}"]


def test_a_person_changes_team(accounting: Any) -> None:
    other_row = ("speech", "", "root", "1", "", "", "")
    accounts = {"vision": TEAM, "speech": {"description": "s", "parent": "root", "shares": 1, "limits": {}}}
    users = {"ada": {"account": "speech", "admin": True}}
    assert plan(accounting, accounts, users, [*ROOT_ROWS, TEAM_ROW, other_row, ADA_ROW], KNOWN) == [
        "add user ada cluster=lab account=speech",
        "modify user where name=ada cluster=lab set defaultaccount=speech",
        "modify user where name=ada set adminlevel=Administrator",
        "delete user name=ada account=vision cluster=lab",
    ]


def test_what_the_description_no_longer_has_goes(accounting: Any) -> None:
    assert plan(accounting, {}, {}, [*ROOT_ROWS, TEAM_ROW, ADA_ROW], KNOWN) == [
        "delete user name=ada account=vision cluster=lab",
        "delete account name=vision cluster=lab",
    ]


def test_a_circle_of_parents_is_refused(accounting: Any) -> None:
    circle = {"a": {**TEAM, "parent": "b"}, "b": {**TEAM, "parent": "a"}}
    with pytest.raises(ValueError, match=r"without a way to root: \['a', 'b'\]"):
        accounting.parents_first(circle)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-1"), (60, "00:01:00"), (61, "00:02:00"), (3600, "01:00:00"), (90000, "1-01:00:00")],
)
def test_wall_times_read_as_sacctmgr_prints_them(accounting: Any, seconds: Any, text: str) -> None:
    assert accounting.wall_time(seconds) == text

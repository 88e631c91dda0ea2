#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: accounting
short_description: Bring the teams, people and limits of Slurm's database to their wanted state
version_added: "0.1.0"
description:
  - Reads accounts, associations and users with C(sacctmgr) and changes only what differs.
  - The description is the whole truth for its cluster; only account and user V(root) are left alone.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells what would be changed.
  diff_mode:
    support: none
    description: The result lists the changes.
options:
  cluster:
    description: Slurm's ClusterName.
    type: str
    required: true
  accounts:
    description: >-
      Accounts by name, each with C(description), C(parent), C(shares) and C(limits)
      (C(gpus), C(nodes), C(jobs), and C(wall_time) in seconds).
    type: dict
    required: true
  users:
    description: Users by name, each with C(account) and C(admin).
    type: dict
    required: true
  wait_seconds:
    description: How long to wait for slurmdbd to answer.
    type: int
    default: 30
"""

EXAMPLES = r"""
- name: One team with one person
  clusterwright.cluster.accounting:
    cluster: lab
    accounts:
      vision: {description: Vision, parent: root, shares: 2, limits: {gpus: 8}}
    users:
      ada: {account: vision, admin: false}
"""

RETURN = r"""
actions:
  description: Arguments of sacctmgr that changed something, or would in check mode.
  type: list
  elements: str
  returned: always
  sample: ["add user ada cluster=lab account=vision defaultaccount=vision"]
"""

import os
import time
from typing import NamedTuple

from ansible.module_utils.basic import AnsibleModule

NO_LIMIT = "-1"
HOLD = "/var/lib/clusterwright/hold.json"
"""While it is there, slurmctld waits for a backup, which has the accounts as well."""
ASSOCIATION = "account,user,parentname,fairshare,grptres,grpjobs,maxwall"


class Association(NamedTuple):
    """One row of `sacctmgr show associations`."""

    account: str
    user: str
    parent: str
    shares: str
    tres: str
    jobs: str
    wall: str


class Database(NamedTuple):
    """What Slurm's database has of one cluster."""

    known: bool
    associations: list
    users: dict
    """Name -> (default account, administrator level)."""


def settings_of(account: dict) -> dict:
    """An account's settings in sacctmgr's words; a limit that is not wanted is taken away."""
    limits = account["limits"]
    return {
        "parent": account["parent"],
        "fairshare": str(account["shares"]),
        "grptres": f"gres/gpu={limits.get('gpus', NO_LIMIT)},node={limits.get('nodes', NO_LIMIT)}",
        "grpjobs": str(limits.get("jobs", NO_LIMIT)),
        "maxwall": wall_time(limits.get("wall_time")),
    }


def wall_time(seconds) -> str:
    """As sacctmgr prints it, in whole minutes."""
    if seconds is None:
        return NO_LIMIT
    minutes = -(-int(seconds) // 60)
    days, minutes = divmod(minutes, 24 * 60)
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}:00"
    return f"{days}-{clock}" if days else clock


def seen_in(row: Association) -> dict:
    """A row in the same words as `settings_of`."""
    tres = dict(part.split("=", 1) for part in row.tres.split(",") if "=" in part)
    return {
        "parent": row.parent,
        "fairshare": row.shares,
        "grptres": f"gres/gpu={tres.get('gres/gpu', NO_LIMIT)},node={tres.get('node', NO_LIMIT)}",
        "grpjobs": row.jobs or NO_LIMIT,
        "maxwall": row.wall or NO_LIMIT,
    }


def plan(cluster: str, accounts: dict, users: dict, database: Database) -> list:
    """Arguments of the sacctmgr calls, in order."""
    calls = [] if database.known else [["add", "cluster", cluster]]
    teams = {row.account: row for row in database.associations if not row.user}
    members = {(row.user, row.account) for row in database.associations if row.user}
    for name in parents_first(accounts):
        calls.extend(_account(cluster, name, accounts[name], teams.get(name)))
    for name in sorted(users):
        calls.extend(_user(cluster, name, users[name], members, database.users))
    calls.extend(_leftovers(cluster, accounts, users, teams, members))
    return calls


def parents_first(accounts: dict) -> list:
    ordered: list = []
    while len(ordered) < len(accounts):
        ready = [
            n for n in sorted(accounts) if n not in ordered and accounts[n]["parent"] in ("root", *ordered)
        ]
        if not ready:
            raise ValueError(f"accounts without a way to root: {sorted(set(accounts) - set(ordered))}")
        ordered.extend(ready)
    return ordered


def _account(cluster: str, name: str, account: dict, row):
    wanted = settings_of(account)
    if row is None:
        given = [f"{key}={value}" for key, value in wanted.items() if NO_LIMIT not in value]
        limits = [part for part in wanted["grptres"].split(",") if not part.endswith(f"={NO_LIMIT}")]
        if limits and NO_LIMIT in wanted["grptres"]:
            given.append(f"grptres={','.join(limits)}")
        described = [f"description={account['description']}", f"organization={cluster}"]
        yield ["add", "account", name, f"cluster={cluster}", *described, *given]
        return
    differs = {key: value for key, value in wanted.items() if seen_in(row)[key] != value}
    if differs:
        changes = [f"{key}={value}" for key, value in differs.items()]
        yield ["modify", "account", "where", f"name={name}", f"cluster={cluster}", "set", *changes]


def _user(cluster: str, name: str, user: dict, members: set, present: dict):
    account, level = user["account"], "Administrator" if user["admin"] else "None"
    default, seen_level = present.get(name, ("", ""))
    if (name, account) not in members:
        first = [f"defaultaccount={account}", f"adminlevel={level}"] if name not in present else []
        yield ["add", "user", name, f"cluster={cluster}", f"account={account}", *first]
        if name not in present:
            return
    if default != account:
        where = ["where", f"name={name}", f"cluster={cluster}"]
        yield ["modify", "user", *where, "set", f"defaultaccount={account}"]
    if seen_level != level:
        yield ["modify", "user", "where", f"name={name}", "set", f"adminlevel={level}"]


def _leftovers(cluster: str, accounts: dict, users: dict, teams: dict, members: set):
    for user, account in sorted(members):
        if user != "root" and users.get(user, {}).get("account") != account:
            yield ["delete", "user", f"name={user}", f"account={account}", f"cluster={cluster}"]
    for account in sorted(set(teams) - set(accounts) - {"root"}, reverse=True):
        yield ["delete", "account", f"name={account}", f"cluster={cluster}"]


class Accounting:
    """One run of the module."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.cluster = module.params["cluster"]

    def run(self) -> list:
        try:
            calls = plan(
                self.cluster, self.module.params["accounts"], self.module.params["users"], self.read()
            )
        except ValueError as error:
            self.module.fail_json(msg=str(error))
        if not self.module.check_mode:
            for call in calls:
                self.change(call)
        return [" ".join(call) for call in calls]

    def read(self) -> Database:
        clusters = self.first_answer()
        if clusters is None:
            return Database(False, [], {})
        if self.cluster not in clusters:
            return Database(False, [], self.users())
        rows = self.show("associations", f"cluster={self.cluster}", f"format={ASSOCIATION}")
        return Database(True, [Association(*row) for row in rows], self.users())

    def users(self) -> dict:
        return {
            row[0]: (row[1], row[2]) for row in self.show("user", "format=user,defaultaccount,adminlevel")
        }

    def first_answer(self) -> set | None:
        """The clusters that slurmdbd knows. None where it does not answer a check, which starts nothing."""
        deadline = time.monotonic() + self.module.params["wait_seconds"]
        while True:
            code, output, error = self.sacctmgr("show", "cluster", "format=cluster")
            if code == 0:
                return {line.split("|")[0] for line in output.splitlines()}
            if self.module.check_mode:
                return None
            if time.monotonic() > deadline:
                self.module.fail_json(msg=f"slurmdbd does not answer: {error.strip()}")
            time.sleep(0.2)

    def show(self, what: str, *arguments: str) -> list:
        code, output, error = self.sacctmgr("show", what, *arguments)
        if code:
            self.module.fail_json(msg=f"sacctmgr show {what}: {error.strip()}")
        return [line.split("|") for line in output.splitlines()]

    def change(self, call: list) -> None:
        code, output, error = self.module.run_command(["sacctmgr", "--immediate", *call])
        # A starting slurmctld registers its cluster by itself, and may be quicker.
        there = "Nothing new added" in output or "already exists" in output + error
        if code and not there:
            self.module.fail_json(msg=f"sacctmgr {' '.join(call)}: {(error or output).strip()}")

    def sacctmgr(self, *arguments: str):
        return self.module.run_command(["sacctmgr", "--noheader", "--parsable2", *arguments])


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "cluster": {"type": "str", "required": True},
            "accounts": {"type": "dict", "required": True},
            "users": {"type": "dict", "required": True},
            "wait_seconds": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    actions = [] if os.path.exists(HOLD) else Accounting(module).run()
    module.exit_json(changed=bool(actions), actions=actions)


if __name__ == "__main__":
    main()

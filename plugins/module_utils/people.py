# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""Logins with the same numbers on every node; one that is no longer wanted is locked, never removed."""

from __future__ import annotations

import grp
import os
import pwd

from ansible_collections.clusterwright.cluster.plugins.module_utils import state

ARGUMENTS = {
    "users": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "uid": {"type": "int", "required": True},
            "home": {"type": "path", "required": True},
            "shell": {"type": "path", "default": "/bin/bash"},
            "groups": {"type": "list", "elements": "str", "default": []},
        },
    },
    "left_users": {"type": "list", "elements": "str", "default": []},
}
EXPIRED = "1970-01-02"
OURS = "clusterwright-"
"""How the groups begin that have the wanted members and no other."""


def plan(users: list, passwd: dict, groups: dict, made: dict, left: frozenset = frozenset()) -> list:
    """Commands that bring the logins to what they should be, but for those that are left."""
    commands = []
    for name in sorted({group for user in users for group in user["groups"]} - set(groups)):
        commands.append(["groupadd", "--system", name])
    for user in users:
        commands.extend(_group(user, groups))
        commands.extend(_login(user, passwd.get(user["name"]), groups, made))
    commands.extend(_leaving(users, groups, left))
    wanted = {user["name"] for user in users} | left
    for name in sorted(made):
        if name not in wanted and name in passwd and made[name] != "locked":
            commands.append(["usermod", "--lock", "--expiredate", EXPIRED, name])
    return commands


def _group(user: dict, groups: dict):
    present = groups.get(user["name"])
    if present is None:
        yield ["groupadd", "--gid", str(user["uid"]), user["name"]]
    elif present.gr_gid != user["uid"]:
        yield ["groupmod", "--gid", str(user["uid"]), user["name"]]


def _login(user: dict, present, groups: dict, made: dict):
    name, number = user["name"], str(user["uid"])
    member = sorted(group for group, row in groups.items() if name in row.gr_mem)
    settings = ["--uid", number, "--gid", number, "--home-dir", user["home"], "--shell", user["shell"]]
    if present is None:
        further = ["--groups", ",".join(user["groups"])] if user["groups"] else []
        yield ["useradd", "--no-create-home", *settings, *further, name]
        return
    if (present.pw_uid, present.pw_gid, present.pw_dir, present.pw_shell) != (
        user["uid"],
        user["uid"],
        user["home"],
        user["shell"],
    ):
        yield ["usermod", *[word.replace("--home-dir", "--home") for word in settings], name]
    if made.get(name) == "locked":
        yield ["usermod", "--unlock", "--expiredate", "", name]
    missing = sorted(set(user["groups"]) - set(member))
    if missing:
        yield ["usermod", "--append", "--groups", ",".join(missing), name]


def _leaving(users: list, groups: dict, left: frozenset):
    wanted = {(group, user["name"]) for user in users for group in user["groups"]}
    for group in sorted(name for name in groups if name.startswith(OURS)):
        for member in groups[group].gr_mem:
            if (group, member) not in wanted and member not in left:
                yield ["gpasswd", "--delete", member, group]


class People:
    """The logins of one run."""

    def __init__(self, module) -> None:
        self.module = module
        self.users = module.params["users"]
        self.left = frozenset(module.params["left_users"])
        self.folder = module.params["state_folder"]

    def run(self) -> list:
        passwd = {row.pw_name: row for row in pwd.getpwall()}
        groups = {row.gr_name: row for row in grp.getgrall()}
        made = state.recall(self.folder, state.PEOPLE)
        commands = plan(self.users, passwd, groups, made, self.left)
        if not self.module.check_mode:
            self.remember(made)
            for command in commands:
                self.module.run_command(command, check_rc=True)
            self.remember_locked()
        return [" ".join(command) for command in commands] + self.make_homes()

    def remember(self, made: dict) -> None:
        wanted = {**made, **{user["name"]: made.get(user["name"], "active") for user in self.users}}
        if wanted != made:
            state.note(self.folder, state.PEOPLE, wanted)

    def remember_locked(self) -> None:
        names = {user["name"] for user in self.users}
        made = state.recall(self.folder, state.PEOPLE)
        now = {name: "active" if name in names else "locked" for name in made if name not in self.left}
        if now != made:
            state.note(self.folder, state.PEOPLE, now)

    def make_homes(self) -> list:
        """Homes are often shared: the first node that comes makes one, the others find it."""
        actions = []
        for user in self.users:
            if os.path.isdir(user["home"]):
                continue
            actions.append(f"mkdir {user['home']}")
            if not self.module.check_mode:
                os.makedirs(user["home"], mode=0o700, exist_ok=True)
                os.chown(user["home"], user["uid"], user["uid"])
        return actions

# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""Files and directories: content, mode and owner, each file atomically, stale ones removed."""

from __future__ import annotations

import base64
import grp
import os
import pwd
import stat

from ansible_collections.clusterwright.cluster.plugins.module_utils import state

OWNERSHIP = {
    "path": {"type": "path", "required": True},
    "owner": {"type": "str", "default": "root"},
    "group": {"type": "str", "default": "root"},
}
ARGUMENTS = {
    "files": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            **OWNERSHIP,
            "mode": {"type": "str", "default": "0644"},
            "content": {"type": "str"},
            "affects": {"type": "list", "elements": "str", "default": []},
        },
    },
    "keys": {"type": "dict", "default": {}, "no_log": True},
    "directories": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {**OWNERSHIP, "mode": {"type": "str", "default": "0755"}},
    },
    "remove_stale": {"type": "bool", "default": False},
    "left_files": {"type": "list", "elements": "path", "default": []},
}


def seen(path: str) -> tuple | None:
    """Content, mode, uid and gid of a regular file; None when there is none."""
    try:
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            return stream.read(), stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
    except (FileNotFoundError, IsADirectoryError):
        return None


class Placing:
    """The files of one run."""

    def __init__(self, module) -> None:
        self.module = module
        self.parameters = module.params
        self.folder = self.parameters["state_folder"]
        self.paths: list = []
        self.diff: list = []

    def run(self) -> None:
        for directory in self.parameters["directories"]:
            self.make_directory(directory)
        changes = [change for change in map(self.change_of, self.parameters["files"]) if change]
        self.remember(changes)
        for row, content, ids in changes:
            self.place(row, content, ids)
        if self.parameters["remove_stale"]:
            self.remove_stale()

    def ids(self, row: dict) -> tuple:
        try:
            return pwd.getpwnam(row["owner"]).pw_uid, grp.getgrnam(row["group"]).gr_gid
        except KeyError as error:
            if self.module.check_mode:
                return -1, -1
            self.module.fail_json(msg=f"{row['path']}: {error.args[0]} (is its package installed?)")

    def change_of(self, row: dict):
        """What to write, or None when the file is as wanted."""
        path, secret = row["path"], row["content"] is None
        if secret and path not in self.parameters["keys"]:
            self.module.fail_json(msg=f"{path}: its content was not given")
        content = base64.b64decode(self.parameters["keys"][path]) if secret else row["content"].encode()
        ids = self.ids(row)
        before = seen(path)
        if before == (content, int(row["mode"], 8), *ids):
            return None
        self.paths.append(path)
        old = before[0] if before else b""
        if secret:
            self.diff.append({"before_header": path, "after_header": path, "prepared": "a key differs\n"})
        else:
            text = {"before": old.decode("utf-8", "replace"), "after": row["content"]}
            self.diff.append({"before_header": path, "after_header": path, **text})
            self.diff.extend(self.diff_of_mode(path, before, (int(row["mode"], 8), *ids)))
        return row, content, ids

    @staticmethod
    def diff_of_mode(path: str, before, wanted: tuple):
        if before and before[1:] != wanted:
            was = f"mode {before[1]:04o} uid {before[2]} gid {before[3]}\n"
            yield {
                "before_header": path,
                "after_header": path,
                "before": was,
                "after": f"mode {wanted[0]:04o} uid {wanted[1]} gid {wanted[2]}\n",
            }

    def remember(self, changes: list) -> None:
        """Before anything is touched: what is about to be placed, and what that affects."""
        if self.module.check_mode:
            return
        placed = state.recall(self.folder, state.PLACED)
        wanted = {row["path"]: sorted(row["affects"]) for row in self.parameters["files"]}
        if any(placed.get(path) != affects for path, affects in wanted.items()):
            state.note(self.folder, state.PLACED, {**placed, **wanted})
        state.owe(self.folder, [affected for row, _content, _ids in changes for affected in row["affects"]])

    def place(self, row: dict, content: bytes, ids: tuple) -> None:
        if self.module.check_mode:
            return
        os.makedirs(os.path.dirname(row["path"]), mode=0o755, exist_ok=True)
        state.replace(row["path"], content, int(row["mode"], 8), *ids)
        if self.module.selinux_enabled():
            self.module.set_default_selinux_context(row["path"], False)

    def make_directory(self, row: dict) -> None:
        mode, ids = int(row["mode"], 8), self.ids(row)
        try:
            status = os.stat(row["path"])
            same = (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (mode, *ids)
        except FileNotFoundError:
            same = False
        if same:
            return
        self.paths.append(row["path"])
        if not self.module.check_mode:
            os.makedirs(row["path"], mode=0o755, exist_ok=True)
            os.chown(row["path"], *ids)
            os.chmod(row["path"], mode)

    def remove_stale(self) -> None:
        placed = state.recall(self.folder, state.PLACED)
        wanted = {row["path"] for row in self.parameters["files"]}
        left = set(self.parameters["left_files"])
        stale = sorted(path for path in placed if path not in wanted and path not in left)
        present = [path for path in stale if os.path.lexists(path)]
        self.paths.extend(present)
        self.diff.extend({"before_header": path, "after_header": "/dev/null"} for path in present)
        if self.module.check_mode or not set(placed) - wanted:
            return
        affected = [affected for path in present for affected in placed[path]]
        state.owe(self.folder, affected)
        self.stop(
            [unit for unit, _, action in (row.rpartition(":") for row in affected) if action == state.STOP]
        )
        for path in present:
            os.unlink(path)
        state.note(self.folder, state.PLACED, {path: placed[path] for path in placed if path in wanted})

    def stop(self, units: list) -> None:
        """While everything that they need to stop is still there."""
        for unit in units:
            self.module.run_command(["systemctl", "disable", "--now", unit], check_rc=True)
            # What it keeps would be old when it comes again; where it keeps nothing, this fails.
            self.module.run_command(["systemctl", "clean", "--what=state", unit])

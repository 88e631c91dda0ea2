# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""The operator's side of `node`: reads what to place from files, and keeps it out of the run's record."""

from __future__ import annotations

import json

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Turns `sources` and `keys_file` into `files`, `directories` and `keys`."""

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        blocked_by = arguments.pop("blocked_by", None) or []
        if blocked_by:
            return {
                "failed": True,
                "msg": f"not started, because {', '.join(sorted(blocked_by))} did not come up",
            }
        early = arguments.pop("early", False)
        wanted = [_read(source) for source in arguments.pop("sources", None) or []]
        keys_file = arguments.pop("keys_file", None)
        files = [row for part in wanted for row in part["files"] if row.pop("early", False) or not early]
        arguments["files"] = [*arguments.get("files", []), *files]
        if not early:
            directories = [row for part in wanted for row in part["directories"]]
            arguments["directories"] = [*arguments.get("directories", []), *directories]
            if keys_file:
                secret = {row["path"] for row in files if row.get("content") is None}
                arguments["keys"] = {path: key for path, key in _read(keys_file).items() if path in secret}
        result = self._execute_module(module_args=arguments, task_vars=task_vars)
        result.pop("invocation", None)
        return result


def _read(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)

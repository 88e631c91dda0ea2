# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
name: tell
type: stdout
short_description: Write what a run came to into a file
version_added: "0.1.0"
description:
  - For a node that runs the roles on itself and has nobody who reads along.
  - Writes C(changed), C(failed), and the C(task) and C(message) of the first failure, as JSON.
author: The clusterwright authors
options:
  told:
    description: The file.
    type: path
    required: true
    env:
      - name: CLUSTERWRIGHT_TOLD
"""

import json

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """One node, one result."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "clusterwright.cluster.tell"

    def __init__(self) -> None:
        super().__init__()
        self.result = {"changed": 0, "failed": False, "task": "", "message": ""}

    def v2_runner_on_ok(self, result) -> None:
        self.result["changed"] += bool(result._result.get("changed"))

    def v2_runner_on_failed(self, result, ignore_errors=False) -> None:
        if not ignore_errors and not self.result["failed"]:
            row = result._result
            message = row.get("msg") or row.get("stderr") or row.get("stdout") or ""
            self.result.update(failed=True, task=result._task.get_name(), message=str(message).strip())

    def v2_runner_on_unreachable(self, result) -> None:
        self.v2_runner_on_failed(result)

    def v2_playbook_on_stats(self, _stats) -> None:
        with open(self.get_option("told"), "w", encoding="utf-8") as stream:
            json.dump(self.result, stream)

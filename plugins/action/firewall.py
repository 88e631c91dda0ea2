# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""The operator's side of `firewall`: only a connection that was made behind the new rules may keep them."""

from __future__ import annotations

import time

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

PATIENCE = 100.0
"""Longer than the node's timer."""
PAUSE = 1.0
BACK = (
    "the new firewall let no new connection in while on trial, so the node put back the rules before it"
    ". Name the network of this machine in the site's `firewall.operators_from`"
)
GONE = f"the new firewall let no new connection in, and the node did not answer again in {PATIENCE:.0f} s"


class ActionModule(ActionBase):
    """Loads, connects anew, confirms."""

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        result = self.step(task_vars)
        if result.get("failed") or not result.get("trial"):
            return result
        self._connection.reset()
        try:
            result = self.step(task_vars, confirm=True)
        except AnsibleConnectionFailure:
            return {"failed": True, "msg": BACK if self.answers() else GONE}
        return {**result, "msg": BACK} if result.pop("too_late", False) else result

    def step(self, task_vars, confirm=False):
        arguments = {**self._task.args, "confirm": confirm}
        result = self._execute_module(module_args=arguments, task_vars=task_vars)
        result.pop("invocation", None)
        return result

    def answers(self):
        """Whether the node does, once its timer has put back what was there."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                self._low_level_execute_command("true")
            except AnsibleConnectionFailure:
                time.sleep(PAUSE)
            else:
                return True
        return False

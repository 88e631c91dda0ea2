# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)
"""The operator's side of `package_files`: sends what a node lacks, and all of it at once."""

from __future__ import annotations

import os
import tarfile
import tempfile

from ansible import constants
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Turns `store` into `archive`."""

    TRANSFERS_FILES = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        store = arguments.pop("store", None) or ""
        result = self._execute_module(module_args=arguments, task_vars=task_vars)
        if result.get("failed") or not result.get("missing") or self._task.check_mode:
            return result
        lacking = [row for row in arguments["files"] if row["name"] in result["missing"]]
        shell = self._connection._shell
        with tempfile.NamedTemporaryFile(suffix=".tar", dir=constants.DEFAULT_LOCAL_TMP) as local:
            try:
                with tarfile.open(local.name, "w") as tar:
                    for row in lacking:
                        tar.add(os.path.join(store, row["sha256"]), row["name"])
            except OSError as error:
                return {"failed": True, "msg": f"a package that was verified is not here any more: {error}"}
            archive = self._transfer_file(local.name, shell.join_path(shell.tmpdir, "packages.tar"))
        self._fixup_perms2((shell.tmpdir, archive))
        return self._execute_module(module_args={**arguments, "archive": archive}, task_vars=task_vars)

#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: node
short_description: Bring files, logins and units of a node to their wanted state in one task
version_added: "0.1.0"
description:
  - Does the work of many tasks in one, because the time of a run is the number of its tasks.
  - Places directories and files, each file atomically, and remembers what it placed.
  - Makes logins with the same numbers on every node. A login that it made and that is no longer wanted is
    locked, never removed, as its files stay.
  - Enables, disables, starts and stops units in the order given, and reloads or restarts those that a changed
    file affects, also when the run that changed it was interrupted.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells what would change.
  diff_mode:
    support: full
    description: Shows text files; never the content of a key.
options:
  files:
    description: Files.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path.
        type: path
        required: true
      mode:
        description: Mode in octal digits.
        type: str
        default: "0644"
      owner:
        description: Name of the owner.
        type: str
        default: root
      group:
        description: Name of the group.
        type: str
        default: root
      content:
        description: Text of the file; without it, O(keys) has the content.
        type: str
      affects:
        description:
          - C(UNIT:reload) or C(UNIT:restart) for every unit that must learn of a change.
          - C(UNIT:stop) for one that is stopped, disabled and forgotten before this file is removed.
        type: list
        elements: str
        default: []
  keys:
    description: Content of secret files in base64, by path.
    type: dict
    default: {}
  directories:
    description: Directories that must exist.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path.
        type: path
        required: true
      mode:
        description: Mode in octal digits.
        type: str
        default: "0755"
      owner:
        description: Name of the owner.
        type: str
        default: root
      group:
        description: Name of the group.
        type: str
        default: root
  sources:
    description:
      - JSON files on the control node with C(files) and C(directories) in the form of these options.
      - Read on the control node and added to O(files) and O(directories).
    type: list
    elements: path
    default: []
  keys_file:
    description: JSON file on the control node with O(keys); read there.
    type: path
  early:
    description: Of O(sources), place only files that are marked C(early), and no directory.
    type: bool
    default: false
  remove_stale:
    description: Remove files that an earlier run placed and that O(files) no longer has.
    type: bool
    default: false
  left_files:
    description: Files that an earlier run placed and that are somebody else's now, neither kept nor removed.
    type: list
    elements: path
    default: []
  left_users:
    description: Logins that an earlier run made and that are somebody else's now, neither kept nor locked.
    type: list
    elements: str
    default: []
  users:
    description: Logins; when this is given, it is the whole list.
    type: list
    elements: dict
    suboptions:
      name:
        description: Login name, and name of the user's own group.
        type: str
        required: true
      uid:
        description: Number of the user and of the group.
        type: int
        required: true
      home:
        description: Home directory; made when absent.
        type: path
        required: true
      shell:
        description: Login shell.
        type: path
        default: /bin/bash
      groups:
        description:
          - Further groups; made when absent.
          - One whose name begins with C(clusterwright-) has no other members.
        type: list
        elements: str
        default: []
  units:
    description: Units, in the order in which they start.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name; C(.service) may be left out.
        type: str
        required: true
      enabled:
        description: Whether it starts at boot.
        type: bool
        default: true
      active:
        description: Whether it runs now.
        type: bool
        default: true
  blocked_by:
    description: Nodes without which these units cannot start; when there are any, the task fails.
    type: list
    elements: str
    default: []
  digest:
    description: What to record as applied, once everything else is done and no unit is owed anything.
    type: str
  state_folder:
    description: Where the node remembers what was done.
    type: path
    default: /var/lib/clusterwright
"""

EXAMPLES = r"""
- name: Place one file and have its daemon run with it
  clusterwright.cluster.node:
    files:
      - path: /etc/slurm/slurm.conf
        content: "{{ slurm_conf }}"
        owner: slurm
        affects: ["slurmctld:reload"]
    units:
      - name: slurmctld
"""

RETURN = r"""
paths:
  description: Paths that changed, were made or were removed.
  type: list
  elements: str
  returned: always
actions:
  description: What was done to logins and units, or would be done in check mode.
  type: list
  elements: str
  returned: always
  sample: ["enable slurmd", "start slurmd"]
"""

import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.clusterwright.cluster.plugins.module_utils import people, placing, state, units


def record(module: AnsibleModule) -> list:
    """The last step: only a run that got here may say what was applied."""
    folder, digest = module.params["state_folder"], module.params["digest"]
    if not digest or state.recall(folder, state.APPLIED).get("digest") == digest:
        return []
    if not module.check_mode:
        owed = state.recall(folder, state.PENDING)
        if owed:
            module.fail_json(msg=f"files changed for units that no role runs here: {owed}")
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        state.note(folder, state.APPLIED, {"digest": digest, "at": when})
    return ["record"]


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            **placing.ARGUMENTS,
            **people.ARGUMENTS,
            **units.ARGUMENTS,
            "sources": {"type": "list", "elements": "path", "default": []},
            "keys_file": {"type": "path", "no_log": False},
            "early": {"type": "bool", "default": False},
            "blocked_by": {"type": "list", "elements": "str", "default": []},
            "digest": {"type": "str"},
            "state_folder": {"type": "path", "default": state.FOLDER},
        },
        supports_check_mode=True,
    )
    # A key may belong to a login that is made here.
    actions = people.People(module).run() if module.params["users"] is not None else []
    files = placing.Placing(module)
    files.run()
    actions += units.Units(module).run() if module.params["units"] else []
    actions += record(module)
    shown = {"diff": files.diff} if module._diff else {}
    module.exit_json(changed=bool(files.paths or actions), paths=files.paths, actions=actions, **shown)


if __name__ == "__main__":
    main()

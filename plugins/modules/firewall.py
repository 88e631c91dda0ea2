#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: firewall
short_description: Load the rules that were placed, and keep them once a new connection came through
version_added: "0.1.0"
description:
  - Loads the rules for a trial, unless they are loaded and confirmed already. A timer on the node puts back
    the rules before them.
  - Its action plugin then makes a new connection and confirms them over it. Where none comes through, it
    waits until the node answers again, and fails.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells what differs.
  diff_mode:
    support: none
options:
  confirm:
    description: Keep the rules that are on trial. The action plugin asks for it.
    type: bool
    default: false
  way_on:
    description: Command that has to succeed on the node before the rules are kept.
    type: str
    default: "true"
"""

EXAMPLES = r"""
- name: Try the firewall
  clusterwright.cluster.firewall:
    way_on: curl --silent --fail --max-time 10 https://store.example/current.json
"""

RETURN = r"""
trial:
  description: Whether rules were loaded that have to be confirmed.
  type: bool
  returned: always
"""

import os

from ansible.module_utils.basic import AnsibleModule

PROGRAM = "/usr/lib/clusterwright/firewall"


def ask(module: AnsibleModule, verb: str, **more: object) -> str:
    code, output, error = module.run_command([PROGRAM, verb])
    if code:
        module.fail_json(msg=f"firewall: {' '.join((output + error).split())}", **more)
    return output.strip()


def confirm(module: AnsibleModule) -> None:
    code, output, error = module.run_command(["/bin/sh", "-c", module.params["way_on"]])
    if code:
        module.fail_json(msg=f"behind the new firewall: {' '.join((output + error).split())}")
    ask(module, "confirm", too_late=True)
    module.exit_json(changed=True, trial=False)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "confirm": {"type": "bool", "default": False},
            "way_on": {"type": "str", "default": "true"},
        },
        supports_check_mode=True,
    )
    if module.check_mode:
        same = os.path.exists(PROGRAM) and module.run_command([PROGRAM, "check"])[0] == 0
        module.exit_json(changed=not same, trial=False)
    if module.params["confirm"]:
        confirm(module)
    trial = ask(module, "try") == "trial"
    module.exit_json(changed=trial, trial=trial)


if __name__ == "__main__":
    main()

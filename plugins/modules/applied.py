#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: applied
short_description: Record what was applied to a node
version_added: "0.1.0"
description:
  - The last step of a run; what it records is what C(clusterwright up) compares with.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Tells whether the record would change.
  diff_mode:
    support: none
    description: A digest says nothing to a reader.
options:
  digest:
    description: Digest of what the node should be.
    type: str
    required: true
  state_folder:
    description: Where the record stands.
    type: path
    default: /var/lib/clusterwright
"""

EXAMPLES = r"""
- name: Record what was applied
  clusterwright.cluster.applied:
    digest: "{{ clusterwright_digest }}"
"""

RETURN = r"""
before:
  description: Digest of the run before; empty on a new node.
  type: str
  returned: always
"""

import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.clusterwright.cluster.plugins.module_utils import state


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "digest": {"type": "str", "required": True},
            "state_folder": {"type": "path", "default": state.FOLDER},
        },
        supports_check_mode=True,
    )
    folder, digest = module.params["state_folder"], module.params["digest"]
    before = state.recall(folder, state.APPLIED).get("digest", "")
    owed = state.recall(folder, state.PENDING)
    if owed and not module.check_mode:
        module.fail_json(msg=f"still owed to units that no role runs here: {owed}")
    if before != digest and not module.check_mode:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        state.note(folder, state.APPLIED, {"digest": digest, "at": when})
    module.exit_json(changed=before != digest, before=before)


if __name__ == "__main__":
    main()

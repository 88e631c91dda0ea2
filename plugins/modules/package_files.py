#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: package_files
short_description: Bring package files that no repository has
version_added: "0.1.0"
description:
  - They were verified on the control node, and each is compared with its SHA-256 on the node. What is there
    already is not copied again, and what is no longer wanted goes.
  - They stay, so that a second run copies nothing, and whatever installs them later finds them.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells what would be copied.
  diff_mode:
    support: none
    description: Packages have no lines to compare.
options:
  files:
    description: Each package with C(name), C(sha256) and C(size).
    type: list
    elements: dict
    required: true
  store:
    description: Folder on the control node where each lies under its SHA-256; read by this module's action.
    type: path
  archive:
    description: Tar archive on the node with those that are missing; the action of this module fills it in.
    type: path
  folder:
    description: Where they lie on the node.
    type: path
    default: /var/lib/clusterwright/packages
"""

EXAMPLES = r"""
- name: Bring what the vendor hands out
  clusterwright.cluster.package_files:
    files: "{{ base_package_files }}"
    store: "{{ base_package_store }}"
"""

RETURN = r"""
missing:
  description: Names of those that were not there, or were others.
  type: list
  elements: str
  returned: always
  sample: ["libfabric1-aws_2.7.0amzn2.0_amd64.deb"]
"""

import hashlib
import os
import tarfile

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.clusterwright.cluster.plugins.module_utils import state


def digests(folder: str) -> dict:
    """SHA-256 by name of every file that is there."""
    found = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        whole = hashlib.sha256()
        with open(os.path.join(folder, name), "rb") as stream:
            for block in iter(lambda: stream.read(1 << 20), b""):
                whole.update(block)
        found[name] = whole.hexdigest()
    return found


def place(module: AnsibleModule, folder: str, wanted: dict, archive: str) -> None:
    """Only what is wanted, and only with the digest that it should have."""
    os.makedirs(folder, mode=0o755, exist_ok=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.name in wanted else None
            content = stream.read() if stream else b""
            if hashlib.sha256(content).hexdigest() != wanted.get(member.name):
                module.fail_json(msg=f"{member.name} is not the file that was verified")
            state.replace(os.path.join(folder, member.name), content, 0o644)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "dict", "required": True},
            "store": {"type": "path"},
            "archive": {"type": "path"},
            "folder": {"type": "path", "default": "/var/lib/clusterwright/packages"},
        },
        supports_check_mode=True,
    )
    folder, archive = module.params["folder"], module.params["archive"]
    wanted = {row["name"]: row["sha256"] for row in module.params["files"]}
    there = digests(folder)
    missing = {name: digest for name, digest in wanted.items() if there.get(name) != digest}
    surplus = set(there) - set(wanted)
    if not module.check_mode and (archive or not missing):
        for name in surplus:
            os.unlink(os.path.join(folder, name))
        if archive:
            place(module, folder, missing, archive)
    module.exit_json(changed=bool(missing or surplus), missing=sorted(missing))


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
module: hold
short_description: Keep installed packages at their versions
version_added: "0.1.0"
description:
  - With apt, marks packages as held.
  - With dnf, writes the list of its plugin C(versionlock), which is then this module's alone, with the
    installed version of each package. What is not held any more may move again.
author: The clusterwright authors
attributes:
  check_mode:
    support: full
    description: Changes nothing and tells what would be held.
  diff_mode:
    support: full
    description: Shows dnf's list; of apt, nothing.
options:
  packages:
    description: Names; with dnf also patterns as C(rpm --query --all) takes them.
    type: list
    elements: str
    required: true
  package_format:
    description: What installs packages here.
    type: str
    choices: [deb, rpm]
    required: true
  list_file:
    description: The list of dnf's plugin.
    type: path
    default: /etc/dnf/plugins/versionlock.list
"""

EXAMPLES = r"""
- name: No upgrade moves the driver
  clusterwright.cluster.hold:
    packages: [nvidia-driver-cuda, "kmod-nvidia*"]
    package_format: rpm
"""

RETURN = r"""
held:
  description: Packages that were not held, or not at this version.
  type: list
  elements: str
  returned: always
  sample: ["nvidia-driver-cuda-3:580.95.05-1.el9.*"]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.clusterwright.cluster.plugins.module_utils import state

HEAD = "# What the cluster's lock holds. Change the lock, not this file.\n"
FORM = "%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.*\\n"


def hold_debs(module: AnsibleModule) -> dict:
    marked = module.run_command(["apt-mark", "showhold"], check_rc=True)[1].split()
    missing = sorted(set(module.params["packages"]) - set(marked))
    if missing and not module.check_mode:
        module.run_command(["apt-mark", "hold", *missing], check_rc=True)
    return {"changed": bool(missing), "held": missing}


def hold_rpms(module: AnsibleModule) -> dict:
    path = module.params["list_file"]
    query = ["rpm", "--query", "--all", "--queryformat", FORM, *module.params["packages"]]
    entries = sorted(set(module.run_command(query, check_rc=True)[1].split()))
    try:
        with open(path, encoding="utf-8") as stream:
            before = stream.read()
    except FileNotFoundError:
        before = ""
    after = HEAD + "".join(f"{entry}\n" for entry in entries)
    if after != before and not module.check_mode:
        state.replace(path, after.encode(), 0o644)
    diff = {"before_header": path, "after_header": path, "before": before, "after": after}
    missing = [entry for entry in entries if entry not in before.splitlines()]
    return {"changed": after != before, "held": missing, "diff": diff}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "str", "required": True},
            "package_format": {"type": "str", "choices": ["deb", "rpm"], "required": True},
            "list_file": {"type": "path", "default": "/etc/dnf/plugins/versionlock.list"},
        },
        supports_check_mode=True,
    )
    module.exit_json(**(hold_rpms if module.params["package_format"] == "rpm" else hold_debs)(module))


if __name__ == "__main__":
    main()

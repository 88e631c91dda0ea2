# Copyright The clusterwright authors
# Apache License 2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
name: handoff
short_description: Nodes of a clusterwright cluster
description:
  - Reads the hand-off document that C(clusterwright) writes for every cluster, C(NAME.handoff.json).
  - Groups nodes by role, by pool (C(pool_NAME)) and by site (C(site_NAME)).
author: The clusterwright authors
options:
  plugin:
    description: Not needed; the file's name tells.
    type: str
"""

EXAMPLES = r"""
# ansible-inventory -i lab.handoff.json --graph
# ansible -i lab.handoff.json compute -m ansible.builtin.ping
"""

import json
import re

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

VERSION = 1
FACTS = ("pool", "roles", "site", "machine", "gpus", "features", "partitions", "rack", "block", "switches")


class InventoryModule(BaseInventoryPlugin):
    """One host per node, under the plugin's full name."""

    NAME = "clusterwright.cluster.handoff"

    def verify_file(self, path: str) -> bool:
        return super().verify_file(path) and path.endswith(".handoff.json")

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        try:
            with open(path, encoding="utf-8") as stream:
                document = json.load(stream)
            version, nodes = document["version"], document["nodes"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AnsibleParserError(f"{path}: not a hand-off document ({error})") from error
        if version != VERSION:
            raise AnsibleParserError(f"{path}: hand-off version {version}, and this plugin reads {VERSION}")
        self.inventory.set_variable("all", "clusterwright_cluster", document["cluster"]["name"])
        for node in nodes:
            self.add(node)

    def add(self, node: dict) -> None:
        name = node["name"]
        self.inventory.add_host(name)
        self.inventory.set_variable(name, "ansible_host", node["address"])
        for fact in FACTS:
            self.inventory.set_variable(name, f"clusterwright_{fact}", node[fact])
        for group in (*node["roles"], f"pool_{node['pool']}", f"site_{node['site']}"):
            self.inventory.add_host(name, self.inventory.add_group(re.sub(r"[^A-Za-z0-9_]", "_", group)))

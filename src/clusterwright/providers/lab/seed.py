"""What a cloud tells a machine that it makes, for cloud-init's NoCloud data source: a folder in its root.

cloud-init's documentation: datasources/nocloud (seed folder, vendor-data), network-config, 2026-11.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from clusterwright.providers.lab.files import place
from clusterwright.providers.lab.ssh import public_key

_SEED = "/var/lib/cloud/seed/nocloud"
# The host key is known beforehand here, and there are no other people than root yet.
_VENDOR_DATA = {"ssh_deletekeys": False, "disable_root": False, "users": [], "preserve_hostname": True}


def write(root: Path, name: str, host_key: Path, user_data: str) -> None:
    """Into the node's own layer, before its first boot."""
    instance = hashlib.sha256(f"{name} {public_key(host_key)}".encode()).hexdigest()[:16]
    place(
        root,
        f"{_SEED}/meta-data",
        json.dumps({"instance-id": f"i-{instance}", "local-hostname": name}) + "\n",
    )
    place(root, f"{_SEED}/vendor-data", "#cloud-config\n" + json.dumps(_VENDOR_DATA) + "\n")
    place(root, f"{_SEED}/user-data", user_data)
    # Not JSON: what looks for the data source at boot is a shell script that reads this line by line.
    settings = "datasource_list: [ NoCloud ]\nnetwork:\n  config: disabled\n"
    place(root, "/etc/cloud/cloud.cfg.d/90-lab.cfg", settings)

"""User data: what makes a new machine look for its bundle. It holds no secret.

It names the store and the key that signs, and never a bundle: a new bundle changes no user data.
"""

from __future__ import annotations

import base64
import gzip
import json

import yaml

from clusterwright.bundle.collection import root

LIMIT = 16 * 1024
"""EC2's, before its own encoding: docs.aws.amazon.com, Run commands at launch (2026-11)."""
_AGENT = "/usr/lib/clusterwright/pull"
_UNITS = ("clusterwright-pull.service", "clusterwright-pull.timer")
_AUTHORITY = "/etc/clusterwright/pull-authority.pem"


def user_data(
    cluster: str, url: str, signer: str, authority: str | None = None, node: str | None = None
) -> str:
    """A cloud-config. `signer` is a public key; `authority` the certificate that vouches for the store,
    where no authority that machines trust anyway does; `node` its name, where the cloud gives the machine
    another one. All else is the same for every node."""
    config = {"cluster": cluster, "url": url, "signer": signer}
    files = [_zipped(_AGENT, _text("pull"), "0755")]
    files += [_zipped(f"/etc/systemd/system/{unit}", _text(unit), "0644") for unit in _UNITS]
    if authority:
        config["authority"] = _AUTHORITY
        files.append({"path": _AUTHORITY, "permissions": "0644", "content": authority})
    text = json.dumps(config, indent=1, sort_keys=True) + "\n"
    files.append({"path": "/etc/clusterwright/pull.json", "permissions": "0644", "content": text})
    named = {"hostname": node, "prefer_fqdn_over_hostname": False} if node else {}
    body = {
        **named,
        "write_files": files,
        "runcmd": [
            ["systemctl", "daemon-reload"],
            ["systemctl", "enable", "--now", "--no-block", *_UNITS],
        ],
    }
    return "#cloud-config\n" + yaml.safe_dump(body, sort_keys=False, width=110)


def _text(name: str) -> str:
    return (root() / "roles" / "pull" / "files" / name).read_text()


def _zipped(path: str, text: str, mode: str) -> dict[str, str]:
    content = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    return {"path": path, "permissions": mode, "encoding": "gz+b64", "content": content}

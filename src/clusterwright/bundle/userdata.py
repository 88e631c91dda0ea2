"""User data: what makes a new machine look for its bundle. It holds no secret.

It names the store and the key that signs, and never a bundle: a new bundle changes no user data.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence

import yaml

from clusterwright.bundle.collection import root

LIMIT = 16 * 1024
"""EC2's, before its own encoding: docs.aws.amazon.com, Run commands at launch (2026-11)."""
_AGENT = "/usr/lib/clusterwright/pull"
_UNITS = ("clusterwright-pull.service", "clusterwright-pull.timer")
_KEEP = "clusterwright-keep.service"
_AUTHORITY = "/etc/clusterwright/pull-authority.pem"


def user_data(
    cluster: str,
    url: str,
    signer: str,
    authority: str | None = None,
    node: str | None = None,
    keep: Sequence[str] = (),
    token_url: str | None = None,
) -> str:
    """A cloud-config. `signer` is a public key; `authority` the certificate that vouches for the store,
    where no authority that machines trust anyway does; `node` its name, where the cloud gives the machine
    another one; `keep` a disk that outlives the machine and the paths that are on it; `token_url` where the
    machine gets the token that opens the store. All else is the same for every node."""
    config = {"cluster": cluster, "url": url, "signer": signer}
    config |= {"token_url": token_url} if token_url else {}
    files = [_zipped(_AGENT, _text("pull"), "0755")]
    units = [_KEEP, *_UNITS] if keep else list(_UNITS)
    files += [_zipped(f"/etc/systemd/system/{unit}", _text(unit), "0644") for unit in units]
    if keep:
        files.append(_zipped("/usr/lib/clusterwright/keep", _text("keep"), "0755"))
        files.append(_plain("/etc/clusterwright/keep", "".join(f"{word}\n" for word in keep)))
    if authority:
        config["authority"] = _AUTHORITY
        files.append(_plain(_AUTHORITY, authority))
    text = json.dumps(config, indent=1, sort_keys=True) + "\n"
    files.append(_plain("/etc/clusterwright/pull.json", text))
    named = {"hostname": node, "prefer_fqdn_over_hostname": False} if node else {}
    body = {
        **named,
        "write_files": files,
        "runcmd": [
            ["systemctl", "daemon-reload"],
            ["systemctl", "enable", "--now", "--no-block", *units],
        ],
    }
    return "#cloud-config\n" + yaml.safe_dump(body, sort_keys=False, width=110)


def startup_script() -> str:
    """For clouds whose own images of some distributions have no cloud-init, and so read no user data."""
    return _text("bring-cloud-init")


def _text(name: str) -> str:
    return (root() / "roles" / "pull" / "files" / name).read_text()


def _plain(path: str, text: str) -> dict[str, str]:
    return {"path": path, "permissions": "0644", "content": text}


def _zipped(path: str, text: str, mode: str) -> dict[str, str]:
    content = base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
    return {"path": path, "permissions": mode, "encoding": "gz+b64", "content": content}

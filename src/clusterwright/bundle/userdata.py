"""User data: what makes a new machine look for its bundle. It holds no secret.

It names the store and the key that signs, and never a bundle: a new bundle changes no user data.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache

import yaml

from clusterwright.bundle.collection import root
from clusterwright.bundle.login import ADMIN
from clusterwright.bundle.terse import terse

LIMIT = 16 * 1024
"""EC2's, before its own encoding: docs.aws.amazon.com, Run commands at launch (2026-11)."""
_AGENT = "/usr/lib/clusterwright/pull"
_PROGRAM = "pull"
_UNITS = ("clusterwright-pull.service", "clusterwright-pull.timer")
_KEEP = "clusterwright-keep.service"
_NAME = "clusterwright-name.service"
_MACHINE = "/var/lib/cloud/data/instance-id"
"""Where cloud-init writes by which ID the cloud knows the machine."""
_AUTHORITY = "/etc/clusterwright/pull-authority.pem"

_OPERATOR = "/etc/clusterwright/operator.pub"

_GATE = "/usr/lib/clusterwright/gate"
_BUILDER = "/run/clusterwright-builder"
_IN_MEMORY = (
    ["install", "-d", "-m", "700", _BUILDER],
    ["install", "-m", "600", "/etc/ssh/ssh_host_ed25519_key", f"{_BUILDER}/key"],
)
"""What a builder is known by and what it fetches are in no image."""
_NO_DAEMON_STARTS = "#!/bin/sh\n# Packages are installed here for another machine.\nexit 101\n"


def user_data(
    cluster: str,
    url: str,
    signer: str,
    authority: str | None = None,
    node: str | None = None,
    keep: Sequence[str] = (),
    token_url: str | None = None,
    builds: bool = False,
    member: bool = False,
) -> str:
    """A cloud-config. `signer` is a public key; `authority` the certificate that vouches for the store,
    where no authority that machines trust anyway does; `node` its name, where the cloud gives the machine
    another one; `keep` a disk that outlives the machine and the paths that are on it; `token_url` where the
    machine gets the token that opens the store; `builds` for a machine that becomes an image; `member` for
    one of a group, which asks for its name. All else is the same for every node."""
    config = {"cluster": cluster, "url": url, "signer": signer}
    config |= {"token_url": token_url} if token_url else {}
    config |= {"identity": f"{_BUILDER}/key", "state": f"{_BUILDER}/pull"} if builds else {}
    config |= {"machine": _MACHINE} if member else {}
    files = [_zipped(_AGENT, _PROGRAM, "0755")]
    units = [*([_KEEP] if keep else ()), *([_NAME] if member else ()), *_UNITS]
    files += [_zipped(f"/etc/systemd/system/{unit}", unit, "0644") for unit in units]
    if keep:
        files.append(_zipped("/usr/lib/clusterwright/keep", "keep", "0755"))
        files.append(_plain("/etc/clusterwright/keep", "".join(f"{word}\n" for word in keep)))
    if member:
        files.append(_zipped("/usr/lib/clusterwright/name", "name", "0755"))
    if authority:
        config["authority"] = _AUTHORITY
        files.append(_plain(_AUTHORITY, authority))
    if builds:
        files.append(_zipped(_GATE, "seal", "0755"))
        files.append(_plain("/usr/sbin/policy-rc.d", _NO_DAEMON_STARTS, "0755"))
    text = json.dumps(config, indent=1, sort_keys=True) + "\n"
    files.append(_plain("/etc/clusterwright/pull.json", text))
    named: dict[str, object] = {"hostname": node, "prefer_fqdn_over_hostname": False} if node else {}
    named |= {"preserve_hostname": True} if member else {}
    commands = [
        *(_IN_MEMORY if builds else ()),
        ["systemctl", "daemon-reload"],
        ["systemctl", "enable", "--now", "--no-block", *units],
    ]
    head = _yaml(named) if named else ""
    return f"#cloud-config\n{head}write_files:\n{''.join(files)}{_yaml({'runcmd': commands})}"


def admitting(node: str, key: str) -> str:
    """For a machine that is pushed to as own machines are: its name, and a login that this public key opens.

    The login is the one that bootstrap makes, so that nothing is left to change there."""
    home, keys = f"/var/lib/{ADMIN}", f"/var/lib/{ADMIN}/.ssh/authorized_keys"
    made = (
        f"useradd --system --user-group --create-home --home-dir {home} --shell /bin/sh"
        f" --comment clusterwright {ADMIN} && usermod --password '*' {ADMIN}"
    )
    placed = (
        f"install -d -m 0700 -o {ADMIN} -g {ADMIN} {home}/.ssh"
        f" && install -m 0600 -o {ADMIN} -g {ADMIN} {_OPERATOR} {keys}"
        f" && {{ ! command -v restorecon >/dev/null || restorecon -R {home}/.ssh; }}"
    )
    config = {
        "hostname": node,
        "prefer_fqdn_over_hostname": False,
        "write_files": [
            {"path": _OPERATOR, "permissions": "0644", "content": f"{key}\n"},
            {
                "path": "/etc/sudoers.d/90-clusterwright",
                "permissions": "0440",
                "content": f"Defaults:{ADMIN} !requiretty\n{ADMIN} ALL=(ALL:ALL) NOPASSWD: ALL\n",
            },
        ],
        "runcmd": [["sh", "-c", made], ["sh", "-c", placed]],
    }
    return f"#cloud-config\n{_yaml(config)}"


def startup_script() -> str:
    """For clouds whose own images of some distributions have no cloud-init, and so read no user data."""
    return _text("bring-cloud-init")


def _text(name: str) -> str:
    return (root() / "roles" / "pull" / "files" / name).read_text()


def _plain(path: str, text: str, mode: str = "0644") -> str:
    return _yaml([{"path": path, "permissions": mode, "content": text}])


@cache
def _zipped(path: str, name: str, mode: str) -> str:
    """The same for every machine, of which a cluster has hundreds, and most of what there is to write."""
    return _yaml([{"path": path, "permissions": mode, "encoding": "gz+b64", "content": _packed(name)}])


def _yaml(body: object) -> str:
    text: str = yaml.safe_dump(body, sort_keys=False, width=110)
    return text


def _packed(name: str) -> str:
    """Each byte counts in user data."""
    text = terse(_text(name)) if name == _PROGRAM else _text(name)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()

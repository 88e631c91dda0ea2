"""Secrets of nodes, each encrypted with age to its SSH host key."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pyrage

from clusterwright.bundle.wanted import Wanted
from clusterwright.finding import Where, refuse
from clusterwright.operate.pull.store import Store

_AT_ONCE = 8


def hide(
    store: Store,
    wanted: Mapping[str, Wanted],
    keys: Mapping[str, bytes],
    host_keys: Mapping[str, str],
    hidden: Mapping[str, str],
) -> Mapping[str, str]:
    """Encrypt what differs from what was `hidden` (by node: a hash of secrets and recipient).

    Returns that anew."""
    now: dict[str, str] = {}
    due: dict[str, bytes] = {}
    there = store.hidden()
    for name, host_key in host_keys.items():
        own = {
            file.path: base64.b64encode(keys[file.path]).decode()
            for file in wanted[name].files
            if file.content is None
        }
        text = json.dumps(own, sort_keys=True).encode()
        now[name] = hashlib.sha256(text + host_key.encode()).hexdigest()
        if hidden.get(name) != now[name] or name not in there:
            due[name] = text
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        made = pool.map(lambda name: _encrypted(due[name], name, host_keys[name]), due)
        for name, content in zip(due, made, strict=True):
            store.hide(name, content)
    return now


def _encrypted(text: bytes, name: str, host_key: str) -> bytes:
    try:
        return bytes(pyrage.encrypt(text, [pyrage.ssh.Recipient.from_str(host_key)]))
    except pyrage.RecipientError as error:
        what = f"nothing can be encrypted to its host key: {error}"
        raise refuse("CW8053", Where(path=name), what, "Give it a host key of the kind ed25519") from error

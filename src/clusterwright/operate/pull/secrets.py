"""Secrets of nodes, each encrypted with age to its SSH host key."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from clusterwright.bundle.wanted import Wanted
from clusterwright.finding import Finding, Where, refuse
from clusterwright.operate.pull.store import Store

_AT_ONCE = 8


def unmet() -> list[Finding]:
    """What this machine lacks to publish for nodes that pull."""
    what = "the program age is not installed, which encrypts each node's secrets to its host key"
    found = Finding("CW8053", Where(path="age"), what, "Install the package age")
    return [] if shutil.which("age") else [found]


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
        for name, content in zip(due, pool.map(lambda n: _encrypted(due[n], host_keys[n]), due), strict=True):
            store.hide(name, content)
    return now


def _encrypted(text: bytes, recipient: str) -> bytes:
    argv = ["age", "--encrypt", "--recipient", recipient]
    done = subprocess.run(argv, input=text, capture_output=True, check=False)
    if done.returncode:
        what = f"age could not encrypt: {done.stderr.decode(errors='replace').strip()}"
        raise refuse("CW8053", Where(path="age"), what, "Repair the cause, then run the same command again")
    return done.stdout

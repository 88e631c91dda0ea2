"""A cluster's shared keys: made once, kept by the operator with mode 0600, placed on nodes by converge."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from pathlib import Path

from clusterwright.handoff import Handoff
from clusterwright.operate.home import ClusterHome, write_atomically

SLURM_KEY = "/etc/slurm/slurm.key"
MUNGE_KEY = "/etc/munge/munge.key"
JWT_KEY = "/etc/slurm/jwt_hs256.key"
_KEY_BYTES = 1024


def cluster_keys(home: ClusterHome, handoff: Handoff) -> Mapping[str, bytes]:
    """Path on the node → key. The same keys for the life of the cluster."""
    # auth/slurm exists from Slurm 23.11 on: https://slurm.schedmd.com/authentication.html (2026-11)
    paths = [MUNGE_KEY if handoff.scheduler["release"] == "22.05" else SLURM_KEY]
    if handoff.scheduler["rest"]:
        paths.append(JWT_KEY)
    return {path: _key(home.keys / Path(path).name) for path in paths}


def _key(file: Path) -> bytes:
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(file, base64.b64encode(secrets.token_bytes(_KEY_BYTES)), 0o600)
    return file.read_bytes()

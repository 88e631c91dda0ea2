"""A cluster's secrets, placed on nodes by converge: shared keys, made once and kept with mode 0600, and what
clients of file systems and of a directory outside need, read from beside the description."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from pathlib import Path

from clusterwright.bundle import directory
from clusterwright.bundle.shares import secrets as secrets_of_shares
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff
from clusterwright.operate.home import ClusterHome, write_atomically

SLURM_KEY = "/etc/slurm/slurm.key"
MUNGE_KEY = "/etc/munge/munge.key"
JWT_KEY = "/etc/slurm/jwt_hs256.key"
_KEY_BYTES = 1024
_PLAYED = b"simulated: a node of a lab is given no secret of a site\n"


def cluster_keys(home: ClusterHome, handoff: Handoff) -> Mapping[str, bytes]:
    """Path on the node → key. The same keys for the life of the cluster."""
    return {path: _key(home.keys / Path(path).name) for path in _paths(handoff)}


def no_keys(handoff: Handoff) -> Mapping[str, bytes]:
    """Where keys and secrets lie on nodes, without any: for what depends on none."""
    return dict.fromkeys((*_paths(handoff), *secrets_of_shares(handoff), *directory.secrets(handoff)), b"")


def _paths(handoff: Handoff) -> list[str]:
    # auth/slurm exists from Slurm 23.11 on: https://slurm.schedmd.com/authentication.html (2026-11)
    paths = [MUNGE_KEY if handoff.scheduler["release"] == "22.05" else SLURM_KEY]
    return [*paths, JWT_KEY] if handoff.scheduler["rest"] else paths


def secrets_beside(folder: Path, handoff: Handoff) -> Mapping[str, bytes]:
    """Path on the node → secret. Raises Refused with each file that cannot be used."""
    played = any(site["simulated"] for site in handoff.site.values())
    of_shares, of_directory = secrets_of_shares(handoff), directory.secrets(handoff)
    found = dict.fromkeys(of_shares, _PLAYED) if played else {}
    wrong = []
    for path, beside in {**({} if played else of_shares), **of_directory}.items():
        try:
            secret = (folder / beside).read_bytes()
        except OSError as error:
            remedy = "Put it beside the description, readable for you alone, and out of the repository"
            wrong.append(Finding("CW8004", Where(beside), f"cannot be read ({error.strerror})", remedy))
            continue
        placed = directory.password_file(secret) if path in of_directory else secret
        if placed is None:
            what, remedy = "is not one line of text", "Write the password alone into it"
            wrong.append(Finding("CW8004", Where(beside), what, remedy))
        else:
            found[path] = placed
    if wrong:
        raise Refused(wrong)
    return found


def _key(file: Path) -> bytes:
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(file, base64.b64encode(secrets.token_bytes(_KEY_BYTES)), 0o600)
    return file.read_bytes()

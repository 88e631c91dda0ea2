"""The directory of the site: nodes know the people of the description whom it has."""

from __future__ import annotations

from gates.node import Node, Unmet


def directory(node: Node) -> str:
    """Whom sssd does not know, Slurm runs no job for. It answers from its cache while no server does."""
    wanted = node.planned["directory"]
    _, said = node.run("getent", "--service", "sss", "passwd", *wanted)
    known = {line.partition(":")[0] for line in said.splitlines()}
    if unknown := [name for name in wanted if name not in known]:
        remedy = (
            "See `journalctl --unit sssd`: server, certificate and password; then the name in the description"
        )
        raise Unmet("sssd knows each person of the directory", f"not {', '.join(unknown)}", remedy)
    return f"{len(wanted)} people of the directory are known"

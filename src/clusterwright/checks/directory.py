"""The directory that has people."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.plan.outline import Outline


@rule(
    "CW1780",
    "A person without a number",
    source="a login has the same number on every node, or files on shares are somebody else's",
    example="users: {ada: {}}",
)
def number_unknown(outline: Outline) -> Iterator[Problem]:
    """Somebody has to know it: the description, or a directory."""
    if outline.spec.surroundings.directory is None:
        for name, user in outline.spec.users.items():
            if user.uid is None:
                remedy = "Give a `uid`, or the directory that has this person: `surroundings: {directory: …}`"
                yield Problem(f"users.{name}", f"nothing says which number '{name}' has", remedy)


@rule(
    "CW1781",
    "An administrator who cannot log in when it matters",
    source="sssd.conf(5): cache_credentials is for those who have logged in on that node before",
    example="users: {ada: {admin: true}}, surroundings: {directory: {…}}",
)
def administrator_elsewhere(outline: Outline) -> Iterator[Problem]:
    """Whoever mends the cluster has to get in while the directory is silent."""
    for name, user in outline.spec.users.items():
        if user.admin and user.uid is None and outline.spec.surroundings.directory is not None:
            what = f"'{name}' administers the cluster, and only the directory knows this login"
            yield Problem(
                f"users.{name}.admin", what, "Give a `uid` too: nodes keep the login themselves then"
            )

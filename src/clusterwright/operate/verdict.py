"""The last acceptance, for those who ask no gate themselves and need none of what gates do."""

from __future__ import annotations

import json

from clusterwright.operate.home import ClusterHome


def was_accepted(home: ClusterHome) -> bool:
    """Whether the last run of the gates found nothing wrong."""
    try:
        return bool(json.loads((home.reports / "accept.json").read_text())["accepted"])
    except (FileNotFoundError, ValueError, KeyError):
        return False


def doubt(home: ClusterHome) -> None:
    """Forget the last acceptance: what it proved is about to change."""
    (home.reports / "accept.json").unlink(missing_ok=True)

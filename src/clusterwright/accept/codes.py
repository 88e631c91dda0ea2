"""What each code of this package means: `clusterwright explain CW6001`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW6001": Meaning(
        "A damaged acceptance report",
        "It does not have the shape of accept.json: cut off, or edited by hand.",
        "accept.json cut in the middle",
    ),
    "CW6002": Meaning(
        "An acceptance report of another version",
        "Another release of clusterwright wrote it; read by guesswork it could call a broken cluster proven.",
        '{"version": 2, …}',
    ),
}

"""What each code of this package means: `clusterwright explain CW2001`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW2001": Meaning(
        "A damaged hand-off document",
        "It does not have the published shape (schemas/handoff.schema.json): cut off, or edited by hand.",
        "lab.handoff.json cut in the middle",
    ),
    "CW2002": Meaning(
        "A hand-off document of another version",
        "Another release of clusterwright wrote it; read by guesswork it could configure nodes wrongly.",
        '{"version": 2, …}',
    ),
}

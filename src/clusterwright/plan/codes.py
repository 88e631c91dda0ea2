"""What each code of this package means: `clusterwright explain CW1351`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW1200": Meaning(
        "The description cannot be planned",
        "A program planned a description that it had not checked. The checks say what is wrong and where.",
        "plan(spec) without check(spec)",
    ),
    "CW1351": Meaning(
        "A rehearsal cannot have these nodes",
        "A rehearsal is the same cluster with fewer nodes, so it has the same pools and none is larger.",
        "up --lab cluster.yaml --nodes gpu=64",
    ),
    "CW1352": Meaning(
        "A rehearsal differs here",
        "The lab boots one distribution and has no servers outside; what differs is listed (a note).",
        "up --lab cluster.yaml, with software: {distribution: ubuntu-24.04}",
    ),
}

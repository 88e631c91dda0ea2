"""What each code of this package means: `clusterwright explain CW8295`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8295": Meaning(
        "A vendor's file cannot be fetched",
        "What a vendor hands out in no repository is fetched once by the machine that runs clusterwright, "
        "over its own proxy (`https_proxy`), and kept. Put there by hand, it is verified just the same.",
        "up cluster.yaml, on a machine that does not reach efa-installer.amazonaws.com",
    ),
    "CW8296": Meaning(
        "A vendor's file is not what the vendor published",
        "Its signature or its SHA-256 differs, so nothing in it was opened, and it was removed.",
        "an installer that a proxy cut off or exchanged",
    ),
    "CW8297": Meaning(
        "A vendor's archive does not have what is needed of it",
        "It was verified and is the vendor's, but has no package of that name where the catalog expects it.",
        "an installer that serves a distribution no longer",
    ),
}

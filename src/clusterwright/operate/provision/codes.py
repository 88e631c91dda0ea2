"""What each code of this package means: `clusterwright explain CW8300`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8300": Meaning(
        "A machine that starts from its disk cannot be provisioned",
        "What boots over the network is the `image` of its pool; without one there is nothing to start.",
        "provision site.yaml gpu1, whose pool has no `image`",
    ),
    "CW8301": Meaning(
        "The controller does not serve network boot",
        "Machines would ask for an address and hear nobody. None was switched.",
        "provision site.yaml, before `up` brought DHCP and HTTP to the controller",
    ),
    "CW8302": Meaning(
        "The controller would have a machine start something else",
        "Its script or its image there is missing, or of an earlier description. None was switched.",
        "provision site.yaml, after the lock was changed and before `up`",
    ),
    "CW8303": Meaning(
        "A machine did not come in time",
        "It was started, no SSH server answers, and its controller cannot say how far it came.",
        "provision site.yaml --timeout '20 min', beside another DHCP server",
    ),
    "CW8304": Meaning(
        "Host keys that are made at each boot, and nobody takes",
        "A machine that runs an image has a new one each time, so no file can vouch for it beforehand.",
        "provision site.yaml, with `image: built` and without --accept-new",
    ),
}

"""What each code of this package means: `clusterwright explain CW8230`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8230": Meaning(
        "Nodes did not answer",
        "Their cables are not verified. Those of all others are, and theirs too as far as others hear them.",
        "verify fabric roce, while gpu-003 is off",
    ),
    "CW8231": Meaning(
        "Not what lldpcli prints",
        "Cut off, of another program, or without `-f json`. The other files are read.",
        "verify fabric racks.yaml --neighbors told, where told/gpu-001.json is empty",
    ),
    "CW8232": Meaning(
        "Nodes without lldpd",
        "Only a node that runs it hears what its cables lead to, and tells its name to the switch.",
        "verify fabric roce, where lldpd was never installed",
    ),
    "CW8233": Meaning(
        "A file of no device on the fabric",
        "A file is named after the node or switch that it comes from, gpu-001.json. This one is passed over.",
        "told/gpu-1.json, where the node is gpu-001",
    ),
    "CW8234": Meaning(
        "A node has none of the described interfaces",
        "Cards are known by the names of their interfaces, which `fabric.switches.devices` tells.",
        "devices: [ens1np0, …], where the node has benic1p1",
    ),
    "CW8235": Meaning(
        "A device hears nobody",
        "Either LLDP is off on all that it is joined to, or none of its cables is in.",
        "verify fabric roce, where no switch announces itself",
    ),
    "CW8236": Meaning(
        "Nothing was told of some nodes",
        "Their cables are verified only as far as others hear them.",
        "--neighbors with files of 30 nodes, of 32",
    ),
    "CW8237": Meaning(
        "The other kind of fabric",
        "InfiniBand is verified by what ibnetdiscover prints, Ethernet by what LLDP tells.",
        "verify fabric roce.yaml --discovered fabric.txt",
    ),
    "CW8238": Meaning(
        "What nodes told cannot be read",
        "Files or folders are given that have a file for each node.",
        "--neighbors nowhere",
    ),
}

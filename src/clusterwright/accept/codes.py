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
    "CW6101": Meaning(
        "A cable that goes elsewhere",
        "Traffic takes another way than the fabric was designed for: a rail crosses into another, and jobs "
        "on such a node are slow at times, with no error.",
        "the cables of gpu-003 mlx5_2 and gpu-004 mlx5_3 are swapped",
    ),
    "CW6102": Meaning(
        "No link where a cable should be",
        "A card without a link stops a job; an uplink that is missing takes its part of the bandwidth from "
        "all.",
        "a cable that was never plugged in, or a dead transceiver",
    ),
    "CW6103": Meaning(
        "A link below its speed",
        "A dirty fibre or a damaged cable makes both ends agree on less; the slowest link sets a job's pace.",
        "4xHDR between ports of 400 Gbit/s",
    ),
    "CW6104": Meaning(
        "A device that does not answer",
        "None of its ports was seen: it has no power, or its first cable is out.",
        "a leaf switch that is off",
    ),
    "CW6105": Meaning(
        "A cable that nobody described",
        "It takes a port that is meant for another node, or joins what should be apart.",
        "a storage server on a free port of a leaf",
    ),
    "CW6107": Meaning(
        "A switch under another name",
        "It has a factory's name or another's, and is known by its cables only.",
        "Quantum Mellanox Technologies",
    ),
    "CW6108": Meaning(
        "Two switches of one name",
        "One of them was set up from the other's backup; every cable of theirs can be either's.",
        "two switches that call themselves gpu-leaf-01",
    ),
}

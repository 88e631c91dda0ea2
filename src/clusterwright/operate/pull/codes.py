"""What each code of this package means: `clusterwright explain CW8051`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8051": Meaning(
        "The bundle's pointer could not be signed",
        "ssh-keygen signs it with the cluster's own key, which never leaves the operator's machine.",
        "a signing key that only another user may read",
    ),
    "CW8052": Meaning(
        "The nodes' Python packages could not be fetched",
        "Nodes that pull run the roles themselves. Their wheels are fetched once, by the lock's hashes.",
        "converge: pull, where no package index is reached",
    ),
    "CW8053": Meaning(
        "A node's secrets could not be encrypted",
        "Each node's are encrypted to its SSH host key with age: the store never has them in the clear.",
        "a machine whose only SSH host key is of the kind ecdsa",
    ),
    "CW8054": Meaning(
        "The image could not be given the Python that runs the roles",
        "It is made on the builder from the wheels, by the program that would make it on a node.",
        "a builder whose disk is full",
    ),
    "CW8056": Meaning(
        "A machine did not show its host key",
        "Its reports are trusted, and its secrets encrypted, by the key that the cloud saw it print at boot.",
        "a machine that did not boot, or an image without cloud-init",
    ),
    "CW8150": Meaning(
        "A group of machines may not be asked for its members",
        "Which machines it has, and ending one of them, needs more than making the group.",
        "credentials without autoscaling:DescribeAutoScalingGroups",
    ),
    "CW8151": Meaning(
        "No machine came for a name",
        "A group is kept at its number by the cloud, and nodes are those that it has machines for.",
        "pools: {gpu: {count: 512, group: true}}, where there is room for 500",
    ),
    "CW8152": Meaning(
        "Two machines were given one name",
        "Each name is one machine's until that is gone. Somebody else wrote into the store.",
        "two publishers of one cluster, each with its key",
    ),
    "CW8154": Meaning(
        "A machine of a group is outside the nodes' network",
        "File servers let the nodes' network in. A node elsewhere would wait, and nobody would say for what.",
        "site: {network: 10.90.16.0/22, …}, where the group's subnet is 10.90.16.0/20",
    ),
}

"""What each code of this package means: `clusterwright explain CW8080`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8080": Meaning(
        "Somebody works on this stack",
        "The state has one writer at a time. Locks of processes that are no more on this machine are taken "
        "away.",
        "two `up` of one cluster, from two machines",
    ),
    "CW8081": Meaning(
        "A cluster of this name is elsewhere",
        "A name is one cluster: on one cloud, or in a lab.",
        "up try.yaml, first in the lab, then with another provider",
    ),
    "CW8082": Meaning(
        "The engine could not do it",
        "The cloud's own words are in the finding. What was done is kept, and the next run goes on.",
        "a quota that is used up",
    ),
    "CW8083": Meaning(
        "A node is not accepted",
        "The finding has what the node said last: what it does, waits for, or which gate failed.",
        "a node with 31 of 32 EFA cards",
    ),
    "CW8084": Meaning(
        "Jobs may be lost",
        "Nobody outside sees the queue of a cluster on a cloud. Whoever looked says so with --disturb.",
        "up aws-p5.yaml, with another image for nodes that work",
    ),
    "CW8085": Meaning(
        "What is protected stays",
        "Files of people and the queue of a cluster go when somebody says so, never along with the rest.",
        "destroy aws-p5, with a home on EFS",
    ),
    "CW8086": Meaning(
        "What nodes say cannot be read",
        "Their reports lie in the cluster's bucket, which is read with the credentials of this machine.",
        "status aws-p5, without credentials",
    ),
    "CW8091": Meaning(
        "Something was left behind",
        "Everything that is made says by tag or label which cluster it is of. This is in no stack of it.",
        "leaks aws-p5, after a run that was killed while it made a machine",
    ),
    "CW8092": Meaning(
        "Nobody may look for what was left behind",
        "Tags and labels are read with the credentials that the cloud's own tools use on this machine.",
        "leaks aws-p5, without tag:GetResources",
    ),
    "CW8093": Meaning(
        "It is not known whether something was made",
        "A run was killed while the cloud worked on it. The stack does not have it, and the cloud may.",
        "up aws-p5, after `kill -9` of Pulumi's engine",
    ),
    "CW8153": Meaning(
        "A machine of a group is not replaced by itself",
        "The group makes another in place of one that ends, and the next `up` gives it the name.",
        "node replace aws-p5-large gpu-001",
    ),
    "CW8160": Meaning(
        "No command runs on a node that is asked",
        "Slurm of a cluster on a cloud is asked through its door, with your own key and as root by sudo.",
        "node drain aws-p5 gpu-001, with credentials that have expired",
    ),
    "CW8161": Meaning(
        "More than these nodes would change",
        "A node is replaced where all else is as its description says; `up` mends or applies the rest.",
        "node replace aws-p5 gpu-001, after an edit of aws-p5.yaml",
    ),
    "CW8162": Meaning(
        "It is not known whether jobs would be lost",
        "Slurm says what runs on a node, and it could not be asked.",
        "node replace aws-p5 gpu-001, while the controller is down",
    ),
    "CW8163": Meaning(
        "Nodes report to nobody",
        "Gates are asked for through the bundle that nodes pull, and answered in the same store.",
        "accept aws-p5, brought up with --no-accept",
    ),
    "CW8164": Meaning(
        "On a cloud `up` does this",
        "The engine compares the whole description with what there is, and makes what is missing.",
        "node add aws-p5 gpu-017",
    ),
}

"""What each code of this package means: `clusterwright explain CW8001`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW8001": Meaning(
        "Somebody works on this cluster",
        "One writer at a time: two would undo each other's work. The finding names the process.",
        "two `up` at the same moment",
    ),
    "CW8002": Meaning(
        "There is no such cluster",
        "A name is that of a cluster that was brought up from here; `list` shows them.",
        "status lba",
    ),
    "CW8003": Meaning(
        "This needs machines that are reached from here",
        "Those of a lab and one's own are. A cloud's are made and asked in its own ways: docs/pulumi.md.",
        "up with sites on AWS and of one's own",
    ),
    "CW8004": Meaning(
        "A file that the description names cannot be read",
        "Hooks, certificates and secrets of file systems are named relative to the description.",
        "hooks: [{at: before-configure, script: absent.sh}]",
    ),
    "CW8005": Meaning(
        "The image could not be installed",
        "A task failed on the builder; the finding names it, and the run's folder has everything it said.",
        "a package that the mirror does not have",
    ),
    "CW8006": Meaning(
        "Running jobs would be lost",
        "A node is never taken from its jobs unless --disturb says so. --roll waits for them, node by node.",
        "node replace lab gpu-001, while a job runs there",
    ),
    "CW8007": Meaning(
        "The cluster is half-made",
        "No `up` of it has finished, so there is nothing to look at yet. `up` goes on where it stopped.",
        "status lab, after `up` was killed",
    ),
    "CW8008": Meaning(
        "The description is not recorded",
        "The record of where the cluster came from is damaged or gone; name the file once.",
        "up lab, with source.json removed",
    ),
    "CW8009": Meaning(
        "There is no controller to ask",
        "Slurm's state lives there.",
        "status lab, with its controller removed",
    ),
    "CW8010": Meaning(
        "Slurm refused a change of a node",
        "Slurm's own words are in the finding.",
        "node resume, of a dead node",
    ),
    "CW8011": Meaning(
        "Not a node set, or more than one node",
        "Nodes are written as Slurm writes them: gpu-001, gpu-[001-004]; where one is asked for, as one.",
        "ssh lab gpu-[001-004]",
    ),
    "CW8012": Meaning(
        "Not a node of this cluster",
        "Only what the description names can be worked on; raise the pool's count to have more.",
        "node add lab gpu-099",
    ),
    "CW8013": Meaning(
        "The node does not exist now",
        "It is described, and its machine is not there.",
        "ssh lab gpu-003, before `up`",
    ),
    "CW8014": Meaning(
        "The lock is out of date",
        "The description or the catalog changed since `clusterwright lock` wrote it.",
        "versions: {cuda: 13}, with a lock that has CUDA 12",
    ),
    "CW8015": Meaning(
        "Only simulated hardware can be broken",
        "`node break` is for finding out that a fault is found.",
        "node break prod gpu-001 ecc",
    ),
    "CW8016": Meaning(
        "No such fault",
        "`clusterwright node break CLUSTER` lists every fault.",
        "node break lab gpu-001 eccc",
    ),
    "CW8017": Meaning(
        "Software would go down in place",
        "A package that is downgraded may not read what the newer one left. Keep the newer one, or let "
        "--rebuild make the nodes anew from an image.",
        "versions: {driver: 580}, while the nodes run 595",
    ),
    "CW8018": Meaning(
        "A node did not come through a change",
        "Its gates failed after it was changed; it stays drained, and when it is the first of its pool no "
        "other is touched. The same command goes on once it is mended.",
        "up lab --roll, where the first node's NVLink is down afterwards",
    ),
    "CW8019": Meaning(
        "Jobs outlasted the wait",
        "No job is ended for a rolling change. The nodes take jobs again; run it later, or wait longer.",
        "up lab --roll --wait 1h, with a job that runs for a day",
    ),
    "CW8020": Meaning(
        "A program that collects packages is not installed, or failed",
        "apt resolves and fetches, apt-ftparchive makes the index, gpg signs it.",
        "bundle lab.yaml --offline --out site, on a machine without apt",
    ),
    "CW8023": Meaning(
        "A vendor's key is not the one that is known",
        "Nothing is taken from a repository whose key nobody could compare with a published fingerprint.",
        "a vendor that exchanged its key",
    ),
    "CW8024": Meaning(
        "A repository does not answer, or is not signed as it should be",
        "apt's own words are in the finding. Of the other repositories everything was taken.",
        "a proxy that does not let the vendor's host through",
    ),
    "CW8040": Meaning(
        "What runs stays",
        "Without a lock beside the description nobody reviewed another version, so a cluster keeps those "
        "that it has, as far as they fit.",
        "up cluster.yaml, after a release was added to the catalog",
    ),
    "CW8055": Meaning(
        "Nodes that pull do not roll in this way",
        "Nobody leads them: each waits for its own jobs and for the node before it, however long that takes.",
        "up lab-pull --roll --failures 2",
    ),
    "CW8057": Meaning(
        "Another key signs here than the one that machines trust",
        "User data names the public key that the stack is configured with; this machine signs with its own.",
        "pulumi up on a machine without the cluster's keys",
    ),
    "CW8058": Meaning(
        "A cluster that pulls has nothing published to be proven against",
        "One of its own nodes runs the gates, for what the signed pointer says. There is none in the store.",
        "accept, after the store's files were removed",
    ),
    "CW8060": Meaning(
        "A locked build is in no repository",
        "A distribution's archive keeps the newest build of a kernel and drops the one before; what no "
        "vendor has in a repository is in none (CW1370).",
        "versions: {kernel: 6.12.107}, after the next update for security",
    ),
    "CW8061": Meaning(
        "The key that signs kernel modules cannot be used",
        "`software.module_signing` names a private key and its certificate, which are looked at first.",
        "software: {module_signing: {key: mok.key, certificate: other.pem}}",
    ),
    "CW8070": Meaning(
        "Nobody to ask about this plan",
        "`--live` asks the account of the one cloud that would make the cluster.",
        "plan --live clusters/lab.yaml",
    ),
    "CW8087": Meaning(
        "A node cannot be read like this",
        "A journal is on its node. A cloud hands a console out as it is at that moment; a BMC has it, too.",
        "logs aws-p5 gpu-001, which does not answer",
    ),
    "CW8090": Meaning(
        "An image is of other software",
        "A machine made from it would install and build at its first boot what it was to bring along.",
        'pools: {gpu: {image: "built:48de648fc746a76f"}}, after a change of the lock',
    ),
    "CW8320": Meaning(
        "No such site to cut off",
        "A lab of several sites has a network for each, and a link between them that can be cut.",
        "site cut lab north, of a cluster with one site",
    ),
    "CW8321": Meaning(
        "Machines in a cloud that would be forgotten",
        "What opens them is kept with the cluster of own machines, and the stack that made them goes on.",
        "destroy hybrid, before destroy hybrid-amazon",
    ),
    "CW8110": Meaning(
        "A description without switches",
        "Cables follow from the switches, and clusterwright makes none up.",
        "clusterwright cabling of a description without `fabric.switches`",
    ),
    "CW8111": Meaning(
        "Not the output of ibnetdiscover",
        "A fabric is compared with what that tool prints; half of it would look like missing cables.",
        "clusterwright verify fabric FILE --discovered notes.txt",
    ),
    "CW8112": Meaning(
        "InfiniBand's tools cannot look at the fabric",
        "ibnetdiscover and iblinkinfo need a card on the fabric, where they run, and rights on it.",
        "clusterwright verify fabric FILE on a laptop",
    ),
    "CW8113": Meaning(
        "A file of these tools cannot be read",
        "It is not there, or not readable for who runs the command.",
        "clusterwright verify fabric FILE --discovered /nowhere",
    ),
    "CW8114": Meaning(
        "A description without racks",
        "What stands where is said by `racks` of pools, and by the rooms of a site.",
        "clusterwright racks of a description without `racks`",
    ),
    "CW8115": Meaning(
        "No such rack", "A rack is named as the description names it.", "racks hall.yaml --rack a99"
    ),
    "CW8305": Meaning(
        "Slurm's state would be left behind",
        "A slurmctld that starts without the state it had ends every job that nodes still run. `up` takes it "
        "along from a controller's own disk to a share; the way back, or to another folder, goes by one "
        "controller: docs/controllers.md.",
        "up site.yaml, where `scheduler.state` was removed",
    ),
    "CW8307": Meaning(
        "Another machine would be the first controller",
        "The first one has the accounting database, and begins the state that others take over. A machine "
        "that is put before it has neither, and would begin with an empty queue.",
        "up site.yaml, where the new controller stands before the old one",
    ),
}

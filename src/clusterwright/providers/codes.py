"""What each code of this package means: `clusterwright explain CW7001`."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.spec.codes import Meaning

CODES: Mapping[str, Meaning] = {
    "CW7001": Meaning(
        "The lab needs Linux",
        "Its nodes are systemd machines in Linux namespaces. `plan`, `diff` and `render` work everywhere.",
        "up lab.yaml on macOS",
    ),
    "CW7002": Meaning(
        "The lab needs root",
        "It mounts file systems and makes network interfaces.",
        "up lab.yaml as an ordinary user",
    ),
    "CW7003": Meaning(
        "A program is missing",
        "The lab is made with the distribution's own tools; --install-deps installs them.",
        "a machine without systemd-container",
    ),
    "CW7004": Meaning(
        "The kernel lacks a feature",
        "Each feature is tried before anything is made: namespaces, overlays, bridges, address translation.",
        "an unprivileged container",
    ),
    "CW7005": Meaning(
        "Not enough disk space",
        "The root file system, the image and the nodes' own layers need some GiB.",
        "up lab.yaml with 2 GiB free",
    ),
    "CW7006": Meaning(
        "Debian's signing keys are missing",
        "Nothing is installed in a node whose signature was not checked.",
        "Ubuntu without debian-archive-keyring",
    ),
    "CW7010": Meaning(
        "A node did not boot",
        "It did not answer over SSH in time; its console says how far it came.",
        "a machine without free memory",
    ),
    "CW7011": Meaning(
        "An address is not in the lab's network",
        "A lab has one network that was free when it was made; nodes live in it.",
        "a plan made for another network",
    ),
    "CW7012": Meaning(
        "No such simulated GPU",
        "A fault can only be given to a GPU that the node plays.",
        "GPU 8 of a node with 8",
    ),
    "CW7013": Meaning("There is no log", "The node was never booted, or is gone.", "logs lab gpu-009"),
    "CW7020": Meaning(
        "A command on this machine failed",
        "The command and its own words are in the finding.",
        "ip link add, refused by the kernel",
    ),
    "CW7030": Meaning(
        "Somebody works on this lab",
        "One writer at a time: two would undo each other's work.",
        "two `up` at the same moment",
    ),
    "CW7031": Meaning(
        "The lab's state cannot be read",
        "The file is damaged. `destroy` finds what is there by name and removes it all the same.",
        "state.json cut in the middle",
    ),
    "CW7040": Meaning(
        "No network is free",
        "A lab never takes a network that this machine has an address in or a route to.",
        "a route to 10.0.0.0/8",
    ),
    "CW7041": Meaning(
        "Forwarding is filtered",
        "The machine's firewall is its owner's; the lab says what is in its way and edits nothing.",
        "a forward chain with policy drop",
    ),
    "CW7050": Meaning(
        "No device number is free",
        "Simulated GPUs use Linux's numbers for local use, never those of a real GPU; all are taken.",
        "other drivers on 120 to 127",
    ),
    "CW7060": Meaning(
        "The root file system could not be built",
        "mmdebstrap's own words are in the finding; mostly the package mirror is out of reach.",
        "no network",
    ),
    "CW7061": Meaning(
        "There is no image of this digest",
        "A lab's lie in $XDG_CACHE_HOME/clusterwright/lab/images, a cloud's have their digest as tag.",
        "image remove 0000000000000000",
    ),
    "CW7062": Meaning(
        "An image is in use",
        "A lab node's root is a layer on its image; a cloud makes a machine anew from it.",
        "image remove, of the image that a lab was made from",
    ),
    "CW7070": Meaning(
        "The lab's store does not answer",
        "Nodes that pull fetch their bundle from a small server on the bridge; its own words are there.",
        "another program on port 8443 of the bridge's address",
    ),
    "CW7080": Meaning(
        "The bucket refused",
        "What nodes pull is published into a bucket, with the credentials that the cloud's tools use here.",
        "credentials without s3:PutObject",
    ),
    "CW7081": Meaning(
        "A machine's console may not be read",
        "It shows the host key that the cloud vouches for; without it no report of the node can be trusted.",
        "credentials without ec2:GetConsoleOutput, or compute.instances.getSerialPortOutput",
    ),
    "CW7082": Meaning(
        "No credentials for a look at the cloud",
        "`plan --live` asks with what the cloud's own tools use here: a profile, a role, a login that lasts.",
        "plan --live after a login that has expired",
    ),
    "CW7090": Meaning(
        "A cloud does not tell of its images",
        "What was built is found by its tag or label, with the credentials of this machine.",
        "credentials without ec2:DescribeImages",
    ),
    "CW7100": Meaning(
        "A stack cannot make these machines",
        "It makes labs, clusters on one cloud, and the machines of a linked site on AWS beside own ones.",
        "sites: {a: {provider: aws, …}, b: {provider: gcp, …}}",
    ),
    "CW7101": Meaning(
        "A cloud's SDK is missing",
        "The SDKs of clouds are large, and who has machines of their own needs none: they are extras.",
        "a stack on aws after `pip install clusterwright[pulumi]`",
    ),
    "CW7102": Meaning(
        "A stack does not say whose signature counts",
        "Machines of a cloud take bundles that this key signed, and no others, from their first boot on.",
        "a stack file without clusterwright:signer",
    ),
    "CW7104": Meaning(
        "No image is built here",
        "A stack with `clusterwright:image` makes machines of a cloud, which become images.",
        "clusterwright:image: true in the stack file of a lab",
    ),
    "CW7103": Meaning(
        "The stack is green before its nodes are accepted",
        "With push the machines are made, and wait for a person; with pull they converge by themselves.",
        "pulumi up of a description on AWS without `converge: pull`",
    ),
    "CW7105": Meaning(
        "A stack does not say how it rolls",
        "`clusterwright:roll` is how many nodes of a pool at a time take up what disturbs their jobs.",
        "clusterwright:roll: slowly in a stack file",
    ),
    "CW7106": Meaning(
        "A stack does not say who pushes",
        "Machines of a cloud beside own ones are converged over SSH, by whoever has the key's other half.",
        "a stack file of clusters/hybrid.yaml without clusterwright:operator",
    ),
    "CW7110": Meaning(
        "Pulumi's engine is not installed",
        "`up` on a cloud drives it: the one on PATH, in ~/.pulumi/bin, or what `make engine` built.",
        "up aws-p5.yaml on a fresh machine",
    ),
    "CW7111": Meaning(
        "The plugin of this package is missing",
        "The engine starts it for what a cloud does not make: the acceptance of the nodes.",
        "a package whose programs were not installed",
    ),
    "CW7112": Meaning(
        "This engine cannot be driven",
        "It is too old to tell what it does while it does it, or is no engine of Pulumi's.",
        "pulumi 3.100 on PATH",
    ),
    "CW7113": Meaning(
        "Nothing would encrypt what is secret in the state",
        "A state that others use as well has a passphrase that they know.",
        "PULUMI_BACKEND_URL=s3://states, without PULUMI_CONFIG_PASSPHRASE_FILE",
    ),
    "CW7114": Meaning(
        "The state is somewhere else",
        "The same cluster in another state would be made a second time.",
        "up aws-p5, with another PULUMI_BACKEND_URL than the first time",
    ),
}

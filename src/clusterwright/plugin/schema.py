"""The package's Pulumi schema: what `pulumi package get-schema clusterwright` says."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from clusterwright import __version__

LAB = "clusterwright:lab:Cluster"
ACCEPTANCE = "clusterwright:pull:Acceptance"
INPUTS = {
    "file": "Absolute path of the cluster's description.",
}
OUTPUTS = {
    "handoff": "The hand-off document, as text: the file that the inventory plugin reads.",
    "login": "Address of the first login node.",
    "nodes": "State of every node by name, as last seen.",
}
_FROM_FILE = {
    "name": "Name of the cluster; another name is another cluster.",
    "description": "The description's text.",
    "digest": "Digest of everything else that `up` brings to nodes.",
}


_ASKED = {
    "file": "Absolute path of the cluster's description.",
    "handoff": "The hand-off document, as text, with what only the cloud knew.",
    "provider": "The cloud that holds the bucket and vouches for host keys, such as `aws`.",
    "region": "Of bucket and machines.",
    "bucket": "Name of the bucket that nodes pull from.",
    "url": "Address of the bucket as nodes see it.",
    "signer": "The public key whose signature nodes trust.",
    "machines": "IDs of machines by node.",
    "groups": "By pool, the group whose members are told the names of its nodes.",
    "becomes": "`image` for machines that are to be copied; without it, nodes.",
    "roll": "How many nodes of a pool at a time take up what disturbs jobs; without it, all of them.",
}
_SAID = {
    "digest": "Digest of everything but the hand-off that nodes become.",
    "nodes": "By node `accepted`, or what it is instead and why.",
    "gates": "`accepted`, or each gate of the cluster as a whole that failed, with node and remedy.",
    "hostKeys": "By node, the public SSH host key that its machine showed.",
    "members": "By node, the ID of the machine of a group that has its name.",
    "addresses": "By node, the address of that machine.",
}
_NUMBERS = {"roll"}
_OPTIONAL = {"becomes", "groups", "roll", "members", "addresses"}
_MAPS = {"machines", "groups", "nodes", "hostKeys", "members", "addresses"}


def _property(name: str, description: str) -> dict[str, Any]:
    if name not in _MAPS:
        return {"type": "integer" if name in _NUMBERS else "string", "description": description}
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": description}


def _resource(
    description: str, inputs: dict[str, str], others: dict[str, str], optional: Collection[str] = ()
) -> dict[str, Any]:
    outputs = {**inputs, **others}
    return {
        "description": description,
        "inputProperties": {name: _property(name, text) for name, text in inputs.items()},
        "requiredInputs": sorted(inputs.keys() - {*optional}),
        "properties": {name: _property(name, text) for name, text in outputs.items()},
        "required": sorted(outputs.keys() - {*optional}),
    }


def schema() -> dict[str, Any]:
    lab = "A cluster of simulated nodes on this machine."
    acceptance = "Nodes that converge themselves: published for, and waited for until each is accepted."
    return {
        "name": "clusterwright",
        "version": __version__,
        "description": "Slurm GPU clusters from one description",
        "license": "Apache-2.0",
        "resources": {
            LAB: _resource(lab, INPUTS, {**_FROM_FILE, **OUTPUTS}),
            ACCEPTANCE: _resource(acceptance, _ASKED, _SAID, _OPTIONAL),
        },
    }

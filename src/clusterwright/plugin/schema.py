"""The package's Pulumi schema: what `pulumi package get-schema clusterwright` says."""

from __future__ import annotations

from typing import Any

from clusterwright import __version__

RESOURCE = "clusterwright:lab:Cluster"
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


def _property(name: str, description: str) -> dict[str, Any]:
    text = {"type": "string", "description": description}
    if name != "nodes":
        return text
    return {"type": "object", "additionalProperties": {"type": "string"}, "description": description}


def schema() -> dict[str, Any]:
    outputs = {**INPUTS, **_FROM_FILE, **OUTPUTS}
    return {
        "name": "clusterwright",
        "version": __version__,
        "description": "Slurm GPU clusters from one description",
        "license": "Apache-2.0",
        "resources": {
            RESOURCE: {
                "description": "A cluster of simulated nodes on this machine.",
                "inputProperties": {name: _property(name, text) for name, text in INPUTS.items()},
                "requiredInputs": sorted(INPUTS),
                "properties": {name: _property(name, text) for name, text in outputs.items()},
                "required": sorted(outputs),
            }
        },
    }

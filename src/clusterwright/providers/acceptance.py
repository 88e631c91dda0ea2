"""The acceptance of a cluster as a resource: without it the stack fails, node and cause named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pulumi

from clusterwright import __version__


class Acceptance(pulumi.CustomResource):
    """Publishes what nodes pull, and waits until each passed its gates, and then the cluster its own."""

    def __init__(
        self,
        name: str,
        *,
        file: str | os.PathLike[str],
        handoff: pulumi.Input[str],
        provider: pulumi.Input[str],
        region: pulumi.Input[str],
        bucket: pulumi.Input[str],
        url: pulumi.Input[str],
        signer: pulumi.Input[str],
        machines: pulumi.Input[dict[str, str]],
        groups: pulumi.Input[Mapping[str, str]] | None = None,
        becomes: pulumi.Input[str] | None = None,
        roll: pulumi.Input[int] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`machines`: node → ID; `groups`: pool → group whose members are told the names of its nodes;
        `url`: the bucket as nodes see it; `signer`: the key that they trust; `becomes`: `image` for machines
        that are to be copied, and nothing for nodes; `roll`: so many of a pool at a time take up what
        disturbs jobs, and without it all of them, each after its own jobs."""
        properties = {
            "file": str(Path(file).absolute()),
            "handoff": handoff,
            "provider": provider,
            "region": region,
            "bucket": bucket,
            "url": url,
            "signer": signer,
            "machines": machines,
            "groups": groups,
            "becomes": becomes,
            "roll": roll,
            "digest": None,
            "nodes": None,
            "gates": None,
            "hostKeys": None,
            "members": None,
            "addresses": None,
        }
        options = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=__version__), opts)
        super().__init__("clusterwright:pull:Acceptance", name, properties, options)

    @property
    @pulumi.getter
    def nodes(self) -> pulumi.Output[dict[str, str]]:
        """By node `accepted`, or what it is instead and why."""
        return cast("pulumi.Output[dict[str, str]]", pulumi.get(self, "nodes"))

    @property
    @pulumi.getter
    def addresses(self) -> pulumi.Output[dict[str, str]]:
        """By node, those that members of groups have."""
        return cast("pulumi.Output[dict[str, str]]", pulumi.get(self, "addresses"))

    @property
    @pulumi.getter
    def gates(self) -> pulumi.Output[str]:
        """`accepted`, or each gate of the cluster as a whole that failed."""
        return cast("pulumi.Output[str]", pulumi.get(self, "gates"))

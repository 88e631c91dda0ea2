"""The acceptance of a cluster as a resource: without it the stack fails, node and cause named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pulumi

from clusterwright import __version__


class Acceptance(pulumi.CustomResource):
    """Publishes what the nodes pull, and waits until each reported that it is that and passed its gates."""

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
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`machines`: node → ID; `url`: the bucket as nodes see it; `signer`: the key that they trust."""
        properties = {
            "file": str(Path(file).absolute()),
            "handoff": handoff,
            "provider": provider,
            "region": region,
            "bucket": bucket,
            "url": url,
            "signer": signer,
            "machines": machines,
            "digest": None,
            "nodes": None,
            "hostKeys": None,
        }
        options = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=__version__), opts)
        super().__init__("clusterwright:pull:Acceptance", name, properties, options)

    @property
    @pulumi.getter
    def nodes(self) -> pulumi.Output[dict[str, str]]:
        """By node `accepted`, or what it is instead and why."""
        return cast("pulumi.Output[dict[str, str]]", pulumi.get(self, "nodes"))

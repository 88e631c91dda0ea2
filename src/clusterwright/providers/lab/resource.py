"""A lab as a resource of a Pulumi program; the plugin `pulumi-resource-clusterwright` gives it its life."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pulumi

from clusterwright import __version__


class Cluster(pulumi.CustomResource):
    """A cluster of simulated nodes on this machine, kept as the description in `file` says."""

    def __init__(
        self, name: str, file: str | os.PathLike[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        properties = {"file": str(Path(file).absolute()), "handoff": None, "login": None, "nodes": None}
        options = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(version=__version__), opts)
        super().__init__("clusterwright:lab:Cluster", name, properties, options)

    @property
    @pulumi.getter
    def handoff(self) -> pulumi.Output[str]:
        """The hand-off document, as text."""
        return cast("pulumi.Output[str]", pulumi.get(self, "handoff"))

    @property
    @pulumi.getter
    def login(self) -> pulumi.Output[str]:
        """Address of the first login node."""
        return cast("pulumi.Output[str]", pulumi.get(self, "login"))

    @property
    @pulumi.getter
    def nodes(self) -> pulumi.Output[dict[str, str]]:
        """State of every node by name."""
        return cast("pulumi.Output[dict[str, str]]", pulumi.get(self, "nodes"))

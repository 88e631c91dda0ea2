"""The Pulumi provider plugin `pulumi-resource-clusterwright`: the verbs of `operate` as a resource's life."""

from __future__ import annotations

import sys


def main() -> None:
    """Started by the Pulumi engine with its address as argument; prints the port that it serves on."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("This is a Pulumi provider plugin: the Pulumi engine starts it. See docs/pulumi.md")

    from clusterwright.plugin.engine import Engine
    from clusterwright.plugin.operated import OperatedLabs
    from clusterwright.plugin.resource import LabProvider
    from clusterwright.plugin.server import serve

    engine = Engine(sys.argv[1])
    serve(LabProvider(OperatedLabs(), engine), engine)

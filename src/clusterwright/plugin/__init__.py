"""The Pulumi provider plugin `pulumi-resource-clusterwright`: the verbs of `operate` as a resource's life."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Started by the Pulumi engine with its address as argument; prints the port that it serves on."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("This is a Pulumi provider plugin: the Pulumi engine starts it. See docs/pulumi.md")

    # Read when grpc is imported: its fork handlers end children of a process with running channels, here
    # ansible-playbook (gRPC, doc/fork_support.md).
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

    from clusterwright.plugin.acceptance import AcceptanceProvider
    from clusterwright.plugin.engine import Engine
    from clusterwright.plugin.kinds import Kinds
    from clusterwright.plugin.operated import OperatedLabs
    from clusterwright.plugin.resource import LabProvider
    from clusterwright.plugin.schema import ACCEPTANCE, LAB
    from clusterwright.plugin.server import serve
    from clusterwright.plugin.settled import SettledClusters

    engine = Engine(sys.argv[1])
    labs, acceptances = LabProvider(OperatedLabs(), engine), AcceptanceProvider(SettledClusters(), engine)
    serve(Kinds({LAB: labs, ACCEPTANCE: acceptances}), engine)

"""What the controller must not lose, on a disk of its own."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp


class State(pulumi.ComponentResource):
    """Outlives the controller's machine: its type and image can be replaced without losing a job."""

    disk: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        zone: str,
        kind: str,
        size_gib: int,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:State", name, None, opts)
        full = f"{name}-state"
        made = gcp.compute.Disk(
            full,
            name=full,
            zone=zone,
            type=kind,
            size=size_gib,
            labels={"clusterwright-volume": "state"},
            # Queue, accounting and keys: `pulumi destroy` refuses until they are unprotected.
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        self.disk = made.id
        self.register_outputs({"disk": self.disk})

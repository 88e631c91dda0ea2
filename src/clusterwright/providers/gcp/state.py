"""The disk of a node that outlives its machine: Slurm's state and database, and the files that it serves."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

DEVICE = "kept"
"""Name under which a machine has it; Google's own udev rules make a link of it."""
PATH = f"/dev/disk/by-id/google-{DEVICE}"


class KeptDisk(pulumi.ComponentResource):
    """In the zone of the node; encrypted by Google, as every disk there is."""

    disk: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        zone: str,
        kind: str,
        gib: int,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:KeptDisk", name, None, opts)
        full = f"{name}-kept"
        made = gcp.compute.Disk(
            full,
            name=full,
            zone=zone,
            type=kind,
            size=gib,
            # Jobs, accounting and home directories: a slip in the description must not take them away.
            opts=pulumi.ResourceOptions(parent=self, protect=True, retain_on_delete=True),
        )
        self.disk = made.id
        self.register_outputs({"disk": self.disk})

"""The disk of a node that outlives its machine: Slurm's state and database, and the files that it serves."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

from clusterwright.providers.gcp.snapshots import Snapshots

DEVICE = "kept"
"""Name under which a machine has it; Google's own udev rules make a link of it."""
PATH = f"/dev/disk/by-id/google-{DEVICE}"


class KeptDisk(pulumi.ComponentResource):
    """In the zone of the node; encrypted, as every disk there is, by Google's keys or one of one's own."""

    disk: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        zone: str,
        kind: str,
        gib: int,
        kms_key: str | None = None,
        snapshot: str | None = None,
        snapshots: Snapshots | None = None,
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
            snapshot=snapshot,
            disk_encryption_key=gcp.compute.DiskDiskEncryptionKeyArgs(kms_key_self_link=kms_key)
            if kms_key
            else None,
            opts=pulumi.ResourceOptions(
                parent=self,
                # Jobs, accounting and home directories: a slip in the description must not take them away.
                protect=True,
                retain_on_delete=True,
                # What it was made from says nothing of what is on it today.
                ignore_changes=["snapshot"],
            ),
        )
        if snapshots is not None:
            snapshots.add(full, made.name)
        self.disk = made.id
        self.register_outputs({"disk": self.disk})

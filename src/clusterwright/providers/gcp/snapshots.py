"""A snapshot of each kept disk, every day."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_gcp as gcp

_AT = "04:00"
"""UTC: Compute Engine documentation, snapshot schedules."""


class Snapshots(pulumi.ComponentResource):
    """A snapshot schedule that kept disks are attached to.

    Snapshots are no resources of the stack: when it goes they stay, and no schedule ends them any more."""

    def __init__(
        self,
        name: str,
        *,
        zone: str,
        region: str,
        days: int,
        labels: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`days`: how long each is kept; `labels`: of each."""
        super().__init__("clusterwright:gcp:Snapshots", name, None, opts)
        self._zone, self._own = zone, pulumi.ResourceOptions(parent=self)
        # Two hyphens: no placement policy, which has the name of its pool, is called so.
        full = f"{name}--snapshots"
        policy = gcp.compute.ResourcePolicySnapshotSchedulePolicyArgs
        self._policy = gcp.compute.ResourcePolicy(
            full,
            name=full,
            region=region,
            snapshot_schedule_policy=policy(
                schedule=gcp.compute.ResourcePolicySnapshotSchedulePolicyScheduleArgs(
                    daily_schedule=gcp.compute.ResourcePolicySnapshotSchedulePolicyScheduleDailyScheduleArgs(
                        days_in_cycle=1, start_time=_AT
                    )
                ),
                retention_policy=gcp.compute.ResourcePolicySnapshotSchedulePolicyRetentionPolicyArgs(
                    max_retention_days=days, on_source_disk_delete="KEEP_AUTO_SNAPSHOTS"
                ),
                snapshot_properties=gcp.compute.ResourcePolicySnapshotSchedulePolicySnapshotPropertiesArgs(
                    labels=dict(labels), storage_locations=region
                ),
            ),
            opts=self._own,
        )
        self.register_outputs({})

    def add(self, disk: str, made: pulumi.Input[str]) -> None:
        """`made`: the name of the disk, once it is there."""
        gcp.compute.DiskResourcePolicyAttachment(
            f"{disk}-snapshots", name=self._policy.name, disk=made, zone=self._zone, opts=self._own
        )

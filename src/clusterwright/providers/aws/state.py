"""The disk of a node that outlives its machine: Slurm's state and database, and the files that it serves."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.providers.aws.snapshots import KEPT_TAG
from clusterwright.providers.aws.tags import named

_DEVICE = "/dev/sdf"


class KeptVolume(pulumi.ComponentResource):
    """An encrypted volume in the zone of the node."""

    device: pulumi.Output[str]
    """Where the node finds it, whatever number its kernel gave it."""

    def __init__(
        self,
        name: str,
        *,
        zone: str,
        gib: int,
        kms_key: str | None = None,
        snapshot: str | None = None,
        snapshots: str | None = None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`snapshot`: what it is made from; `snapshots`: the cluster whose policy makes them, if any."""
        super().__init__("clusterwright:aws:KeptVolume", name, None, opts)
        self._name, self._own = name, pulumi.ResourceOptions(parent=self)
        lasting = pulumi.ResourceOptions(
            parent=self,
            # Jobs, accounting and home directories: a slip in the description must not take them away.
            protect=True,
            retain_on_delete=True,
            # What it was made from says nothing of what is on it today.
            ignore_changes=["snapshotId"],
        )
        self._volume = aws.ebs.Volume(
            name,
            availability_zone=zone,
            size=gib,
            snapshot_id=snapshot,
            type="gp3",
            encrypted=True,
            kms_key_id=kms_key,
            tags={**named(tags, f"{name}-kept"), **({KEPT_TAG: snapshots} if snapshots else {})},
            opts=lasting,
        )
        self.device = self._volume.id.apply(_by_id)
        self.register_outputs({"device": self.device})

    def attach(self, instance: pulumi.Input[str]) -> None:
        """Another machine of the name gets it after the one before was stopped, so that nothing is torn."""
        aws.ec2.VolumeAttachment(
            self._name,
            device_name=_DEVICE,
            instance_id=instance,
            volume_id=self._volume.id,
            stop_instance_before_detaching=True,
            # The disk has one place: the new machine cannot have it before the old one gave it back.
            opts=pulumi.ResourceOptions.merge(self._own, pulumi.ResourceOptions(delete_before_replace=True)),
        )


def _by_id(volume: str) -> str:
    """Amazon EBS User Guide, NVMe volumes: the serial number is the ID without its hyphen."""
    return f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{volume.replace('-', '')}"

"""What machines become: an image for each builder, named by its digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pulumi
import pulumi_gcp as gcp

from clusterwright.plan.builders import Recipe
from clusterwright.plan.gcp.names import machine_name
from clusterwright.plan.images import LABEL, image_name


class Images(pulumi.ComponentResource):
    """Images of builders that sealed themselves, each by way of a snapshot of the disk that still runs."""

    ids: Mapping[str, pulumi.Output[str]]
    """By digest."""

    def __init__(
        self,
        name: str,
        *,
        cluster: str,
        project: str,
        zone: str,
        recipes: Iterable[Recipe],
        after: pulumi.Resource,
        kms_key: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`after`: what says that they are done, sealed and on the disk."""
        super().__init__("clusterwright:gcp:Images", name, None, opts)
        self._cluster, self._zones = cluster, f"projects/{project}/zones/{zone}"
        self._key = kms_key
        self._own = pulumi.ResourceOptions(parent=self, depends_on=[after])
        self.ids = {one.digest: self._image(one) for one in recipes}
        self.register_outputs({"ids": dict(self.ids)})

    def _image(self, recipe: Recipe) -> pulumi.Output[str]:
        name, own = image_name(recipe.digest), self._own
        labels = {LABEL: recipe.digest, "clusterwright-cluster": self._cluster}
        disk = machine_name(self._cluster, recipe.builder)
        copied = gcp.compute.Snapshot(
            name,
            name=name,
            # The boot disk of an instance has the instance's name.
            source_disk=f"{self._zones}/disks/{disk}",
            snapshot_encryption_key=gcp.compute.SnapshotSnapshotEncryptionKeyArgs(kms_key_self_link=self._key)
            if self._key
            else None,
            labels=labels,
            opts=own,
        )
        made = gcp.compute.Image(
            name,
            name=name,
            source_snapshot=copied.self_link,
            image_encryption_key=gcp.compute.ImageImageEncryptionKeyArgs(kms_key_self_link=self._key)
            if self._key
            else None,
            labels=labels,
            # The stack is the builders' alone: an image goes on request, with `clusterwright image remove`.
            opts=pulumi.ResourceOptions.merge(own, pulumi.ResourceOptions(retain_on_delete=True)),
        )
        return made.self_link

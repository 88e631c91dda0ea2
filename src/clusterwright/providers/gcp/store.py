"""The bucket that nodes get their bundle from, and leave their reports in."""

from __future__ import annotations

from functools import partial

import pulumi
import pulumi_gcp as gcp

_MAY = {
    "read": ("roles/storage.objectViewer", ("current.json", "objects/", "secrets/")),
    "report": ("roles/storage.objectUser", ("reports/",)),
}
"""Writing a report anew is deleting the old one, to Google."""
_NAMES = "names/"
"""By number of a machine that is one of a group."""


class Store(pulumi.ComponentResource):
    """Reached over HTTPS with the token of the nodes' own account; never public.

    What is in it is signed, and secrets are encrypted to their node: reading it gives nobody a key.
    """

    bucket: pulumi.Output[str]
    """Name of the bucket."""
    url: pulumi.Output[str]
    """Address that stands in the user data of nodes."""

    def __init__(
        self,
        name: str,
        *,
        bucket: str,
        region: str,
        account: pulumi.Input[str],
        names: bool = False,
        kms_key: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`account`: e-mail of the nodes' service account; `names`: whether machines ask who they are."""
        super().__init__("clusterwright:gcp:Store", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        made = gcp.storage.Bucket(
            name,
            name=bucket,
            location=region,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            encryption=gcp.storage.BucketEncryptionArgs(default_kms_key_name=kms_key) if kms_key else None,
            # Everything in it can be published again from the description.
            force_destroy=True,
            opts=own,
        )
        for may, (role, always) in _MAY.items():
            prefixes = (*always, _NAMES) if names and may == "read" else always
            gcp.storage.BucketIAMMember(
                f"{name}-{may}",
                bucket=made.name,
                role=role,
                member=pulumi.Output.concat("serviceAccount:", account),
                condition=gcp.storage.BucketIAMMemberConditionArgs(
                    title=may, expression=made.name.apply(partial(_below, prefixes))
                ),
                opts=own,
            )
        self.bucket = made.name
        self.url = pulumi.Output.concat("https://storage.googleapis.com/", made.name)
        self.register_outputs({"bucket": self.bucket, "url": self.url})


def _below(prefixes: tuple[str, ...], bucket: str) -> str:
    objects = f"projects/_/buckets/{bucket}/objects"
    return " || ".join(f'resource.name.startsWith("{objects}/{prefix}")' for prefix in prefixes)

"""The bucket that nodes get their bundle from, and leave their reports in."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.providers.aws.bucket import policy
from clusterwright.providers.aws.tags import named


class Store(pulumi.ComponentResource):
    """Reached over HTTPS from inside the network only, without credentials on the nodes.

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
        s3_endpoint: pulumi.Input[str],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:Store", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        bucket = aws.s3.Bucket(
            name,
            # Everything in it can be published again from the description.
            force_destroy=True,
            tags=named(tags, name),
            opts=own,
        )
        aws.s3.BucketPublicAccessBlock(
            name,
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=own,
        )
        aws.s3.BucketOwnershipControls(
            name,
            bucket=bucket.id,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=own,
        )
        text = pulumi.Output.all(bucket.bucket, s3_endpoint).apply(lambda known: _policy(*known))
        aws.s3.BucketPolicy(name, bucket=bucket.id, policy=text, opts=own)
        self.bucket = bucket.bucket
        self.url = pulumi.Output.concat("https://", bucket.bucket_regional_domain_name)
        self.register_outputs({"bucket": self.bucket, "url": self.url})


def _policy(bucket: str, endpoint: str) -> str:
    return json.dumps(policy(bucket, endpoint), sort_keys=True)

"""Buckets as directories: what they are not for, and whose identity opens them."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.plan.outline import Outline
from clusterwright.spec.buckets import BUCKETS, S3, Gcs

_PEOPLES = "/home"


def _buckets(outline: Outline) -> Iterator[tuple[str, S3 | Gcs]]:
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, BUCKETS):
            yield mount, share


@rule(
    "CW1293",
    "People's homes in a bucket",
    source="Mountpoint for Amazon S3, SEMANTICS.md; Cloud Storage FUSE documentation, differences from POSIX",
    example="storage: {shares: {/home: {kind: s3, bucket: example-homes}}}",
)
def home_in_a_bucket(outline: Outline) -> Iterator[Problem]:
    """A bucket has no owners, no locks and no appending: shells, editors and SSH keys do not work there."""
    for mount, share in _buckets(outline):
        if mount == _PEOPLES or mount.startswith(f"{_PEOPLES}/"):
            what = f"'{share.kind}' has neither owners nor locks, and people live at '{mount}'"
            yield Problem(
                f"storage.shares.{mount}.kind", what, "Take a file system, and mount the bucket elsewhere"
            )


@rule(
    "CW1294",
    "A bucket that no identity opens",
    source="nodes open a bucket as what they are to its cloud: an instance profile, a service account",
    example="site: {provider: gcp, …}, storage: {shares: {/data: {kind: s3, bucket: example-data}}}",
)
def bucket_of_another_cloud(outline: Outline) -> Iterator[Problem]:
    """No key lies on a node, so a bucket is mounted in the cloud that it is in. A lab plays it."""
    providers = {site.provider for site in outline.sites.values()}
    for mount, share in _buckets(outline):
        own = "aws" if isinstance(share, S3) else "gcp"
        if providers and not providers <= {own, "lab"}:
            others = ", ".join(sorted(providers - {own}))
            what = f"'{share.kind}' is opened by machines on '{own}', and there are some on '{others}'"
            yield Problem(f"storage.shares.{mount}.kind", what, "Take a kind of share that the site has")


@rule(
    "CW1295",
    "One bucket, once to write and once to read",
    source="each mount keeps what it knows of the bucket to itself",
    example="/a: {kind: s3, bucket: data, writable: true}, /b: {kind: s3, bucket: data}",
)
def bucket_twice(outline: Outline) -> Iterator[Problem]:
    """What is written through the one is seen through the other some time later, and permissions are the
    node's: whoever may write through the one could through the other."""
    seen: dict[tuple[str, str], tuple[str, bool]] = {}
    for mount, share in _buckets(outline):
        first, writable = seen.setdefault((share.kind, share.bucket), (mount, share.writable))
        if writable != share.writable:
            what = f"the bucket is {'writable' if writable else 'only read'} at '{first}'"
            yield Problem(f"storage.shares.{mount}.writable", what, "Say the same at both, or mount it once")

"""Buckets as directories: what is read often, large and whole, and written once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from clusterwright.spec.base import Described

S3_BUCKET = r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
GOOGLE_BUCKET = r"^[a-z0-9][a-z0-9_.-]{1,220}[a-z0-9]$"
FOLDER = r"^[A-Za-z0-9_.-]{1,255}(/[A-Za-z0-9_.-]{1,255}){0,30}$"


class _Bucket(Described):
    folder: Annotated[str, Field(pattern=FOLDER)] | None = None
    """Folder of the bucket that is mounted instead of all of it."""
    writable: StrictBool = False
    """Whether jobs may write and delete there, every user all of it: a bucket knows no owners. Files are
    written whole, from beginning to end, by one node at a time; there are no locks, links and appending."""


class S3(_Bucket):
    """A bucket of Amazon S3 that exists, mounted by Mountpoint on compute and login nodes."""

    kind: Literal["s3"]
    """A bucket of Amazon S3."""
    bucket: Annotated[str, Field(pattern=S3_BUCKET)]
    """Its name. Nodes get permissions for it and no other."""


class Gcs(_Bucket):
    """A bucket of Google Cloud Storage that exists, mounted by its FUSE on compute and login nodes."""

    kind: Literal["gcs"]
    """A bucket of Google Cloud Storage."""
    bucket: Annotated[str, Field(pattern=GOOGLE_BUCKET)]
    """Its name. Nodes get permissions for it and no other."""


BUCKETS = (S3, Gcs)

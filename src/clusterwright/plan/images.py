"""Images that clusterwright builds: how descriptions and clouds name them."""

from __future__ import annotations

from clusterwright.spec.pool import BUILT, Pool

TAG = "clusterwright:image"
"""Of an image on AWS, and of the snapshots below it."""
LABEL = "clusterwright-image"
"""The same on Google Cloud."""
PARAMETER = "/clusterwright/images/"
"""Where AWS Systems Manager keeps the ID of the image with a digest, so that a description needs none."""


def is_built(pool: Pool) -> bool:
    return bool(pool.image) and str(pool.image).partition(":")[0] == BUILT


def pinned(pool: Pool) -> str:
    """The digest that a description names; empty where it takes whichever its software makes."""
    return str(pool.image).partition(":")[2] if is_built(pool) else ""


def image_name(digest: str) -> str:
    return f"clusterwright-{digest}"


def aws_reference(digest: str) -> str:
    """As a launch template names it; EC2 refuses a machine whose parameter is not there."""
    return f"resolve:ssm:{PARAMETER}{digest}"


def gcp_reference(project: str, digest: str) -> str:
    return f"projects/{project}/global/images/{image_name(digest)}"

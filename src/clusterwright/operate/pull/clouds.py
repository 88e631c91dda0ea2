"""Where nodes on a cloud find their bundle, and who vouches for their host keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clusterwright.operate.pull.crowds import Crowds
from clusterwright.operate.pull.introduced import Ask
from clusterwright.operate.pull.store import Store


def store_of(provider: str, region: str, bucket: str, url: str) -> Store:
    """With the credentials that the cloud's own tools would use on this machine."""
    if provider == "gcp":
        from clusterwright.providers.gcp.bucket import Bucket as GoogleBucket

        return Store(GoogleBucket(bucket), url)
    from clusterwright.providers.aws.bucket import Bucket

    return Store(Bucket(bucket, region), url)


def console_texts(provider: str, region: str) -> Callable[[str], str]:
    """What a machine printed, by its ID. Raises Refused where the console may not be read."""
    if provider == "gcp":
        from clusterwright.providers.gcp.console import Consoles as GoogleConsoles

        return GoogleConsoles().text
    from clusterwright.providers.aws.console import Consoles

    return Consoles(region).text


def crowds_of(provider: str, region: str, cluster: str) -> Crowds:
    if provider == "gcp":
        from clusterwright.providers.gcp.members import InstanceGroups

        return InstanceGroups(cluster)
    from clusterwright.providers.aws.members import AutoScaling

    return AutoScaling(region)


def consoles_of(provider: str, region: str) -> Ask:
    if provider == "gcp":
        from clusterwright.providers.gcp.console import Consoles as GoogleConsoles
        from clusterwright.providers.gcp.console import keys_of as google_keys_of

        return partial(google_keys_of, GoogleConsoles())
    from clusterwright.providers.aws.console import Consoles, keys_of

    return partial(keys_of, Consoles(region))

"""Clouds: tags, labels and names that a cloud keeps for itself."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import AwsSite, GcpSite

_OUR_TAGS = ("clusterwright:", "name")
_OUR_LABELS = "clusterwright-"
_OWN = 6
"""Tags and labels of the project's own that one resource may have."""
_MOST_TAGS, _MOST_LABELS = 50, 64


def _tags(outline: Outline) -> Iterator[tuple[str, AwsSite]]:
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, AwsSite))


def _labels(outline: Outline) -> Iterator[tuple[str, GcpSite]]:
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, GcpSite))


@rule(
    "CW1511",
    "A tag that is not for a description to set",
    source="Amazon EC2 User Guide, tag restrictions: the prefix aws: is reserved",
    example="site: {provider: aws, tags: {'aws:owner': me}, …}",
)
def reserved_tag(outline: Outline) -> Iterator[Problem]:
    """AWS refuses its own; those of the project say which cluster, pool and node a resource belongs to."""
    for name, site in _tags(outline):
        for key in site.tags:
            whose = "AWS" if key.lower().startswith("aws:") else "clusterwright"
            if whose == "AWS" or key.lower().startswith(_OUR_TAGS[0]) or key.lower() == _OUR_TAGS[1]:
                what = f"the tag '{key}' is set by {whose}"
                yield Problem(site_field(name, f"tags.{key}"), what, "Remove it, or name it otherwise")


@rule(
    "CW1512",
    "Two tags that IAM takes for one",
    source="AWS IAM User Guide, tag IAM resources: keys are not case-sensitive",
    example="site: {provider: aws, tags: {team: a, Team: b}, …}",
)
def tag_in_two_spellings(outline: Outline) -> Iterator[Problem]:
    """Everything else is made with both, and then the nodes' role is refused."""
    for name, site in _tags(outline):
        seen: dict[str, str] = {}
        for key in site.tags:
            other = seen.setdefault(key.lower(), key)
            if other != key:
                what = f"'{key}' and '{other}' differ in their case only"
                yield Problem(site_field(name, f"tags.{key}"), what, "Keep one of them")


@rule(
    "CW1513",
    "More tags than a resource has",
    source="Amazon EC2 User Guide, tag restrictions: 50 tags; Google Cloud, labels: 64 of a resource",
    example="site: {provider: aws, tags: {… 45 tags …}, …}",
)
def too_many_tags(outline: Outline) -> Iterator[Problem]:
    """The project's own tags come on top, and the first resource with all of them is refused."""
    for name, aws in _tags(outline):
        if len(aws.tags) > _MOST_TAGS - _OWN:
            what = f"{len(aws.tags)} tags, and {_OWN} of the project's own: AWS takes {_MOST_TAGS}"
            yield Problem(site_field(name, "tags"), what, f"Keep {_MOST_TAGS - _OWN} or fewer")
    for name, gcp in _labels(outline):
        if len(gcp.labels) > _MOST_LABELS - _OWN:
            what = f"{len(gcp.labels)} labels, and {_OWN} of the project's own: {_MOST_LABELS} are taken"
            yield Problem(site_field(name, "labels"), what, f"Keep {_MOST_LABELS - _OWN} or fewer")


@rule(
    "CW1514",
    "A label that is not for a description to set",
    source="Google Cloud, labels: keys that begin with goog are Google's own",
    example="site: {provider: gcp, labels: {goog-team: vision}, …}",
)
def reserved_label(outline: Outline) -> Iterator[Problem]:
    """Google writes its own there; those of the project say which cluster, pool and node a resource is of."""
    for name, site in _labels(outline):
        for key in site.labels:
            if key.startswith(("goog", _OUR_LABELS)):
                whose = "Google" if key.startswith("goog") else "clusterwright"
                what = f"the label '{key}' is set by {whose}"
                yield Problem(site_field(name, f"labels.{key}"), what, "Remove it, or name it otherwise")


@rule(
    "CW1515",
    "A name that Google keeps",
    source="Cloud Storage documentation, bucket names: no prefix goog, nothing that contains google",
    example="cluster: google-lab, site: {provider: gcp, …}",
)
def name_of_googles(outline: Outline) -> Iterator[Problem]:
    """The cluster's bucket is named after it, and is refused when networks and file systems are made."""
    name = outline.spec.cluster
    if any(_labels(outline)) and (name.startswith("goog") or "google" in name):
        yield Problem("cluster", f"no bucket can be called '{name}-…'", "Name the cluster otherwise")


_KEPT = {
    "sg-": "no security group",
    "xn--": "no bucket",
    "sthree-": "no bucket",
    "amzn-s3-demo-": "no bucket",
}


@rule(
    "CW1516",
    "A beginning that AWS keeps",
    source="Amazon EC2 API Reference, CreateSecurityGroup; Amazon S3 User Guide, bucket naming rules",
    example="cluster: sg-lab, site: {provider: aws, …}",
)
def name_of_amazons(outline: Outline) -> Iterator[Problem]:
    """Resources are named after the cluster; the first one with such a name is refused."""
    for beginning, what in _KEPT.items() if any(_tags(outline)) else ():
        if outline.spec.cluster.startswith(beginning):
            told = f"{what} of AWS can be called '{beginning}…'"
            yield Problem("cluster", told, "Name the cluster otherwise")


@rule(
    "CW1517",
    "A load balancer that would be called internal",
    source="Elastic Load Balancing API Reference, CreateLoadBalancer: a name does not begin with internal-",
    example="cluster: internal-lab, site: {provider: aws, ssh_from: […], …}",
)
def balancer_called_internal(outline: Outline) -> Iterator[Problem]:
    """The way in is named after the cluster, and is refused after everything before it is made."""
    for _, site in _tags(outline):
        if site.ssh_from and outline.spec.cluster.startswith("internal-"):
            what = "no load balancer can be called 'internal-…'"
            yield Problem("cluster", what, "Name the cluster otherwise, or leave `ssh_from` out")


@rule(
    "CW1518",
    "A project ID with a word that Google keeps",
    source="Google Cloud Resource Manager documentation: google, null, undefined and ssl are restricted",
    example="site: {provider: gcp, project: my-google-lab, …}",
)
def restricted_project(outline: Outline) -> Iterator[Problem]:
    """There is no such project: it was mistyped, or its name was taken for its ID."""
    for name, site in _labels(outline):
        word = next((one for one in ("google", "null", "undefined", "ssl") if one in site.project), None)
        if word:
            what = f"no ID of a project contains '{word}'"
            yield Problem(site_field(name, "project"), what, "Write what `gcloud config get project` tells")

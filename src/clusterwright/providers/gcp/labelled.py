"""What has the label of a cluster on Google Cloud, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.gcp.live.project import Project
from clusterwright.providers.leftover import Leftover

_LABEL = "clusterwright-cluster"
_COMPUTE = {
    "instances": "compute.instances.list",
    "disks": "compute.disks.list",
    "addresses": "compute.addresses.list",
}
_SERVED = {"file": "file.instances.list", "lustre": "lustre.instances.list"}


def labelled(project: Project, cluster: str) -> tuple[Leftover, ...]:
    """Of kinds that keep or cost: machines, disks, snapshots, addresses, file systems, buckets.

    Raises NoAnswer."""
    parts = (
        _compute(project, cluster),
        _snapshots(project, cluster),
        _served(project, cluster),
        _buckets(project, cluster),
    )
    return tuple(sorted({one for part in parts for one in part}))


def _compute(project: Project, cluster: str) -> Iterator[Leftover]:
    for kind, permission in _COMPUTE.items():
        path = f"compute/v1/projects/{project.name}/aggregated/{kind}"
        for page in _pages(project, "compute", path, permission, filter=f"labels.{_LABEL}={cluster}"):
            for place in page.get("items", {}).values():
                for row in (one for one in place.get(kind, ()) if not _is_of_machine(kind, one)):
                    machine = str(row.get("machineType", "")).rpartition("/")[2]
                    yield Leftover(f"compute {kind.removesuffix('s')}", _identity(row), machine)


def _snapshots(project: Project, cluster: str) -> Iterator[Leftover]:
    """They are in no zone."""
    path = f"compute/v1/projects/{project.name}/global/snapshots"
    wanted = f"labels.{_LABEL}={cluster}"
    for page in _pages(project, "compute", path, "compute.snapshots.list", filter=wanted):
        for row in page.get("items", ()):
            yield Leftover("compute snapshot", _identity(row))


def _identity(row: Mapping[str, Any]) -> str:
    return "projects/" + str(row["selfLink"]).partition("/projects/")[2]


def _is_of_machine(kind: str, row: Mapping[str, Any]) -> bool:
    """A disk that a machine has is told of with its machine."""
    return kind == "disks" and bool(row.get("users"))


def _served(project: Project, cluster: str) -> Iterator[Leftover]:
    for service, permission in _SERVED.items():
        path = f"v1/projects/{project.name}/locations/-/instances"
        for page in _pages(project, service, path, permission):
            for row in page.get("instances", ()):
                if row.get("labels", {}).get(_LABEL) == cluster:
                    yield Leftover(f"{service} instance", str(row["name"]))


def _buckets(project: Project, cluster: str) -> Iterator[Leftover]:
    path = f"storage/v1/b?project={project.name}"
    for page in _pages(project, "storage", path, "storage.buckets.list"):
        for row in page.get("items", ()):
            if row.get("labels", {}).get(_LABEL) == cluster:
                yield Leftover("storage bucket", str(row["name"]))


def _pages(
    project: Project, service: str, path: str, permission: str, **asked: str
) -> Iterator[Mapping[str, Any]]:
    """None of a service that the project never enabled: nothing of it can be there."""
    while True:
        try:
            page: Mapping[str, Any] = project.ask(service, path, permission, **asked) or {}
        except NoAnswer as error:
            if "it is disabled" in error.why.words:
                return
            raise
        yield page
        if not page.get("nextPageToken"):
            return
        asked = {**asked, "pageToken": str(page["nextPageToken"])}

"""Images that were built in a project, found by their label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from clusterwright.plan.images import LABEL
from clusterwright.providers.built import BuiltImage, in_order
from clusterwright.providers.gcp.service import Service, session


@dataclass(frozen=True)
class Stock:
    """With the credentials that `gcloud` and Pulumi would use."""

    project: str
    base: str = "https://compute.googleapis.com/compute/v1"
    credentials: Any = field(default=None, repr=False)

    def known(self) -> list[BuiltImage]:
        images = self._rows(
            f"projects/{self.project}/global/images", "compute.images.list", f"labels.{LABEL}:*"
        )
        disks = list(self._disks())
        return in_order(self._image(row, disks) for row in images)

    def remove(self, image: BuiltImage) -> None:
        self._service.ask("DELETE", image.name, "compute.images.delete")

    def _image(self, row: Any, disks: list[tuple[str, str]]) -> BuiltImage:
        path = f"projects/{self.project}/global/images/{row['name']}"
        users = {user.rpartition("/")[2] for source, user in disks if source.endswith(path)}
        return BuiltImage(
            digest=row["labels"][LABEL],
            name=path,
            made=row["creationTimestamp"],
            gib=int(row["diskSizeGb"]),
            ready=row["status"] == "READY",
            machines=tuple(sorted(users)),
        )

    def _disks(self) -> Iterator[tuple[str, str]]:
        """The image that each disk was made from, and a machine that has it."""
        zones = self._rows(f"projects/{self.project}/aggregated/disks", "compute.disks.list", "")
        for _zone, found in (pair for zone in zones for pair in zone.items()):
            for disk in found.get("disks", ()):
                for user in disk.get("users", ()):
                    yield disk.get("sourceImage", ""), user

    def _rows(self, path: str, permission: str, only: str) -> list[Any]:
        """Of all pages; an aggregated list has one mapping of zones a page."""
        found: list[Any] = []
        page = ""
        while True:
            asked = {key: value for key, value in (("filter", only), ("pageToken", page)) if value}
            answer = self._service.ask("GET", path, permission, params=asked)
            body = answer.json() if answer is not None else {}
            items = body.get("items", [])
            found += [items] if isinstance(items, dict) else items
            page = body.get("nextPageToken", "")
            if not page:
                return found

    @cached_property
    def _service(self) -> Service:
        return Service(self.base, "CW7090", session(self.credentials))

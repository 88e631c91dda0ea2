"""A store's files in a bucket of Google Cloud Storage, as the publisher sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from clusterwright.providers.gcp.service import Service, session


@dataclass(frozen=True)
class Bucket:
    """One bucket. Nodes come with the token of their own machine."""

    name: str
    base: str = "https://storage.googleapis.com"
    credentials: Any = field(default=None, repr=False)
    pause: float = 2.0

    def read(self, name: str) -> bytes | None:
        answer = self._service.ask("GET", self._object(name), "storage.objects.get", params={"alt": "media"})
        return None if answer is None else bytes(answer.content)

    def write(self, name: str, content: bytes) -> None:
        self._upload(name, content)

    def take(self, name: str, file: Path) -> None:
        with file.open("rb") as stream:
            self._upload(name, stream)

    def versions(self, folder: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        asked = {"prefix": f"{folder}/", "fields": "items(name,generation),nextPageToken"}
        while True:
            page = self._service.ask(
                "GET", f"storage/v1/b/{self.name}/o", "storage.objects.list", params=asked
            )
            told = page.json() if page is not None else {}
            for row in told.get("items", ()):
                found[row["name"].partition("/")[2]] = row["generation"]
            if "nextPageToken" not in told:
                return found
            asked["pageToken"] = told["nextPageToken"]

    def remove(self, name: str) -> None:
        self._service.ask("DELETE", self._object(name), "storage.objects.delete")

    def _upload(self, name: str, body: object) -> None:
        """A file anew is a new generation of it; readers see the old one or the new one."""
        where = {"uploadType": "media", "name": name}
        path = f"upload/storage/v1/b/{self.name}/o"
        self._service.ask("POST", path, "storage.objects.create", params=where, data=body)

    def _object(self, name: str) -> str:
        return f"storage/v1/b/{self.name}/o/{quote(name, safe='')}"

    @cached_property
    def _service(self) -> Service:
        return Service(self.base, "CW7080", session(self.credentials))

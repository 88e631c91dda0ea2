"""Container images by skopeo, in an OCI layout for each architecture: blobs are named by their SHA-256."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterwright.operate.home import write_atomically
from clusterwright.operate.offline.store import sha256_of
from clusterwright.operate.program import Failed, run
from clusterwright.spec.software import image_name

_NAME = "org.opencontainers.image.ref.name"
_TAG = re.compile(r":[^:/@]+(?=@)")
INDEX = "index.json"


@dataclass(frozen=True)
class Layout:
    """Images of one architecture, kept from run to run under their full names, digest and all."""

    folder: Path
    architecture: str

    def fetch(self, image: str) -> None:
        """skopeo compares everything with the digest of the name. Raises Failed."""
        if image in self._images():
            broken = self._broken(image)
            if not broken:
                return
            for blob in broken:
                blob.unlink(missing_ok=True)
        # A name with both tag and digest is one that skopeo does not take.
        source = f"docker://{_TAG.sub('', image)}"
        platform = ["--override-os=linux", f"--override-arch={self.architecture}"]
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        run(["skopeo", "copy", "--quiet", *platform, source, f"oci:{self.folder}:{image}"])
        if self._broken(image):
            raise Failed(f"{image} did not arrive whole")

    def publish(self, images: Iterable[str]) -> dict[str, Path]:
        """Files of a layout that has these images and no others, under the names that people use."""
        known = self._images()
        index = self.folder.with_name(f"{self.architecture}.json")
        files = {"oci-layout": self.folder / "oci-layout", INDEX: index}
        manifests = []
        for image in sorted(images):
            row = known[image]
            manifests.append({**row, "annotations": {_NAME: image_name(image)}})
            files |= {f"blobs/sha256/{blob.name}": blob for blob in self._blobs(row)}
        content = {"schemaVersion": 2, "manifests": manifests}
        write_atomically(index, json.dumps(content, indent=1, sort_keys=True) + "\n")
        return files

    def _images(self) -> Mapping[str, Mapping[str, Any]]:
        index = self.folder / INDEX
        rows = json.loads(index.read_text(encoding="utf-8"))["manifests"] if index.exists() else []
        return {row["annotations"][_NAME]: row for row in rows}

    def _blobs(self, row: Mapping[str, Any]) -> list[Path]:
        manifest = self._blob(row["digest"])
        content = json.loads(manifest.read_text(encoding="utf-8"))
        return [manifest, *(self._blob(part["digest"]) for part in (content["config"], *content["layers"]))]

    def _blob(self, digest: str) -> Path:
        return self.folder / "blobs" / digest.replace(":", "/")

    def _broken(self, image: str) -> list[Path]:
        """Blobs that are not what their name says."""
        row = self._images()[image]
        manifest = self._blob(row["digest"])
        if not _whole(manifest):
            return [manifest]
        return [blob for blob in self._blobs(row) if not _whole(blob)]


def _whole(blob: Path) -> bool:
    return blob.is_file() and sha256_of(blob) == blob.name

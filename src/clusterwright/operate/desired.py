"""What every node of a prepared cluster should be, keys included."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from clusterwright.bundle import generated, signing
from clusterwright.bundle.archives import NO_PACKAGES, Packages
from clusterwright.bundle.build import Bundle
from clusterwright.bundle.wanted import Image, Kind, Wanted
from clusterwright.event import Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff
from clusterwright.operate import vendor_keys
from clusterwright.operate.archives.asked import of_nodes
from clusterwright.operate.archives.gather import gather
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.keys import cluster_keys, no_keys, secrets_beside
from clusterwright.operate.module_signing import SigningPair, signing_pair
from clusterwright.operate.pull.wheels import lock
from clusterwright.render.file import NodeFile


@dataclass(frozen=True)
class Desired:
    """One cluster as its description wants it."""

    home: ClusterHome
    handoff: Handoff
    files: tuple[NodeFile, ...]
    folder: Path
    """Of the description: hooks and certificates are named relative to it."""

    @cached_property
    def keys(self) -> Mapping[str, bytes]:
        kept = {**cluster_keys(self.home, self.handoff), **secrets_beside(self.folder, self.handoff)}
        return {**kept, **self.lent}

    @cached_property
    def lent(self) -> Mapping[str, bytes]:
        """Path on the node → what lies there only while packages are installed."""
        return {signing.KEY: self._signing.key} if self._signing else {}

    @cached_property
    def _signing(self) -> SigningPair | None:
        return signing_pair(self.handoff, self.folder, self.home.keys)

    @cached_property
    def bundle(self) -> Bundle:
        return Bundle(self.handoff, self.files, self.keys, self.attachments)

    @cached_property
    def wanted(self) -> Mapping[str, Wanted]:
        return self.bundle.all()

    def packages(self, kinds: Iterable[Kind], report: Report) -> Packages:
        """Of the archives that these kinds of node take, fetched where they are not here yet."""
        wanted = {one for kind in kinds for one in kind.archives}
        return gather(of_nodes(self.handoff, wanted), self._vendor_keys, report) if wanted else NO_PACKAGES

    @cached_property
    def images(self) -> Mapping[str, Image]:
        """By a key that names everything that installing it depends on."""
        return {self._image_key(image): image for image in self.bundle.images()}

    def _image_key(self, image: Image) -> str:
        parts = [image.kind.digest, self.handoff.software["distribution"]]
        if self.handoff.cluster["converge"] == "pull":
            parts.append(lock())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @cached_property
    def sketch(self) -> Bundle:
        """The same without secrets and vendors' keys, which come over the network: for a look ahead."""
        return Bundle(self.handoff, self.files, no_keys(self.handoff), self.beside)

    @cached_property
    def beside(self) -> Mapping[str, str]:
        """Texts of the files beside the description that decide what nodes are."""
        texts, missing = {}, []
        for path in generated.attachments(self.handoff):
            try:
                texts[path] = (self.folder / path).read_text()
            except (OSError, UnicodeDecodeError) as error:
                remedy = "Put it beside the description, or name another file"
                missing.append(Finding("CW8004", Where(path), f"cannot be read ({error})", remedy))
        if missing:
            raise Refused(missing)
        return texts

    @cached_property
    def attachments(self) -> Mapping[str, str]:
        """All texts that decide what nodes are."""
        texts = dict(self.beside)
        if self._signing:
            texts[self.handoff.software["module_signing"]["certificate"]] = self._signing.certificate
        return {**texts, **vendor_keys.texts(self.handoff, self._vendor_keys)}

    @property
    def _vendor_keys(self) -> Path:
        return self.home.root / "vendor-keys"

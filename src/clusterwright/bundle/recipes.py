"""The images of a cluster on a cloud: what goes into each, and the digest that names it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from clusterwright.bundle.build import Bundle
from clusterwright.bundle.wanted import Kind
from clusterwright.handoff import Handoff
from clusterwright.plan.builders import Recipe
from clusterwright.render.file import NodeFile


@dataclass(frozen=True)
class Baked:
    """An image, and what is installed in it."""

    recipe: Recipe
    kind: Kind


def recipes(
    handoff: Handoff,
    files: Iterable[NodeFile],
    keys: Mapping[str, bytes],
    attachments: Mapping[str, str],
    wheels: str,
) -> tuple[Baked, ...]:
    """One for each image and processor. `wheels` is the lock of the Python that an image brings along.

    Keys are in no image, so their paths alone matter. Texts of vendors' keys are needed to build one, and
    not to name it: their fingerprints stand in the lock.
    """
    found = []
    for image in Bundle(handoff, files, keys, attachments).images():
        machines = {name: handoff.hardware[handoff.by_name[name].machine] for name in image.nodes}
        for architecture in sorted({row.architecture for row in machines.values()}):
            nodes = tuple(name for name in image.nodes if machines[name].architecture == architecture)
            said = [image.kind.digest, handoff.software["distribution"], wheels, architecture]
            digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]
            own = tuple(one for one in image.kind.archives if one[1] == architecture)
            found.append(Baked(Recipe(digest, architecture, nodes), replace(image.kind, archives=own)))
    return tuple(found)

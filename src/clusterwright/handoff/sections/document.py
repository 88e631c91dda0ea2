"""The published shape of a hand-off document, and what one is read against.

Written out, not derived from the description's models: a change there cannot change the published format
unnoticed, because what is made is read again by a test, and what does not fit is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff.document import Node
from clusterwright.handoff.sections.closed import Closed
from clusterwright.handoff.sections.cluster import ClusterSection
from clusterwright.handoff.sections.scheduler import FabricSection, SchedulerSection
from clusterwright.handoff.sections.site import MachineSection, SiteSection
from clusterwright.handoff.sections.software import SoftwareSection
from clusterwright.handoff.sections.storage import StorageSection

FILE = Path("schemas/handoff.schema.json")


class Document(Closed):
    """The versioned document between what builds machines and what configures them. It holds no secret."""

    version: Literal[1]
    cluster: ClusterSection
    site: dict[str, SiteSection]
    hardware: dict[str, Hardware]
    nodes: tuple[Node, ...]
    fabric: FabricSection
    storage: StorageSection
    scheduler: SchedulerSection
    software: SoftwareSection
    machines: dict[str, MachineSection] = Field({})


def schema() -> dict[str, Any]:
    """The JSON Schema that is published."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Document.model_json_schema(),
        "title": "clusterwright hand-off, version 1",
    }


def text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"

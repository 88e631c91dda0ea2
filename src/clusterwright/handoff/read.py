"""A hand-off document read back, and what is wrong with one that is damaged or of another version."""

from __future__ import annotations

import json

from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.handoff.document import VERSION, Handoff

_REMEDY = "Make it again with `clusterwright up`"
_MOST_FAULTS = 20


def loads(text: str, file: str = "") -> Handoff:
    """Read a document. Raises Refused for another version or a damaged file."""
    from pydantic import ValidationError  # slow to import, and only readers need it

    from clusterwright.handoff.sections.document import Document

    try:
        document = Document.model_validate_json(text)
    except ValidationError as error:
        version = _version(text)
        if version not in (None, VERSION):
            what = f"hand-off version {version}, and this clusterwright reads version {VERSION}"
            raise refuse("CW2002", Where(file), what, _REMEDY) from error
        faults = [(".".join(map(str, fault["loc"])), fault["msg"]) for fault in error.errors()]
        raise _damaged(file, faults) from error
    sections = document.model_dump(exclude={"hardware", "nodes"}, exclude_unset=True)
    return Handoff(**sections, hardware=document.hardware, nodes=document.nodes)


def _version(text: str) -> object:
    try:
        return json.loads(text).get("version")
    except (ValueError, AttributeError, RecursionError):
        return None


def _damaged(file: str, faults: list[tuple[str, str]]) -> Refused:
    return Refused(
        Finding("CW2001", Where(file, path=path), f"a damaged hand-off document ({what})", _REMEDY)
        for path, what in faults[:_MOST_FAULTS]
    )

"""A file in, a description that knows where each of its fields stands out; or every mistake at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.document import Document, Place, dotted
from clusterwright.spec.machines import beside, read_machines
from clusterwright.spec.reader import read
from clusterwright.spec.site import OnpremSite

MAX_BYTES = 2**20
MAX_FINDINGS = 200


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A valid description and the file it came from."""

    spec: ClusterSpec
    file: str
    _places: dict[str, Place] = field(repr=False)

    def where(self, path: str = "") -> Where:
        """Place of a field such as `pools.gpu.count`, or of what would hold it when it is not written."""
        around = path
        while around not in self._places and around:
            around = around.rpartition(".")[0]
        found = self._places.get(around, Place(1, 1))
        return Where(self.file, found.line, found.column, path)


def load(path: str | os.PathLike[str]) -> LoadedSpec:
    """Read a description. Raises Refused with everything that is wrong with it, in the order of the file."""
    file = os.fspath(path)
    loaded = loads(_text(file), file)
    _know_machines(loaded)
    return loaded


def machine_files(loaded: LoadedSpec) -> Iterator[tuple[Path, OnpremSite]]:
    """Files of machines that a description names, with their sites."""
    for site in (loaded.spec.site, *loaded.spec.sites.values()):
        if isinstance(site, OnpremSite) and site.machines:
            yield beside(Path(loaded.file), site.machines), site


def _know_machines(loaded: LoadedSpec) -> None:
    """Read the files beside it that tell single machines apart."""
    findings: list[Finding] = []
    for path, site in machine_files(loaded):
        machines, wrong = read_machines(path, str(path))
        site.know(machines)
        findings += wrong
    if findings:
        raise Refused(_in_order(findings, loaded.file))


def loads(text: str, file: str = "cluster.yaml") -> LoadedSpec:
    """The same for a text, without the files beside it; `file` is what findings name."""
    if len(text) > MAX_BYTES:
        raise _too_large(file)
    document = read(text, file)
    spec = _validated(document)
    return LoadedSpec(spec, file, {dotted(path): place for path, place in document.places.items()})


def _validated(document: Document) -> ClusterSpec:
    findings = list(document.findings)
    if document.value is None and not findings:
        remedy = "Begin with `clusterwright init`"
        findings.append(Finding("CW1007", Where(document.file, 1, 1), "the file is empty", remedy))
    elif document.value is not None and not isinstance(document.value, dict):
        what, remedy = (
            "not a mapping of keys to values",
            "Write `key: value` lines; `cluster: NAME` is the first",
        )
        findings.append(Finding("CW1007", document.where(()), what, remedy))
    elif document.value is not None:
        try:
            spec = ClusterSpec.model_validate(document.value)
        except ValidationError as error:
            from clusterwright.spec.wording import findings_of

            findings += findings_of(error, document)
        else:
            from clusterwright.spec.rules import broken

            findings += broken(spec, document)
            if not findings:
                return spec
    raise Refused(_in_order(findings, document.file))


def _in_order(findings: list[Finding], file: str) -> list[Finding]:
    ordered = sorted(findings, key=lambda one: (one.where, one.code, one.what))
    if len(ordered) <= MAX_FINDINGS:
        return ordered
    rest = len(ordered) - MAX_FINDINGS
    what, remedy = f"{rest} more findings are not shown", "Mend the first ones and look again"
    last = Finding("CW1014", Where(file), what, remedy)
    return [*ordered[:MAX_FINDINGS], last]


def _text(file: str) -> str:
    try:
        with Path(file).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from error
    if len(content) > MAX_BYTES:
        raise _too_large(file)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        column = len(before.rpartition(b"\n")[2].decode("utf-8")) + 1
        where = Where(file, before.count(b"\n") + 1, column)
        what = f"the byte 0x{content[error.start]:02x}, which is not UTF-8"
        raise refuse("CW1003", where, what, "Save the file as UTF-8 text") from error


def _unreadable(file: str, error: OSError | ValueError) -> Refused:
    where = Where(file.replace("\0", "·"))
    if isinstance(error, FileNotFoundError):
        return refuse(
            "CW1001", where, "no such file", "Check the path, or make one with `clusterwright init`"
        )
    if isinstance(error, IsADirectoryError):
        return refuse("CW1001", where, "a directory, not a file", "Name the description in it")
    if isinstance(error, PermissionError):
        return refuse("CW1001", where, "not readable by you", "Change its permissions, or be its owner")
    reason = getattr(error, "strerror", None) or str(error)
    return refuse("CW1001", where, f"cannot be read ({reason})", "Check the path")


def _too_large(file: str) -> Refused:
    return refuse(
        "CW1002", Where(file), "larger than 1 MiB", "A description is small: is this the right file?"
    )

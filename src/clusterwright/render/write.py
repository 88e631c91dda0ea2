"""Rendered files on disk: whole or not at all, and without what an earlier run left there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clusterwright.finding import Finding, Refused, Where
from clusterwright.render.file import NodeFile

MANIFEST = ".clusterwright.json"
"""Names the files that clusterwright wrote in a folder, and so may replace and remove there."""


@dataclass(frozen=True, slots=True)
class Written:
    """Paths below the folder, sorted."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]


def tree(files: Iterable[NodeFile], folder: Path) -> Written:
    """Write each file at `folder` + its path. Raises Refused before it touches a file of somebody else's."""
    wanted = {file.path.lstrip("/"): file for file in files}
    ours = _manifest(folder)
    _refuse_foreign(folder, wanted, ours)
    folder.mkdir(parents=True, exist_ok=True)
    _record(folder, ours | set(wanted))  # killed from here on, the next run still knows every file
    changed = [path for path, file in sorted(wanted.items()) if _place(folder / path, file)]
    stale = sorted(ours - set(wanted))
    removed = [path for path in stale if _remove(folder, path)]
    _record(folder, set(wanted))
    return Written(tuple(changed), tuple(removed))


def _manifest(folder: Path) -> set[str]:
    try:
        paths = json.loads((folder / MANIFEST).read_text())["files"]
        return {path for path in paths if not Path(path).is_absolute() and ".." not in Path(path).parts}
    except FileNotFoundError:
        return set()
    except (ValueError, KeyError, TypeError) as error:
        remedy = "Remove that folder, or name another"
        what = f"the list of files written there is damaged ({error})"
        raise Refused([Finding("CW3003", Where(str(folder / MANIFEST)), what, remedy)]) from error


def _record(folder: Path, paths: set[str]) -> None:
    text = json.dumps({"files": sorted(paths)}, indent=1) + "\n"
    if _content(folder / MANIFEST) != text.encode():
        _replace(folder / MANIFEST, text.encode(), 0o644)


def _refuse_foreign(folder: Path, wanted: dict[str, NodeFile], ours: set[str]) -> None:
    remedy = "Name an empty folder, or one that `clusterwright render` made"
    what = "this file is not of clusterwright's making, and would be overwritten"
    foreign = [
        Finding("CW3002", Where(str(folder / path)), what, remedy)
        for path, file in sorted(wanted.items())
        if path not in ours and _content(folder / path) not in (None, file.content.encode())
    ]
    if foreign:
        raise Refused(foreign)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _place(path: Path, file: NodeFile) -> bool:
    content = file.content.encode()
    if _content(path) == content and path.stat().st_mode & 0o7777 == file.mode:
        return False
    _replace(path, content, file.mode)
    return True


def _replace(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fchmod(out.fileno(), mode)
        os.fsync(out.fileno())
    unfinished.replace(path)


def _remove(folder: Path, path: str) -> bool:
    target = folder / path
    existed = target.exists()
    target.unlink(missing_ok=True)
    parent = target.parent
    while parent != folder and parent.is_dir() and not any(parent.iterdir()):
        parent.rmdir()
        parent = parent.parent
    return existed

"""An ending that nobody planned: one line for the person, the whole trace in a file."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from clusterwright import __version__


def report(error: Exception, words: Sequence[str], *, as_json: bool) -> None:
    place = _save(_trace(error, words))
    if isinstance(error, OSError) and error.strerror:
        what = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    else:
        what = f"a bug in clusterwright: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
    if as_json:
        print(json.dumps({"error": what, "trace": place}))
    print(f"clusterwright: {what} (the trace is in {place})", file=sys.stderr)


def _trace(error: Exception, words: Sequence[str]) -> str:
    head = f"clusterwright {__version__}, Python {platform.python_version()}, {platform.platform()}"
    return f"{head}\n{shlex.join(['clusterwright', *words])}\n\n" + "".join(traceback.format_exception(error))


def _save(text: str) -> str:
    """Kept beside the clusters' state; where that cannot be written (a full disk) in the temporary folder."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for folder in (Path(base) / "clusterwright" / "crashes", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=folder, prefix=f"{stamp}-", suffix=".txt", delete=False
            ) as file:
                file.write(text)
            return file.name
        except OSError:
            continue
    return "nowhere, for no folder could be written"

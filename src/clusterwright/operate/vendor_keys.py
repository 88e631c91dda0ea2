"""Keys of vendors' repositories: fetched once, and trusted only where they are the ones that are known."""

from __future__ import annotations

import gzip
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from clusterwright.catalog.transports import asked_for
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff
from clusterwright.operate.home import write_atomically
from clusterwright.operate.offline.signing import fingerprints
from clusterwright.operate.program import run

_SECONDS = 20.0
_GPG = ("gpg", "--batch", "--yes", "--quiet", "--no-tty", "--no-autostart")


def texts(handoff: Handoff, folder: Path) -> Mapping[str, str]:
    """By address, the key of each vendor that nodes take packages from, and no other that came with it.

    Raises Refused with each that cannot be had, or that is not the one of the catalog.
    """
    found: dict[str, str] = {}
    findings = []
    for name, url, fingerprint in _asked(handoff):
        file = verified(name, url, fingerprint, folder) if fingerprint else _unknown(name, url)
        if isinstance(file, Finding):
            findings.append(file)
        else:
            found[url] = _alone(file, fingerprint)
    if findings:
        raise Refused(findings)
    return found


def _asked(handoff: Handoff) -> list[tuple[str, str, str]]:
    """Name, address and fingerprint; none of a repository whose key lies beside the description."""
    used = [(name, row) for name, rows in handoff.software["repositories"].items() for row in rows.values()]
    known = {(name, row["key_url"], row["fingerprint"] or "") for name, row in used if row["key_url"]}
    brought = (one.repository for one in asked_for(row["url"] for _, row in used))
    return sorted(known | {(one.name, one.key_url, one.fingerprint) for one in brought})


def verified(name: str, url: str, fingerprint: str, folder: Path) -> Path | Finding:
    """The key's file, once it is the one that was expected."""
    expected = _plain(fingerprint)
    file = next((file for file in _forms(folder / name) if expected in _prints(file)), None)
    if file:
        return file
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            content: bytes = answer.read(1 << 20)
    except (OSError, ValueError, urllib.error.URLError) as error:
        what = f"its key {url} cannot be fetched ({getattr(error, 'reason', None) or error})"
        remedy = "Check that this machine reaches it, and run the same command again"
        return Finding("CW8024", Where(path=name), what, remedy)
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    armoured = content.lstrip().startswith(b"-----BEGIN PGP")
    # apt takes the ending for the format.
    file = folder / f"{name}{'.asc' if armoured else '.gpg'}"
    write_atomically(file, content)
    seen = fingerprints(file)
    if expected in seen:
        return file
    file.unlink()
    what = f"the key {url} is {', '.join(sorted(seen)) or 'no key'}, and not {expected}"
    remedy = "Find out from the vendor whether the key was exchanged; nothing was taken from this repository"
    return Finding("CW8023", Where(path=name), what, remedy)


def _unknown(name: str, url: str) -> Finding:
    what = f"the catalog knows no fingerprint of the key {url}, so nothing can be compared with it"
    return Finding(
        "CW8023", Where(path=name), what, "Name a mirror of your own, with its key, as `software.mirror`"
    )


def _alone(file: Path, fingerprint: str) -> str:
    """A vendor's file may hold other keys too; what nobody compared is not trusted."""
    with TemporaryDirectory(prefix="vendor-key-") as ring:
        gpg = [*_GPG, "--homedir", ring]
        run([*gpg, "--import", str(file)])
        return run([*gpg, "--armor", "--export", _plain(fingerprint)])


def _plain(fingerprint: str) -> str:
    return re.sub(r"\s", "", fingerprint).upper()


def _forms(stem: Path) -> Iterator[Path]:
    return (stem.with_name(stem.name + suffix) for suffix in (".asc", ".gpg"))


def _prints(file: Path) -> set[str]:
    return fingerprints(file) if file.exists() else set()

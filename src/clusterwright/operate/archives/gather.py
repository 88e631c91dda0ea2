"""From what nodes take of vendors' archives to verified package files on this machine."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from clusterwright.bundle.archives import PackageFile, Packages, Taken
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.archives.asked import Asked
from clusterwright.operate.archives.download import Unreachable, download
from clusterwright.operate.archives.unpack import Unreadable, single, unpacked
from clusterwright.operate.archives.verify import wrong_digest, wrong_signature
from clusterwright.operate.home import write_atomically
from clusterwright.operate.offline.store import Store
from clusterwright.operate.vendor_keys import verified
from clusterwright.providers.lab.home import LabHome

_MIB = 1 << 20
_TOLD = 64 * _MIB
"""Progress is said once in so many bytes."""


def cache() -> Path:
    """Of this user: what was fetched, by vendor, and the packages in it by their digest."""
    return LabHome.of_user().cache.parent / "vendor-files"


def package_store() -> Store:
    """Package files that were verified, each under its SHA-256."""
    return Store(cache() / "packages")


def gather(wanted: Iterable[Asked], keys: Path, report: Report) -> Packages:
    """The package files of these archives, fetched where they are not here yet.

    `keys` is where vendors' keys are kept. Raises Refused with everything that cannot be had or trusted.
    """
    found: dict[Taken, tuple[PackageFile, ...]] = {}
    findings: list[Finding] = []
    for asked in wanted:
        with _alone(cache() / asked.place):
            one = _known(asked) or _fetched(asked, keys, report)
        if isinstance(one, Finding):
            findings.append(one)
        elif missing := asked.packages - {file.package for file in one}:
            findings.append(_without(asked, missing))
        else:
            _remember(asked, one)
            found[asked.taken] = one
    if findings:
        raise Refused(findings)
    return Packages(found, package_store().folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Whoever needs the same files meanwhile waits for them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _known(asked: Asked) -> tuple[PackageFile, ...] | None:
    """What an earlier run took out of it."""
    try:
        rows = json.loads(_note(asked).read_text())
        files = tuple(PackageFile(**row) for row in rows)
    except (OSError, ValueError, TypeError):
        return None
    return files if all(package_store().has(file.sha256) for file in files) else None


def _remember(asked: Asked, files: Iterable[PackageFile]) -> None:
    write_atomically(_note(asked), json.dumps([asdict(file) for file in files]))


def _note(asked: Asked) -> Path:
    return cache() / asked.place / f"{asked.part}.json"


def _fetched(asked: Asked, keys: Path, report: Report) -> tuple[PackageFile, ...] | Finding:
    repository, folder, url = asked.taken[0], cache() / asked.place, asked.url
    file = folder / url.rpartition("/")[2]
    signature = folder / f"{file.name}{asked.archive.signature}" if asked.archive.signature else None
    try:
        if signature:
            download(f"{url}{asked.archive.signature}", signature, lambda _have, _whole: None)
        if not file.exists():
            report(Event("fetch", "started", url))
        download(url, file, _teller(report, file.name))
    except Unreachable as error:
        return _unreachable(repository, url, str(error), [one for one in (file, signature) if one])
    report(Event("fetch", "progress", f"verifying {file.name}"))
    if signature:
        fingerprint = asked.source.fingerprint or ""
        key = verified(repository, asked.source.key_url, fingerprint, keys)
        if isinstance(key, Finding):
            return key
        wrong = wrong_signature(file, signature, key, fingerprint)
    else:
        wrong = wrong_digest(file, asked.archive.sha256)
    if wrong:
        for one in (file, signature):
            if one:
                one.unlink()
        return _untrusted(repository, url, wrong)
    try:
        store = package_store()
        found = unpacked(file, asked.patterns, store) if asked.archive.folder else single(file, store)
    except Unreadable as error:
        return _without(asked, asked.packages, f" ({error})")
    report(Event("fetch", "ok", f"{file.name}: verified, {len(found)} packages"))
    return found


def _teller(report: Report, name: str) -> Callable[[int, int | None], None]:
    said = 0

    def tell(have: int, whole: int | None) -> None:
        nonlocal said
        if have - said >= _TOLD:
            said = have
            words = f" of {whole // _MIB}" if whole else ""
            report(Event("fetch", "progress", f"{name}: {have // _MIB}{words} MiB"))

    return tell


def _unreachable(repository: str, url: str, why: str, files: Iterable[Path]) -> Finding:
    by_hand = " and ".join(str(file) for file in files)
    remedy = f"Check that this machine reaches it and run again; or put it there by hand, as {by_hand}"
    return Finding("CW8295", Where(path=repository), f"{url} cannot be fetched ({why})", remedy)


def _untrusted(repository: str, url: str, wrong: str) -> Finding:
    remedy = "Run the same command again; if that says the same, ask the vendor, and take nothing from there"
    return Finding("CW8296", Where(path=repository), f"{url} was not taken: {wrong}", remedy)


def _without(asked: Asked, packages: Iterable[str], why: str = "") -> Finding:
    what = f"{asked.url} has no {', '.join(sorted(packages))} in {' '.join(asked.patterns)}{why}"
    remedy = "Put its packages into a repository of your own, and name that as `software.mirror`"
    return Finding("CW8297", Where(path=asked.taken[0]), what, remedy)

"""From a description to a bundle: what its nodes will ask for, resolved by apt, fetched, and published."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.bundle.offline import Transaction, transactions
from clusterwright.catalog.distributions import Distribution, distribution
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.handoff.software import SOURCES
from clusterwright.operate.archives.gather import gather
from clusterwright.operate.home import write_atomically
from clusterwright.operate.offline import origins, suites, wheels
from clusterwright.operate.offline.apt import Apt, Archive, Origin
from clusterwright.operate.offline.images import INDEX, Layout
from clusterwright.operate.offline.origins import DISTRIBUTION, SECURITY
from clusterwright.operate.offline.place import place
from clusterwright.operate.offline.publish import Contents, publish
from clusterwright.operate.offline.signing import Signer, signer
from clusterwright.operate.offline.store import Store
from clusterwright.operate.offline.subject import Subject
from clusterwright.operate.program import Failed
from clusterwright.providers.lab.rootfs import PACKAGES as BOOTS

_PROCESSORS = {"amd64": "x86_64", "arm64": "arm64"}
_MINIMAL = ("?essential", "?priority(required)", "apt")
"""What every installer begins with."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a bundle is asked for."""

    out: Path
    key: str | None = None
    """Name in the gpg keyring, or the file of a secret key."""
    mirror: str | None = None
    """Where the distribution's packages come from."""
    security: str | None = None
    """Where its security updates come from; None without a `mirror`: where this machine has them from."""
    mirror_key: Path | None = None
    """Signs both; None: the distribution's own keyring on this machine."""
    wheels: bool = True


@dataclass(frozen=True)
class Collected:
    """A bundle that was published."""

    folder: Path
    files: int
    size: int
    findings: tuple[Finding, ...]
    mirrored: bool
    """Whether its nodes have packages that are not the distribution's."""
    secured: bool
    """Whether it has the distribution's security updates in an archive of their own."""
    images: str = ""
    """The digest of the list of container images; empty where it has none."""


@dataclass
class _Work:
    subject: Subject
    wishes: Wishes
    report: Report
    contents: Contents
    store: Store
    findings: dict[str, Finding] = field(default_factory=dict)

    def find(self, found: Iterable[Finding]) -> None:
        self.findings |= {str(finding): finding for finding in found}

    @property
    def cache(self) -> Path:
        return self.store.folder.parent


def collect(subject: Subject, wishes: Wishes, report: Report) -> Collected:
    """Run again after any interruption, it goes on. Raises Refused where there is nothing to publish."""
    name = subject.handoff.software["distribution"]
    if distribution(name).packages != "deb":
        what = f"packages of {name} are dnf's, and only apt's are collected"
        remedy = "Mirror them with `dnf reposync`, and name the mirror as `software.mirror`"
        raise refuse("CW8030", Where(path="software.distribution"), what, remedy)
    with _alone(wishes.out), signer(wishes.key) as signing:
        try:
            return _collect(subject, wishes, report, signing)
        except Failed as failed:
            remedy = "Repair the cause and run the same command again; it goes on"
            raise refuse("CW8020", Where(path="apt"), _line(str(failed)), remedy) from failed
        except OSError as error:
            remedy = "Make room, or name another folder with --out, and run again; it goes on"
            raise refuse("CW8029", Where(str(wishes.out)), f"cannot be used ({error})", remedy) from error


def _collect(subject: Subject, wishes: Wishes, report: Report, signing: Signer) -> Collected:
    handoff = subject.handoff
    wanted = transactions(handoff, subject.architecture)
    architectures = tuple(sorted({one.architecture for one in wanted}))
    contents = Contents(handoff.name, handoff.software["distribution"], architectures)
    store = Store(wishes.out / ".cache" / "files")
    store.clear()
    work = _Work(subject, wishes, report, contents, store)
    indices: dict[str, str] = {}
    for architecture in architectures:
        _packages(work, architecture, [one for one in wanted if one.architecture == architecture])
        indices |= _images(work, Layout(work.cache / "images" / architecture, architecture))
    work.find(subject.nameless())
    contents.missing |= {f"images: {image.image}" for image in subject.unknown}
    images = _list_of_images(work, indices) if indices else ""
    if wishes.wheels:
        _wheels(work)
    report(Event("publish", "started", f"{len(contents.files)} files, index and signatures"))
    folder = publish(contents, store, wishes.out, signing)
    size = sum(store.file(digest).stat().st_size for digest in set(contents.files.values()))
    findings = tuple(work.findings[key] for key in sorted(work.findings))
    report(Event("publish", "changed", str(folder)))
    secured = any(path.startswith(f"{SECURITY}/dists/") for path in contents.files)
    return Collected(folder, len(contents.files), size, findings, _mirrored(handoff), secured, images)


def _packages(work: _Work, architecture: str, wanted: list[Transaction]) -> None:
    release = distribution(work.contents.distribution)
    apt = Apt((work.cache / architecture).resolve(), architecture)
    work.report(Event("resolve", "started", f"{architecture}: reading the repositories' indices"))
    known = _read(work, apt, release)
    minimal = (*_MINIMAL, *BOOTS)
    archives: set[Archive] = set()
    absent: set[str] = set()
    unmet: set[str] = set()
    # An installer begins with the release as it came out, or with what is newest.
    begun = (apt.resolve(minimal, release.codename), apt.resolve(minimal))
    for resolved in (*begun, *(apt.resolve(one.packages) for one in wanted)):
        archives |= resolved.archives
        absent |= resolved.absent
        unmet.add(resolved.unmet)
    work.find(work.subject.absent(absent, {origin.name for origin in known}))
    work.find(_unmet(words) for words in unmet if words)
    work.contents.missing |= absent
    work.report(Event("resolve", "ok", f"{architecture}: {len(archives)} packages"))
    files = {place(archive.uri, known): archive for archive in archives}
    _fetch(work, apt, {**files, **_indices(work, apt, known)})


def _read(work: _Work, apt: Apt, release: Distribution) -> list[Origin]:
    """Every origin whose index was read and verified."""
    own = origins.of_distribution(release, work.wishes.mirror, work.wishes.mirror_key)
    if own.key and not own.key.exists():
        raise Refused([origins.keyless(own, release)])
    try:
        apt.update(own)
    except Failed as failed:
        raise Refused([origins.silent(own, failed)]) from failed
    known = [own]
    security = _security(work.wishes, release)
    others = work.subject.vendors(_PROCESSORS[apt.architecture], (work.cache / "keys").resolve())
    work.find(others.findings)
    handed_out = _handed_out(work, apt.architecture)
    by_hand = origins.added(work.wishes.out / origins.ADDED)
    for origin in filter(None, [security, *others.found, *handed_out, by_hand]):
        try:
            apt.update(origin)
            known.append(origin)
        except Failed as failed:
            work.find([origins.silent(origin, failed)])
    return known


def _handed_out(work: _Work, architecture: str) -> Iterator[Origin]:
    """The verified packages of what vendors have in no repository."""
    for asked in work.subject.archives(_PROCESSORS[architecture]):
        try:
            packages = gather([asked], (work.cache / "keys").resolve(), work.report)
        except Refused as refused:
            work.find(refused.findings)
            continue
        files = {file.name: Path(packages.store / file.sha256) for file in packages.files[asked.taken]}
        if asked.archive.is_source:
            for file_name, file in files.items():
                work.contents.files[f"{SOURCES}/{file_name}"] = work.store.take(file)
            continue
        name = asked.taken[0]
        yield origins.of_files(name, files, work.cache / architecture / "handed-out" / name)


def _security(wishes: Wishes, release: Distribution) -> Origin | None:
    """A mirror that somebody names has none but those that they name too."""
    if wishes.mirror and not wishes.security:
        return None
    return origins.of_security(release, wishes.security, wishes.mirror_key)


def _indices(work: _Work, apt: Apt, known: list[Origin]) -> dict[str, Archive]:
    found: dict[str, Archive] = {}
    for origin in known:
        if origin.name not in (DISTRIBUTION, SECURITY):
            continue
        for index in suites.indices(apt, origin):
            path, file = index.release
            work.contents.files[f"{origin.name}/{path}"] = work.store.take(file)
            work.contents.date = max(work.contents.date, index.date)
            found |= {f"{origin.name}/{path}": archive for path, archive in index.files.items()}
    return found


def _fetch(work: _Work, apt: Apt, files: dict[str, Archive]) -> None:
    failed = work.store.fetch(apt, files.values(), work.report)
    for path, archive in files.items():
        if archive.sha256 in failed:
            remedy = "Run the same command again; what is here is not fetched again"
            work.find([Finding("CW8028", Where(path=archive.uri), _line(failed[archive.sha256]), remedy)])
            work.contents.missing.add(path)
        else:
            work.contents.files[path] = archive.sha256


def _images(work: _Work, layout: Layout) -> Mapping[str, str]:
    """The digest of an architecture's index, where it has images."""
    folder = f"images/{layout.architecture}"
    had = []
    for image in work.subject.images:
        work.report(Event("images", "progress", f"{layout.architecture}: {image}"))
        try:
            layout.fetch(image)
            had.append(image)
        except Failed as failed:
            remedy = (
                "See with `skopeo inspect` what the registry has, log in to it where it asks, and run again"
            )
            work.find([Finding("CW8031", Where(path=image), _line(str(failed)), remedy)])
            work.contents.missing.add(f"{folder}: {image}")
    if had:
        for path, file in layout.publish(had).items():
            work.contents.files[f"{folder}/{path}"] = work.store.take(file, link=True)
    return {layout.architecture: f"sha256:{work.contents.files[f'{folder}/{INDEX}']}"} if had else {}


def _list_of_images(work: _Work, indices: Mapping[str, str]) -> str:
    """Its digest, from which the one of everything below `images` follows."""
    file = work.cache / "images" / "list.json"
    write_atomically(file, json.dumps(indices, indent=1, sort_keys=True) + "\n")
    digest = work.contents.files[f"images/{INDEX}"] = work.store.take(file)
    return f"sha256:{digest}"


def _wheels(work: _Work) -> None:
    work.report(Event("wheels", "started", "Python packages of clusterwright itself"))
    folder = work.cache / "wheels"
    found = list(wheels.download(folder))
    work.find(found)
    if found:
        work.contents.missing.add("wheels")
    for file in (*wheels.locked(folder), wheels.lock_file()):
        work.contents.files[f"wheels/{file.name}"] = work.store.take(file)
    work.report(Event("wheels", "failed" if found else "ok"))


def _unmet(words: str) -> Finding:
    what = f"what the repositories have does not fit together: {_line(words)}"
    remedy = "See which versions the distribution has, and `clusterwright lock` for those of the lock"
    return Finding("CW8026", Where(path="apt"), what, remedy)


def _line(words: str) -> str:
    return " ".join(words.split())


def _mirrored(handoff: Handoff) -> bool:
    return any(handoff.software["stacks"].values())


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One writer a folder."""
    try:
        (out / ".cache").mkdir(parents=True, exist_ok=True)
        stream = (out / ".cache" / "lock").open("w")
    except OSError as error:
        remedy = "Name a folder that you may write to with --out"
        raise refuse("CW8029", Where(str(out)), f"cannot be written ({error.strerror})", remedy) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what, remedy = "another bundle is being collected there", "Wait for it, or name another folder"
            raise refuse("CW8029", Where(str(out)), what, remedy) from None
        yield

"""What a lock cannot say because no source tells it: each gap is a finding, never a guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterwright.catalog.archives import handed_out
from clusterwright.catalog.container_images import images, images_of, parts_of
from clusterwright.catalog.distributions import distribution
from clusterwright.catalog.repositories import installable
from clusterwright.finding import Finding, Severity, Where
from clusterwright.plan.software.lock import DISTRIBUTION, Lock


def gaps(lock: Lock, file: str, *, mirrored: bool = False) -> Iterator[Finding]:
    """Components whose packages, their exact versions, or their repository the catalog does not know.

    What a distribution carries moves with its archive: a version that nobody wished for is no gap there.
    With `mirrored` a repository of the site's own has everything.
    """
    where = Where(file)
    nameless: set[str] = set()
    loose: dict[str, set[str]] = {}
    shipped = {(name, row.version) for rows in lock.pools.values() for name, row in rows.items()}
    for rows in lock.pools.values():
        for component, locked in rows.items():
            if not locked.packages:
                nameless.add(f"{component} {locked.version}")
            for package, version in locked.packages.items():
                if version is None and locked.repository != DISTRIBUTION:
                    loose.setdefault(f"{component} {locked.version}", set()).add(package)
    for said in sorted(nameless):
        what = f"how {said} is packaged for {lock.distribution} is not known"
        remedy = "Add its rows to the catalog's packages.csv, with their source"
        yield Finding("CW1367", where, what, remedy, Severity.NOTE)
    if not mirrored:
        yield from homeless(lock, where)
    for said, packages in sorted(loose.items()):
        what = f"the exact package version of {said} is not known: {', '.join(sorted(packages))}"
        remedy = "What the repository has of that name is taken; the lock says `null`"
        yield Finding("CW1368", where, what, remedy, Severity.NOTE)
    yield from _of_images(sorted(shipped), where)


def homeless(lock: Lock, where: Where) -> Iterator[Finding]:
    """Components that nodes find in no repository, unless one of the site's own has them."""
    unknown: set[str] = set()
    elsewhere: dict[str, str] = {}
    for rows in lock.pools.values():
        for component, locked in rows.items():
            if locked.packages and locked.repository is None:
                unknown.add(f"{component} {locked.version}")
            elif locked.repository and (address := _no_repository(lock, locked.repository)):
                elsewhere[f"{component} {locked.version}"] = address
    for said in sorted(unknown):
        what = f"no source says which repository carries {said}"
        remedy = "Unless one of the lock does, name a repository that does as `software.mirror`"
        yield Finding("CW1370", where, what, remedy, Severity.WARNING)
    for said, address in sorted(elsewhere.items()):
        what = f"{said} comes from {address}, which is no signed repository: nodes install nothing from there"
        remedy = "Put its packages into a repository of your own, and name that as `software.mirror`"
        yield Finding("CW1370", where, what, remedy, Severity.WARNING)


def _of_images(shipped: Iterable[tuple[str, str]], where: Where) -> Iterator[Finding]:
    """What comes as container images: each release names all parts, and each part its digest."""
    for component, version in shipped:
        found = images_of(component, version)
        for part in sorted(parts_of(component) - set(found)):
            what = f"no source says which image is the {part} of {component} {version}"
            known = ", ".join(sorted({row.version for row in images() if row.component == component}))
            remedy = f"Wish for a release that is known: versions: {{{component}: …}}, of {known}"
            yield Finding("CW1389", where, what, remedy, Severity.ERROR)
        for image in found.values():
            if image.sha256 is None:
                what = (
                    f"no source tells the digest of {image.image}, the {image.part} of {component} {version}"
                )
                remedy = "Its tag is believed; mirror the image where that is not enough"
                yield Finding("CW1388", where, what, remedy, Severity.NOTE)


def _no_repository(lock: Lock, name: str) -> str | None:
    """The address, where it is that of files that nobody can verify, or of packages that nobody signed."""
    packages = distribution(lock.distribution).packages
    for architecture, source in lock.repositories.get(name, {}).items():
        from_there = installable(source.url, source.suite, has_key=bool(source.key_url), packages=packages)
        if not from_there and not handed_out(name, source, lock.distribution, architecture, packages):
            return source.url
    return None

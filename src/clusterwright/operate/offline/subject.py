"""What a bundle is collected for: a description, or its rehearsal with simulated vendors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from clusterwright.catalog.container_images import Image
from clusterwright.finding import Finding, Where
from clusterwright.handoff import Handoff
from clusterwright.operate.archives.asked import Asked, of_lock
from clusterwright.operate.offline.apt import Origin
from clusterwright.operate.offline.origins import Origins, of_vendors
from clusterwright.operate.prepare import Described, prepare
from clusterwright.plan.model import Mirror
from clusterwright.plan.software import Lock
from clusterwright.plan.software.shipped import Shipped, shipped
from clusterwright.spec.software import Repository


@dataclass(frozen=True)
class Subject:
    """A cluster as a site with one mirror would have it."""

    handoff: Handoff
    lock: Lock
    lock_file: str
    images: tuple[str, ...] = ()
    unknown: tuple[Image, ...] = ()
    """Images that no source tells the digest of."""
    simulated: Mirror | None = None
    """Stands for all vendors of a lab."""
    architecture: str | None = None
    """Of every node of a lab: the host's, whatever its machine types say."""

    def archives(self, processor: str) -> list[Asked]:
        """What its vendors hand out in no repository; in a lab the packages in it are the host's."""
        if self.simulated is None:
            return of_lock(self.lock, processor, self.lock.repositories)
        machines = {one for rows in self.simulated.beside.values() for one in rows}
        return [asked for one in sorted(machines) for asked in of_lock(self.lock, one, self.simulated.beside)]

    def vendors(self, processor: str, keys: Path) -> Origins:
        if self.simulated is None:
            archives = {asked.taken[0] for asked in self.archives(processor)}
            return of_vendors(self.lock.repositories, processor, keys, archives)
        key = Path(self.simulated.key)
        return Origins([Origin("simulated", f"file:{key.parent}", (self.simulated.suite,), (), key)])

    def absent(self, packages: Iterable[str], read: Collection[str]) -> Iterator[Finding]:
        """Why nobody has them, as the lock tells it; a repository that was not read has its own finding."""
        for package in sorted(packages):
            name = package.partition("=")[0]
            component, repository = self._locked(name)
            if not component:
                what, remedy = f"no repository has {package}", "See which ones could not be read"
            elif not repository:
                what = f"{package} of {component} has no repository that is known"
                remedy = "Build or get it, put it into 'added' of the output folder, and run again"
            elif repository in read or self.simulated:
                what = f"{package} of {component} is not in the repository {repository} as it is now"
                remedy = "`clusterwright lock --upgrade` moves on to what it has"
            else:
                continue
            yield Finding("CW8025", Where(self.lock_file), what, remedy)

    def nameless(self) -> Iterator[Finding]:
        """A registry may put another image behind a tag at any time, so none is collected by its tag."""
        for image in self.unknown:
            what = f"no source tells the digest of {image.image}, the {image.part} of {image.component}"
            remedy = (
                f"See it with `skopeo inspect docker://{image.image}`, and add '{image.image}@sha256:…' "
                "to software.images"
            )
            yield Finding("CW8140", Where(self.lock_file), what, remedy)

    def _locked(self, package: str) -> tuple[str, str]:
        """Component and repository of a package."""
        rows = (item for pool in self.lock.pools.values() for item in pool.items())
        found = sorted((name, row.repository or "") for name, row in rows if package in row.packages)
        return found[0] if found else ("", "")


def subject(description: Described, lock_file: str) -> Subject:
    """Raises Refused with every mistake of the description."""
    prepare(description)
    spec = description.spec
    mirror = Repository(url="http://mirror/", key="key.asc")
    software = spec.software.model_copy(update={"mirror": mirror})
    planned = prepare(_with(description, software=software))
    sites = {**({"main": spec.site} if spec.site else {}), **spec.sites}
    simulated = architecture = None
    if all(site.provider == "lab" for site in sites.values()):
        # Only where there is a lab: it knows programs that other places do not have.
        from clusterwright.operate.lab.vendors import host_architecture, simulated_vendors
        from clusterwright.providers.lab.home import LabHome

        simulated, architecture = simulated_vendors(description.lock, LabHome.of_user()), host_architecture()
    # The images of vendors are played in a lab, as their packages are.
    own = Shipped((), ()) if simulated else shipped(description.lock, spec.software.images)
    return Subject(
        planned.handoff,
        description.lock,
        lock_file,
        tuple(sorted({*spec.software.images, *own.known})),
        own.unknown,
        simulated,
        architecture,
    )


def _with(description: Described, **changed: object) -> Described:
    spec = description.spec.model_copy(update=changed)
    return Described(description.loaded, spec, description.notes, description.rehearsal_of)

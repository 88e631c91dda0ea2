"""Where packages come from: the distribution, the vendors of a lock, and what somebody added."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.catalog.distributions import Distribution
from clusterwright.catalog.transports import without
from clusterwright.finding import Finding, Refused, Severity, Where
from clusterwright.operate.home import write_atomically
from clusterwright.operate.offline.apt import Origin
from clusterwright.operate.program import Failed, run
from clusterwright.operate.vendor_keys import verified
from clusterwright.plan.software.lock import Source
from clusterwright.providers.lab.apt import sources_for

DISTRIBUTION, SECURITY, ADDED = "distribution", "security", "added"
_COMPONENTS = {"debian": ("main",), "ubuntu": ("main", "restricted", "universe")}
_SUITES = {"debian": ("", "-updates"), "ubuntu": ("", "-updates", "-security")}
"""What nodes with a package mirror ask it for."""


@dataclass
class Origins:
    """Those of one architecture, and what is wrong with the others."""

    found: list[Origin] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def of_distribution(distribution: Distribution, url: str | None = None, key: Path | None = None) -> Origin:
    """`url`, else where this machine has its own from. Raises Refused when it has none."""
    family, codename = distribution.family, distribution.codename
    if url is None:
        url = _of_this_machine(distribution)
    suites = tuple(codename + suffix for suffix in _SUITES[family])
    keyring = (key or Path(f"/usr/share/keyrings/{family}-archive-keyring.gpg")).resolve()
    return Origin(DISTRIBUTION, url.rstrip("/"), suites, _COMPONENTS[family], keyring)


def of_security(distribution: Distribution, url: str | None = None, key: Path | None = None) -> Origin | None:
    """Debian has an archive of its own for security updates: from `url`, else this machine's."""
    if distribution.family != "debian":
        return None
    suite = f"{distribution.codename}-security"
    if url is None:
        found = (source.uri for source in sources_for(distribution.codename) if source.suite == suite)
        url = next(found, None)
    if url is None:
        return None
    keyring = (key or Path("/usr/share/keyrings/debian-archive-keyring.gpg")).resolve()
    return Origin(SECURITY, url.rstrip("/"), (suite,), _COMPONENTS["debian"], keyring)


def _of_this_machine(distribution: Distribution) -> str:
    codename = distribution.codename
    if distribution.family == "debian":
        for source in sources_for(codename):
            if source.suite == codename:
                return source.uri
    what = f"this machine has no packages of {distribution.name}"
    raise Refused([_finding("CW8024", DISTRIBUTION, what, "Name a mirror that has them with --from")])


def of_vendors(
    repositories: Mapping[str, Mapping[str, Source]],
    processor: str,
    keys: Path,
    archives: Collection[str] = (),
) -> Origins:
    """Each vendor's repository whose key is the one that the catalog knows; `archives` are none."""
    origins = Origins()
    for name, rows in sorted(repositories.items()):
        if processor not in rows or name in archives:
            continue
        source = rows[processor]
        if not (source.suite and source.key_url):
            what = f"{source.url} is no signed apt repository"
            remedy = f"Get its packages from there, put them into '{ADDED}' of the output folder, run again"
            origins.findings.append(_finding("CW8022", name, what, remedy))
        elif not source.fingerprint:
            what = f"the catalog knows no fingerprint of the key {source.key_url}"
            remedy = (
                f"Get its packages by hand into '{ADDED}' of the output folder, or add the fingerprint to"
            )
            remedy += " repositories.csv and run `clusterwright lock`"
            origins.findings.append(_finding("CW8023", name, what, remedy))
        else:
            checked = verified(name, source.key_url, source.fingerprint, keys)
            if isinstance(checked, Finding):
                origins.findings.append(checked)
            else:
                url, suites = without(source.url), (source.suite,)
                origins.found.append(Origin(name, url, suites, source.components, checked))
    return origins


def of_files(name: str, files: Mapping[str, Path], folder: Path) -> Origin:
    """Packages that were verified one by one, by the names of their files: a repository of this machine."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file_name, file in files.items():
        shutil.copyfile(file, folder / file_name)
    return _flat(name, folder)


def added(folder: Path) -> Origin | None:
    """Packages that somebody put there by hand."""
    if not any(folder.glob("*.deb")):
        return None
    return _flat(ADDED, folder)


def _flat(name: str, folder: Path) -> Origin:
    write_atomically(folder / "Packages", run(["apt-ftparchive", "packages", "."], folder=folder))
    return Origin(name, f"file:{folder.resolve()}", ("./",), (), None)


def silent(origin: Origin, reason: Failed) -> Finding:
    """A repository whose index cannot be read, or is not signed as it should be."""
    remedy = "Check that this machine reaches it and has its key, and run the same command again"
    return _finding("CW8024", origin.name, f"{origin.url}: {' '.join(str(reason).split())}", remedy)


def keyless(origin: Origin, distribution: Distribution) -> Finding:
    """Nothing is taken from a distribution that cannot be verified."""
    package = {"debian": "debian-archive-keyring", "ubuntu": "ubuntu-keyring"}[distribution.family]
    what = f"the key of {distribution.name} is not on this machine ({origin.key})"
    return _finding("CW8024", origin.name, what, f"Install {package}, or name the key with --from-key")


def _finding(code: str, name: str, what: str, remedy: str) -> Finding:
    return Finding(code, Where(path=name), what, remedy, Severity.ERROR)

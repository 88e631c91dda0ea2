"""Where packages come from: what the host's own apt sources say, rewritten for the suite that nodes run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_ETC_APT = Path("/etc/apt")


@dataclass(frozen=True, slots=True)
class Source:
    """One binary archive: `deb [OPTION] URI SUITE COMPONENTS`."""

    uri: str
    suite: str
    components: tuple[str, ...]
    option: str = ""

    def __str__(self) -> str:
        option = f"[{self.option}] " if self.option else ""
        return f"deb {option}{self.uri} {self.suite} {' '.join(self.components)}"


def sources_for(
    suite: str, package_mirror: str = "", security_mirror: str = "", etc_apt: Path = _ETC_APT
) -> list[Source]:
    """The archives for a Debian suite; none when the host has none of Debian (mmdebstrap has a default)."""
    if package_mirror:
        found = [Source(package_mirror.rstrip("/"), suite, ("main",))]
        if security_mirror:
            uri = security_mirror.rstrip("/")
            # A site's copy may be older than the week for which Debian's signature holds.
            found.append(Source(uri, f"{suite}-security", ("main",), "check-valid-until=no"))
        return found
    release = _os_release()
    if release.get("ID") != "debian" or not release.get("VERSION_CODENAME"):
        return []
    return rewritten(configured(etc_apt), release["VERSION_CODENAME"], suite)


def rewritten(sources: Iterable[Source], codename: str, suite: str) -> list[Source]:
    """The distribution's own archives (release, updates, security), renamed to another release."""
    own = re.compile(rf"{re.escape(codename)}(-updates|-security)?")
    found = {
        Source(source.uri, source.suite.replace(codename, suite, 1), ("main",))
        for source in sources
        if "main" in source.components and own.fullmatch(source.suite)
    }
    complete = any(source.suite == suite for source in found)
    return sorted(found, key=lambda source: (source.suite, source.uri)) if complete else []


def configured(etc_apt: Path = _ETC_APT) -> list[Source]:
    """Every enabled binary archive of the host, in both formats of apt's sources."""
    lists = sorted(etc_apt.glob("sources.list.d/*.list"))
    found: list[Source] = []
    for path in [etc_apt / "sources.list", *lists]:
        if path.is_file():
            found.extend(_one_line_style(path.read_text(encoding="utf-8", errors="replace")))
    for path in sorted(etc_apt.glob("sources.list.d/*.sources")):
        found.extend(_deb822_style(path.read_text(encoding="utf-8", errors="replace")))
    return found


def _one_line_style(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        bare = re.sub(r"\[[^\]]*\]", " ", line.partition("#")[0]).split()
        if len(bare) >= 3 and bare[0] == "deb":
            yield Source(bare[1].rstrip("/"), bare[2], tuple(bare[3:]))


def _deb822_style(text: str) -> Iterator[Source]:
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").strip() == "no":
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield Source(uri.rstrip("/"), suite, tuple(fields.get("components", "").split()))


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    key = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and key:
            fields[key] += " " + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            key = name.strip().lower()
            fields[key] = value.strip()
    return fields


def _os_release(path: Path = Path("/etc/os-release")) -> Mapping[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}

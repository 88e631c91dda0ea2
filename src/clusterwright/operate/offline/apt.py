"""apt in a folder of its own: it resolves for machines that have nothing installed yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.operate.home import write_atomically
from clusterwright.operate.program import Failed, run

_URI = re.compile(r"'(?P<uri>[^']+)' (?P<name>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})")
_ABSENT = (
    re.compile(r"E: Unable to locate package (?P<name>\S+)"),
    re.compile(r"E: Couldn't find any package by (?:glob|regex) '(?P<name>[^']+)'"),
    re.compile(r"E: Package '(?P<name>[^']+)' has no installation candidate"),
    re.compile(r"E: Version '(?P<version>[^']+)' for '(?P<name>[^']+)' was not found"),
)
_OF_HOST = re.compile(r"Acquire::(?:https?|ftp)(?:::|\b)|Acquire::Retries")


@dataclass(frozen=True, slots=True)
class Origin:
    """A place that packages come from."""

    name: str
    url: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    key: Path | None
    """Signs it; None: unsigned, a folder of this machine."""

    def stanza(self) -> str:
        fields = {
            "Types": "deb",
            "URIs": self.url,
            "Suites": " ".join(self.suites),
            "Components": " ".join(self.components),
            "Signed-By": str(self.key) if self.key else "",
            "Trusted": "" if self.key else "yes",
        }
        return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


@dataclass(frozen=True, slots=True, order=True)
class Archive:
    """A package's file, as the signed index of its origin has it."""

    sha256: str
    uri: str
    size: int


@dataclass
class Resolved:
    """What a transaction comes to."""

    archives: set[Archive] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    """What no origin has: `name`, or `name=version`."""
    unmet: str = ""
    """apt's own words where what there is does not fit together."""


@dataclass(frozen=True)
class Apt:
    """One architecture's view. `root` may be kept from run to run."""

    root: Path
    architecture: str

    def __post_init__(self) -> None:
        self._settle()

    def update(self, origin: Origin) -> None:
        """Read an origin's index and check its signature. Raises Failed."""
        sources = self.root / "etc/sources.list.d" / f"{origin.name}.sources"
        write_atomically(sources, origin.stanza())
        one = self.root / "one" / f"{origin.name}.sources"
        write_atomically(one, origin.stanza())
        only = ["-o", f"Dir::Etc::SourceList={one}", "-o", "Dir::Etc::SourceParts=/dev/null"]
        try:
            self._run("apt-get", *only, "-o", "APT::Update::Error-Mode=any", "update")
        except Failed:
            sources.unlink()
            raise

    def resolve(self, packages: Sequence[str], release: str = "") -> Resolved:
        """Everything that installing these packages on an empty machine fetches."""
        found, left = Resolved(), list(packages)
        target = ["--target-release", release] if release else []
        while left:
            try:
                text = self._run("apt-get", *target, "--print-uris", "install", *left)
            except Failed as failed:
                absent = _absent(str(failed), left)
                if not absent:
                    found.unmet = str(failed)
                    return found
                found.absent |= absent
                left = [package for package in left if package not in absent]
                continue
            rows = (match for line in text.splitlines() if (match := _URI.fullmatch(line.strip())))
            found.archives |= {Archive(row["sha256"], row["uri"], int(row["size"])) for row in rows}
            return found
        return found

    def fetch(self, wanted: Iterable[tuple[str, Path, str]]) -> None:
        """Address, file and SHA-256 of each; checked by apt. Raises Failed."""
        words = [word for uri, file, digest in wanted for word in (uri, str(file), f"SHA256:{digest}")]
        self._run("/usr/lib/apt/apt-helper", "download-file", *words)

    def index(self, origin: Origin, suite: str) -> Path | None:
        """A suite's `InRelease` as it was verified."""
        if origin.url.startswith("file:"):
            file = Path("/" + origin.url.removeprefix("file:").lstrip("/")) / "dists" / suite / "InRelease"
            return file if file.is_file() else None
        escaped = re.sub(r"^\w+://", "", origin.url.rstrip("/")).replace("_", "%5f").replace("/", "_")
        file = self.root / "lists" / f"{escaped}_dists_{suite.replace('/', '_')}_InRelease"
        return file if file.is_file() else None

    def _run(self, *words: str) -> str:
        return run(words, {"APT_CONFIG": str(self.root / "apt.conf")})

    def _settle(self) -> None:
        """Nothing of this machine's apt but how it reaches the world: its proxies and time-outs."""
        empty = ("sources.list.d", "preferences.d", "apt.conf.d", "trusted.gpg.d")
        for folder in ("lists/partial", "cache/archives/partial", *(f"etc/{name}" for name in empty)):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for left_over in (self.root / "etc/sources.list.d").iterdir():
            left_over.unlink()
        write_atomically(self.root / "status", "")
        own = {
            "Dir::State": self.root,
            "Dir::State::Lists": self.root / "lists",
            "Dir::State::status": self.root / "status",
            "Dir::State::extended_states": self.root / "extended_states",
            "Dir::Cache": self.root / "cache",
            "Dir::Etc": self.root / "etc",
            "Dir::Etc::Main": "apt.conf",
            "Dir::Etc::Parts": "apt.conf.d",
            "APT::Architecture": self.architecture,
            "APT::Sandbox::User": "root",
            "APT::Install-Recommends": "false",
            "APT::Get::List-Cleanup": "false",
            "Acquire::ForceHash": "SHA256",
            "Acquire::Languages": "none",
            "Acquire::http::Timeout": "20",
            "Acquire::https::Timeout": "20",
        }
        lines = [f'{name} "{value}";' for name, value in own.items()]
        lines.append(f'APT::Architectures {{ "{self.architecture}"; }};')
        reach = [line for line in run(["apt-config", "dump"]).splitlines() if _OF_HOST.match(line)]
        write_atomically(self.root / "apt.conf", "".join(f"{line}\n" for line in [*reach, *lines]))


def _absent(words: str, asked: Iterable[str]) -> set[str]:
    rows = [match for pattern in _ABSENT for match in pattern.finditer(words)]
    names = {row["name"].rstrip(".") for row in rows}
    return {package for package in asked if package.partition("=")[0] in names}

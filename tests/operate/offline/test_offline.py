"""An offline bundle of a small world: what is in it, who can read it, and what is said about the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from small_world import Small, secret_key, serve

from clusterwright.bundle.offline import transactions
from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.handoff import from_plan
from clusterwright.operate.offline.apt import Apt, Origin
from clusterwright.operate.offline.collect import Collected, Wishes, collect
from clusterwright.operate.offline.signing import fingerprints, signer
from clusterwright.operate.offline.subject import Subject
from clusterwright.plan import plan
from clusterwright.plan.model import Ground, Mirror
from clusterwright.plan.software.lock import Lock, Locked, Source
from clusterwright.providers.lab.rootfs import PACKAGES as BOOTS
from clusterwright.spec.load import loads
from small_registry import Registry, digest

DESCRIPTION = """
cluster: small
site: {provider: lab}
pools:
  controller: {roles: [controller, login], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100}
users:
  ada: {uid: 2001}
software: {monitoring: false}
"""
DRIVER = Locked("580.1", "open", {"nvidia-open": "580.1-1"}, (), (), "vendor", None, ())


def lock_of(source: Source, driver: Locked = DRIVER) -> Lock:
    architectures = {"controller": "x86_64", "gpu": "x86_64"}
    return Lock("debian-13", architectures, {"vendor": {"x86_64": source}}, {"gpu": {"driver": driver}})


def subject_of(lock: Lock) -> Subject:
    spec = loads(DESCRIPTION).spec
    ground = {"main": Ground("10.9.0.0/16", mirror=Mirror("http://mirror/", "./", (), "key.asc"))}
    return Subject(from_plan(plan(spec, ground=ground, lock=lock)), lock, "small.lock.yaml")


@dataclass(frozen=True)
class World:
    """Archives that are served from folders, and the operator's key."""

    archive: Path
    security: Path
    vendor: Path
    operator: Path

    @property
    def source(self) -> Source:
        key = self.vendor / "key.asc"
        [fingerprint] = fingerprints(key)
        return Source(f"file:{self.vendor}", "stable", ("main",), key.as_uri(), fingerprint)

    def collect(self, out: Path, source: Source | None = None) -> tuple[Collected, list[Event]]:
        events: list[Event] = []
        key = self.archive / "key.asc"
        mirrors = f"file:{self.archive}", f"file:{self.security}"
        wishes = Wishes(out, str(self.operator), *mirrors, key, wheels=False)
        return collect(subject_of(lock_of(source or self.source)), wishes, events.append), events


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    wanted = {
        name.partition("=")[0]
        for transaction in transactions(subject_of(lock_of(Source("", "", (), "", None))).handoff)
        for name in transaction.packages
    } | {*BOOTS, "apt"}
    needs = {"chrony": "libtime (>= 1)", "nvidia-open": ""}
    small = [Small(name, depends=needs.get(name, "")) for name in sorted(wanted - {"nvidia-open"})]
    small += [Small("libtime"), Small("libc", essential=True), Small("libnever"), Small("firmware-gpu")]
    places = (folder / name for name in ("archive", "security", "vendor"))
    world = World(*places, secret_key(folder, "operator"))
    signs = secret_key(folder, "archive")
    serve(world.archive, small, signs, ("trixie", "trixie-updates"))
    mended = (Small("openssh-server", "1.0-1+deb13u1"), Small("openssh-client", "1.0-1+deb13u1"))
    serve(world.security, mended, signs, ("trixie-security",))
    driver = Small("nvidia-open", "580.1-1", "firmware-gpu, nvidia-core (= 580.1-1)", architecture="amd64")
    others = (Small("nvidia-core", "580.1-1"), Small("nvidia-open-next", "590.1-1"))
    serve(world.vendor, (driver, *others), secret_key(folder, "vendor"), ("stable",))
    return world


@pytest.fixture
def world(made: World, tmp_path: Path) -> World:
    """One that a test may spoil."""
    archive, vendor = tmp_path / "archive", tmp_path / "vendor"
    shutil.copytree(made.archive, archive)
    shutil.copytree(made.vendor, vendor)
    return replace(made, archive=archive, vendor=vendor)


def packages(collected: Collected) -> set[str]:
    return {file.name.partition("_")[0] for file in collected.folder.rglob("*.deb")}


def manifest(collected: Collected) -> Mapping[str, object]:
    body: Mapping[str, object] = json.loads((collected.folder / "MANIFEST.json").read_text())
    return body


def codes(collected: Collected) -> list[str]:
    return [finding.code for finding in collected.findings]


def test_it_has_what_is_asked_for_with_all_that_this_needs_and_no_more(made: World, tmp_path: Path) -> None:
    collected, _ = made.collect(tmp_path / "site")
    found = packages(collected)
    assert not collected.findings
    assert {"chrony", "libtime", "libc", "slurmd", "openssh-server", "nvidia-open", "nvidia-core"} <= found
    assert "firmware-gpu" in found, "the distribution has what a vendor's package needs"
    assert not {"libnever", "nvidia-open-next"} & found


def test_the_manifest_has_the_sha256_of_everything_and_is_signed(made: World, tmp_path: Path) -> None:
    collected, _ = made.collect(tmp_path / "site")
    folder = collected.folder
    seen = {
        str(file.relative_to(folder)): {
            "sha256": sha256(file.read_bytes()).hexdigest(),
            "size": file.stat().st_size,
        }
        for file in folder.rglob("*")
        if file.is_file() and file.name != "InRelease"
    }
    signatures = {"MANIFEST.json", "MANIFEST.json.asc", "Release.gpg"}
    listed = manifest(collected)["files"]
    assert isinstance(listed, dict)
    indices = {path for path in listed if path.endswith("InRelease")}
    suites = (
        "distribution/dists/trixie",
        "distribution/dists/trixie-updates",
        "security/dists/trixie-security",
    )
    assert indices == {f"{suite}/InRelease" for suite in suites}
    assert {path: row for path, row in listed.items() if path not in indices} == {
        path: row for path, row in seen.items() if path not in signatures
    }
    for signed in ("MANIFEST.json", "Release"):
        signature = folder / {"MANIFEST.json": "MANIFEST.json.asc", "Release": "Release.gpg"}[signed]
        argv = ["gpgv", "--keyring", str(_dearmoured(folder / "key.asc", tmp_path)), str(signature)]
        assert subprocess.run([*argv, str(folder / signed)], capture_output=True, check=False).returncode == 0


def _dearmoured(key: Path, folder: Path) -> Path:
    binary = folder / "key.gpg"
    argv = ["gpg", "--batch", "--yes", "--output", str(binary), "--dearmor", str(key)]
    subprocess.run(argv, check=True, capture_output=True)
    return binary


def test_apt_installs_everything_from_it_alone(made: World, tmp_path: Path) -> None:
    """As its nodes will see it: the distribution by its own key, everything by the operator's."""
    collected, _ = made.collect(tmp_path / "site")
    folder = collected.folder
    mirror = Origin("mirror", f"file:{folder}", ("./",), (), folder / "key.asc")
    suites = ("trixie", "trixie-updates")
    url = f"file:{folder}/distribution"
    distribution = Origin("distribution", url, suites, ("main",), made.archive / "key.asc")
    url = f"file:{folder}/security"
    security = Origin("security", url, ("trixie-security",), ("main",), made.archive / "key.asc")
    wanted = list(transactions(subject_of(lock_of(made.source)).handoff))
    for number, origins in enumerate(([mirror], [mirror, distribution], [mirror, distribution, security])):
        apt = Apt(tmp_path / f"node{number}", "amd64")
        for origin in origins:
            apt.update(origin)
        for transaction in wanted:
            resolved = apt.resolve(transaction.packages)
            assert not resolved.absent
            assert not resolved.unmet
            assert all(f"file:{folder}" in archive.uri for archive in resolved.archives)
            paths = [Path(unquote(archive.uri).removeprefix("file:")) for archive in resolved.archives]
            assert [path for path in paths if not path.is_file()] == []
    assert (folder / "distribution/dists/trixie/main/i18n/Translation-en").is_file(), "every apt asks for it"
    alone = Apt(tmp_path / "distribution-alone", "amd64")
    alone.update(distribution)
    assert not alone.resolve(["chrony", "openssh-server"]).absent


def test_security_updates_are_there_beside_what_they_update_and_no_more(made: World, tmp_path: Path) -> None:
    collected, _ = made.collect(tmp_path / "site")
    found = {
        file.relative_to(collected.folder).as_posix() for file in collected.folder.rglob("openssh-*.deb")
    }
    assert collected.secured
    assert "security/pool/openssh-server_1.0-1+deb13u1_all.deb" in found
    assert "distribution/pool/openssh-server_1.0-1_all.deb" in found, "an installer begins with the release"
    signed = "dists/trixie-security/InRelease"
    assert (collected.folder / "security" / signed).read_bytes() == (made.security / signed).read_bytes()


def test_a_mirror_that_is_named_has_the_security_updates_that_are_named(made: World, tmp_path: Path) -> None:
    key = made.archive / "key.asc"
    wishes = Wishes(
        tmp_path / "site", str(made.operator), f"file:{made.archive}", mirror_key=key, wheels=False
    )
    collected = collect(subject_of(lock_of(made.source)), wishes, lambda _: None)
    assert not collected.secured and not collected.findings
    lost = replace(wishes, out=tmp_path / "lost", security="file:/absent")
    assert codes(collect(subject_of(lock_of(made.source)), lost, lambda _: None)) == ["CW8024"]


@pytest.mark.skipif(not shutil.which("skopeo"), reason="needs skopeo")
def test_container_images_of_the_description_are_there_and_one_that_is_not_is_named(
    made: World, tmp_path: Path, registry: Registry
) -> None:
    image, gone = (f"{registry.name}:1.0@{end}" for end in (registry.image(), f"sha256:{'0' * 64}"))
    subject = replace(subject_of(lock_of(made.source)), images=(image, gone))
    key = made.archive / "key.asc"
    wishes = Wishes(
        tmp_path / "site", str(made.operator), f"file:{made.archive}", mirror_key=key, wheels=False
    )
    collected = collect(subject, wishes, lambda _: None)
    assert codes(collected) == ["CW8031"]
    assert manifest(collected)["missing"] == [f"images/amd64: {gone}"]
    inspect = ["skopeo", "inspect", f"oci:{collected.folder}/images/amd64:{registry.name}:1.0"]
    seen = subprocess.run(inspect, check=True, capture_output=True, text=True).stdout
    assert json.loads(seen)["Architecture"] == "amd64"
    listed = (collected.folder / "images/index.json").read_bytes()
    assert collected.images == digest(listed)
    index = (collected.folder / "images/amd64/index.json").read_bytes()
    assert json.loads(listed) == {"amd64": digest(index)}


def test_the_same_world_is_the_same_bundle(made: World, tmp_path: Path) -> None:
    first, _ = made.collect(tmp_path / "first")
    second, _ = made.collect(tmp_path / "second")
    assert first.folder.name == second.folder.name
    for name in ("MANIFEST.json", "Packages", "Release"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()


def test_what_is_there_is_not_fetched_again(made: World, tmp_path: Path) -> None:
    first, _ = made.collect(tmp_path / "site")
    store = tmp_path / "site" / ".cache" / "files"
    lost = next(file for file in sorted(store.iterdir()))
    before = {file.name: file.stat().st_mtime_ns for file in store.iterdir() if file != lost}
    lost.unlink()
    shutil.rmtree(first.folder)
    (tmp_path / "site" / ".partial").mkdir()
    (store / ".half-written.1").write_text("x")
    (tmp_path / "site" / ".cache" / "ftparchive.db").write_text("damaged")
    second, _ = made.collect(tmp_path / "site")
    assert second.folder == first.folder
    assert lost.exists()
    assert not (store / ".half-written.1").exists()
    assert before == {file.name: file.stat().st_mtime_ns for file in store.iterdir() if file != lost}
    assert not (tmp_path / "site" / ".partial").exists()


def test_a_package_that_nobody_has_is_named_and_can_be_added_by_hand(world: World, tmp_path: Path) -> None:
    old = replace(DRIVER, packages={"nvidia-open": "580.0-1"}, repository=None)
    wishes = Wishes(
        tmp_path / "site",
        str(world.operator),
        f"file:{world.archive}",
        mirror_key=world.archive / "key.asc",
        wheels=False,
    )
    subject = subject_of(lock_of(world.source, old))
    collected = collect(subject, wishes, lambda _: None)
    assert codes(collected) == ["CW8025"]
    assert "nvidia-open=580.0-1 of driver has no repository that is known" in collected.findings[0].what
    assert manifest(collected)["missing"] == ["nvidia-open=580.0-1"]
    assert "chrony" in packages(collected)
    added = tmp_path / "site" / "added"
    added.mkdir()
    Small("nvidia-open", "580.0-1", architecture="amd64").build(added)
    again = collect(subject, wishes, lambda _: None)
    assert not again.findings
    assert (again.folder / "added" / "nvidia-open_580.0-1_amd64.deb").is_file()
    assert again.folder != collected.folder


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"fingerprint": "0" * 40}, "CW8023"),
        ({"fingerprint": None}, "CW8023"),
        ({"key_url": "file:///absent/key.asc"}, "CW8024"),
        ({"url": "file:/absent"}, "CW8024"),
        ({"suite": ""}, "CW8022"),
    ],
)
def test_a_vendor_that_cannot_be_trusted_gives_nothing(
    made: World, tmp_path: Path, changed: dict[str, Any], code: str
) -> None:
    collected, _ = made.collect(tmp_path / "site", replace(made.source, **changed))
    assert codes(collected) == [code], "one finding, not one for each of its packages"
    assert manifest(collected)["missing"] == ["nvidia-open=580.1-1"]
    assert "nvidia-open" not in packages(collected)
    assert "chrony" in packages(collected)


def test_a_release_that_the_vendor_took_back(made: World, tmp_path: Path) -> None:
    gone = replace(DRIVER, packages={"nvidia-open": "570.9-1"})
    key = made.archive / "key.asc"
    wishes = Wishes(
        tmp_path / "site", str(made.operator), f"file:{made.archive}", mirror_key=key, wheels=False
    )
    collected = collect(subject_of(lock_of(made.source, gone)), wishes, lambda _: None)
    assert [finding.what for finding in collected.findings] == [
        "nvidia-open=570.9-1 of driver is not in the repository vendor as it is now"
    ]


def test_a_file_that_is_not_what_was_signed_is_left_out(world: World, tmp_path: Path) -> None:
    spoiled = world.archive / "pool" / "libtime_1.0-1_all.deb"
    spoiled.write_bytes(b"x" * spoiled.stat().st_size)
    collected, _ = world.collect(tmp_path / "site")
    assert codes(collected) == ["CW8028"]
    assert "libtime" not in packages(collected)
    assert manifest(collected)["missing"] == ["distribution/pool/libtime_1.0-1_all.deb"]


def test_without_the_distribution_there_is_nothing(world: World, tmp_path: Path) -> None:
    shutil.copyfile(world.vendor / "key.asc", world.archive / "key.asc")
    with pytest.raises(Refused) as refused:
        world.collect(tmp_path / "site")
    assert [finding.code for finding in refused.value.findings] == ["CW8024"]


def test_one_at_a_time(made: World, tmp_path: Path) -> None:
    refused: list[str] = []

    def second(event: Event) -> None:
        if event.step == "publish" and event.status == "started":
            with pytest.raises(Refused) as error:
                made.collect(tmp_path / "site")
            refused.extend(finding.code for finding in error.value.findings)

    key = made.archive / "key.asc"
    wishes = Wishes(
        tmp_path / "site", str(made.operator), f"file:{made.archive}", mirror_key=key, wheels=False
    )
    collect(subject_of(lock_of(made.source)), wishes, second)
    assert refused == ["CW8029"]


def test_without_a_key_nothing_is_fetched(made: World, tmp_path: Path) -> None:
    (tmp_path / "no.key").write_text("no key")
    with pytest.raises(Refused) as refused:
        replace(made, operator=tmp_path / "no.key").collect(tmp_path / "site")
    assert [finding.code for finding in refused.value.findings] == ["CW8021"]
    assert not (tmp_path / "site" / ".cache" / "files").exists()


def test_a_key_that_a_killed_run_left_is_forgotten(
    made: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed = subprocess.Popen(["true"])
    killed.wait()
    left, alive = (tmp_path / f"clusterwright-key-{pid}-x" for pid in (killed.pid, os.getpid()))
    left.mkdir()
    alive.mkdir()
    with signer(str(made.operator)):
        pass
    assert [each for each in (left, alive) if each.exists()] == [alive]

"""An offline bundle of a small world: what is in it, and that apt can read it."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote

import pytest
from archives import DRIVER, World, codes, lock_of, manifest, packages, subject_of

from clusterwright.bundle.offline import transactions
from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.operate.offline.apt import Apt, Origin
from clusterwright.operate.offline.collect import collect
from clusterwright.plan.software.lock import Locked
from clusterwright.plan.software.shipped import shipped
from small_registry import Registry, digest


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
    wishes = made.wishes(tmp_path / "site")
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
    collected = collect(subject, made.wishes(tmp_path / "site"), lambda _: None)
    assert codes(collected) == ["CW8031"]
    assert manifest(collected)["missing"] == [f"images/amd64: {gone}"]
    inspect = ["skopeo", "inspect", f"oci:{collected.folder}/images/amd64:{registry.name}:1.0"]
    seen = subprocess.run(inspect, check=True, capture_output=True, text=True).stdout
    assert json.loads(seen)["Architecture"] == "amd64"
    listed = (collected.folder / "images/index.json").read_bytes()
    assert collected.images == digest(listed)
    index = (collected.folder / "images/amd64/index.json").read_bytes()
    assert json.loads(listed) == {"amd64": digest(index)}


TCPXO = Locked("1.0.15", None, {"tcpxo": None}, (), (), None, None, ())
PLUGIN = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.15"
DAEMON = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.21"


def test_images_of_components_are_collected_by_digest_and_never_by_a_tag(made: World, tmp_path: Path) -> None:
    lock = replace(lock_of(made.source), pools={"gpu": {"driver": DRIVER, "tcpxo": TCPXO}})
    found = shipped(lock, ())
    assert [image.partition("@")[0] for image in found.known] == [PLUGIN]
    assert [image.image for image in found.unknown] == [DAEMON]
    told = f"{DAEMON}@sha256:{'1' * 64}"
    assert shipped(lock, [told]).known == (f"{PLUGIN}@{found.known[0].partition('@')[2]}", told)
    assert not shipped(lock, [told]).unknown
    subject = replace(subject_of(lock_of(made.source)), unknown=found.unknown)
    collected = collect(subject, made.wishes(tmp_path / "site"), lambda _: None)
    assert codes(collected) == ["CW8140"]
    assert f"'{DAEMON}@sha256:…' to software.images" in str(collected.findings[0].remedy)
    assert manifest(collected)["missing"] == [f"images: {DAEMON}"]


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


def test_one_at_a_time(made: World, tmp_path: Path) -> None:
    refused: list[str] = []

    def second(event: Event) -> None:
        if event.step == "publish" and event.status == "started":
            with pytest.raises(Refused) as error:
                made.collect(tmp_path / "site")
            refused.extend(finding.code for finding in error.value.findings)

    collect(subject_of(lock_of(made.source)), made.wishes(tmp_path / "site"), second)
    assert refused == ["CW8029"]

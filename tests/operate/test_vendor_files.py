"""What a vendor hands out as files: fetched over real HTTP, verified by real gpg, and opened only then."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clusterwright.bundle.archives import Files
from clusterwright.catalog.archives import with_digest
from clusterwright.event import Event
from clusterwright.finding import Finding, Refused
from clusterwright.operate.archives import gather as gathering
from clusterwright.operate.archives.asked import of_nodes
from clusterwright.operate.archives.gather import cache, gather, package_store
from clusterwright.operate.offline.signing import fingerprints
from clusterwright.operate.offline.store import sha256_of
from signed_archive import STRANGER, VENDOR, archive, keyring, publish_key, sign

EFA, X86 = "efa-installer-1.51.0", "x86_64"
FOLDER = "aws-efa-installer/DEBS/UBUNTU2404/x86_64"
NAME = "aws-efa-installer-1.51.0.tar.gz"
MEMBERS = {
    f"{FOLDER}/efa-driver/efa_3.3.0-1.amzn1_amd64.deb": b"driver",
    f"{FOLDER}/libfabric1-aws_2.7.0amzn2.0_amd64.deb": b"libfabric",
    f"{FOLDER}/rdma-core/libibverbs1_63.0-1_amd64.deb": b"verbs",
    f"{FOLDER}/openmpi40-aws_4.1.7-3_amd64.deb": b"nobody asked for it",
    f"{FOLDER}/debug/libfabric1-aws-dbg_2.7.0amzn2.0_amd64.deb": b"nor for this",
    "aws-efa-installer/DEBS/UBUNTU2204/x86_64/libfabric1-aws_2.7.0amzn2.0_amd64.deb": b"of another release",
    "../../../etc/efa_1_amd64.deb": b"a way out",
}

LINKS = {f"{FOLDER}/efa-driver/efa-link_1_amd64.deb": "/etc/shadow"}


@dataclass
class Vendor:
    """A web server of one folder, and how it behaves."""

    folder: Path
    url: str = ""
    fingerprint: str = ""
    breaks_off_after: int = 0
    asked: list[str] = field(default_factory=list)

    def handoff(
        self, packages: tuple[str, ...] = ("efa", "libfabric1-aws"), name: str = EFA, **row: Any
    ) -> Any:
        repository = {
            "url": f"{self.url}/{NAME}",
            "suite": "",
            "components": [],
            "key": None,
            "key_url": f"{self.url}/efa.key",
            "fingerprint": self.fingerprint,
            **row,
        }
        stack = {"its": {"repository": name, "packages": dict.fromkeys(packages)}}
        software = {
            "distribution": "ubuntu-24.04",
            "repositories": {name: {X86: repository}},
            "stacks": {"gpu": stack},
        }
        return SimpleNamespace(software=software)


class _Answers(BaseHTTPRequestHandler):
    def __init__(self, vendor: Vendor, *rest: Any) -> None:
        self.vendor = vendor
        super().__init__(*rest)

    def do_GET(self) -> None:
        vendor, said = self.vendor, self.headers.get("Range", "")
        vendor.asked.append(f"{self.path} {said}".strip())
        file = vendor.folder / self.path.lstrip("/")
        if not file.is_file():
            self.send_error(404)
            return
        start = int(said.removeprefix("bytes=").rstrip("-") or 0)
        content = file.read_bytes()[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.path.endswith(".gz") and vendor.breaks_off_after:
            content = content[: vendor.breaks_off_after]
        self.wfile.write(content)

    def log_message(self, *_words: object) -> None:
        """The test's own output stays readable."""


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with keyring(tmp_path_factory.mktemp("ring")) as ring:
        yield ring


@pytest.fixture
def vendor(ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    made = Vendor(tmp_path / "served")
    made.folder.mkdir()
    publish_key(ring, made.folder / "efa.key", VENDOR)
    [made.fingerprint] = fingerprints(made.folder / "efa.key")
    (made.folder / NAME).write_bytes(archive(MEMBERS, LINKS))
    sign(ring, made.folder / NAME)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Answers, made))
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def take(handoff: Any, tmp_path: Path, told: list[Event] | None = None) -> Files:
    events: list[Event] = [] if told is None else told
    return gather(of_nodes(handoff, [(EFA, X86)]), tmp_path / "keys", events.append).files


def place(vendor: Vendor) -> Path:
    [asked] = of_nodes(vendor.handoff(), [(EFA, X86)])
    return cache() / asked.place


def refused(handoff: Any, tmp_path: Path) -> Finding:
    with pytest.raises(Refused) as raised:
        take(handoff, tmp_path)
    [finding] = raised.value.findings
    return finding


def test_the_packages_of_a_signed_archive_and_nothing_else_of_it(vendor: Vendor, tmp_path: Path) -> None:
    [files] = take(vendor.handoff(), tmp_path).values()
    assert [file.name for file in files] == [
        "efa_3.3.0-1.amzn1_amd64.deb",
        "libfabric1-aws_2.7.0amzn2.0_amd64.deb",
        "libibverbs1_63.0-1_amd64.deb",
    ]
    kept = {file.package: package_store().file(file.sha256) for file in files}
    assert kept["libfabric1-aws"].read_bytes() == b"libfabric"
    assert {sha256_of(path) for path in package_store().folder.iterdir()} == {file.sha256 for file in files}
    assert not list(tmp_path.rglob("etc"))


def test_what_is_here_is_not_fetched_again(vendor: Vendor, tmp_path: Path) -> None:
    first = take(vendor.handoff(), tmp_path)
    vendor.asked.clear()
    assert take(vendor.handoff(), tmp_path) == first
    assert not vendor.asked
    for file in package_store().folder.iterdir():
        file.unlink()
    assert take(vendor.handoff(), tmp_path) == first
    assert not vendor.asked  # out of the archive that is kept


def test_what_broke_off_goes_on_where_it_ended(vendor: Vendor, tmp_path: Path) -> None:
    vendor.breaks_off_after = 200
    assert take(vendor.handoff(), tmp_path)
    ranges = [line for line in vendor.asked if "bytes=" in line]
    assert ranges[:2] == [f"/{NAME} bytes=200-", f"/{NAME} bytes=400-"]


def test_a_run_that_was_killed_is_gone_on_with(vendor: Vendor, tmp_path: Path) -> None:
    part = place(vendor) / f"{NAME}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes((vendor.folder / NAME).read_bytes()[:300])
    assert take(vendor.handoff(), tmp_path)
    assert f"/{NAME} bytes=300-" in vendor.asked


def test_what_was_put_there_by_hand_is_verified_all_the_same(vendor: Vendor, tmp_path: Path) -> None:
    folder = place(vendor)
    folder.mkdir(parents=True)
    for name in (NAME, f"{NAME}.sig"):
        (vendor.folder / name).rename(folder / name)
    assert take(vendor.handoff(), tmp_path)
    assert vendor.asked == ["/efa.key"]


def test_nobody_answers(vendor: Vendor, tmp_path: Path) -> None:
    (vendor.folder / NAME).unlink()
    found = refused(vendor.handoff(), tmp_path)
    assert (found.code, str(found.where)) == ("CW8295", EFA)
    assert "Not Found" in found.what
    assert str(place(vendor) / NAME) in found.remedy and f"{NAME}.sig" in found.remedy


@pytest.mark.parametrize("how", ["tampered with", "another signer", "another file's signature"])
def test_what_the_vendor_did_not_sign_is_not_opened(
    vendor: Vendor, ring: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = vendor.folder / NAME
    if how == "another signer":
        sign(ring, file, STRANGER)
    else:
        file.write_bytes(archive({**MEMBERS, f"{FOLDER}/efa_9_amd64.deb": b"more"}, LINKS))
    monkeypatch.setattr(gathering, "unpacked", lambda *_: pytest.fail("it was opened"))
    found = refused(vendor.handoff(), tmp_path)
    assert (found.code, str(found.where)) == ("CW8296", EFA)
    assert not (place(vendor) / NAME).exists()


def test_a_key_that_is_not_the_one_that_is_known_verifies_nothing(vendor: Vendor, tmp_path: Path) -> None:
    assert refused(vendor.handoff(fingerprint="0" * 40), tmp_path).code == "CW8023"


def test_of_two_keys_in_a_file_only_the_known_one_may_sign(
    vendor: Vendor, ring: Path, tmp_path: Path
) -> None:
    publish_key(ring, vendor.folder / "efa.key", VENDOR, STRANGER)
    sign(ring, vendor.folder / NAME, STRANGER)
    found = refused(vendor.handoff(), tmp_path)
    assert found.code == "CW8296" and f"and not by {vendor.fingerprint}" in found.what


def test_an_archive_that_lacks_a_package_is_refused_by_its_name(vendor: Vendor, tmp_path: Path) -> None:
    found = refused(vendor.handoff(("efa", "libnccl-ofi")), tmp_path)
    assert found.code == "CW8297"
    assert "has no libnccl-ofi in" in found.what and FOLDER in found.what


def test_signed_rubbish_is_no_archive(vendor: Vendor, ring: Path, tmp_path: Path) -> None:
    (vendor.folder / NAME).write_bytes(b"not an archive")
    sign(ring, vendor.folder / NAME)
    assert refused(vendor.handoff(), tmp_path).code == "CW8297"


def test_a_single_file_is_held_against_its_digest(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, known = "apptainer-1.4.5", "apptainer_1.4.5_amd64.deb"
    (vendor.folder / known).write_bytes(b"apptainer")
    handoff = vendor.handoff(("apptainer",), name, url=f"{vendor.url}/", key_url="", fingerprint=None)
    with pytest.raises(Refused) as raised:
        gather(of_nodes(handoff, [(name, X86)]), tmp_path / "keys", lambda _: None)
    assert raised.value.findings[0].code == "CW8296"
    digest = sha256_of(vendor.folder / known)
    monkeypatch.setattr(gathering, "wrong_digest", lambda file, _: "" if sha256_of(file) == digest else "no")
    [files] = gather(of_nodes(handoff, [(name, X86)]), tmp_path / "keys", lambda _: None).files.values()
    assert [file.package for file in files] == ["apptainer"]
    assert package_store().file(digest).read_bytes() == b"apptainer"


def test_a_single_file_is_held_against_its_signature(vendor: Vendor, ring: Path, tmp_path: Path) -> None:
    name, file = "mountpoint-s3-1.24.0", vendor.folder / "mount-s3-1.24.0-x86_64.deb"
    file.write_bytes(b"mount-s3")
    sign(ring, file, STRANGER, ".asc")
    handoff = vendor.handoff(("mount-s3",), name, url=f"{vendor.url}/")
    with pytest.raises(Refused) as raised:
        gather(of_nodes(handoff, [(name, X86)]), tmp_path / "keys", lambda _: None)
    assert raised.value.findings[0].code == "CW8296"
    sign(ring, file, VENDOR, ".asc")
    [[one]] = gather(of_nodes(handoff, [(name, X86)]), tmp_path / "keys", lambda _: None).files.values()
    assert (one.package, package_store().file(one.sha256).read_bytes()) == ("mount-s3", b"mount-s3")


def test_a_source_is_held_against_the_digest_that_its_address_carries(vendor: Vendor, tmp_path: Path) -> None:
    """As what a lab plays does; without one it is the digest of the catalog."""
    name, known = "nccl-tests-2.17.6", "nccl-tests-2.17.6.tar.gz"
    (vendor.folder / known).write_bytes(b"source")
    digest = sha256_of(vendor.folder / known)

    def asked(url: str) -> Any:
        return of_nodes(
            vendor.handoff(("nccl-tests",), name, url=url, key_url="", fingerprint=None), [(name, X86)]
        )

    with pytest.raises(Refused) as raised:
        gather(asked(f"{vendor.url}/"), tmp_path / "keys", lambda _: None)
    assert raised.value.findings[0].code == "CW8296"
    [[one]] = gather(
        asked(with_digest(f"{vendor.url}/", digest)), tmp_path / "keys", lambda _: None
    ).files.values()
    assert (one.name, one.package, one.sha256) == (known, "nccl-tests", digest)

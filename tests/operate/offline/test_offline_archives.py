"""What a vendor hands out in no repository is collected like everything else, once it was verified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from archives import World, codes, lock_of, manifest, packages, subject_of
from small_world import Small

from clusterwright.catalog.archives import with_digest
from clusterwright.operate.offline.collect import collect
from clusterwright.operate.offline.store import sha256_of
from clusterwright.plan.software.lock import Lock, Locked, Source
from clusterwright.providers.lab.vendor.source import build_source
from signed_archive import published

EFA = "efa-installer-1.51.0"
FOLDER = "aws-efa-installer/DEBS/DEBIAN13/x86_64"
DRIVER = Locked("1.51.0", "", {"efa": None}, (), (), EFA, None, ())


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """Amazon's installer with a driver that needs its own verbs, and a library of the distribution."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built = tmp_path / "built"
    built.mkdir()
    needs = "libibverbs1 (>= 63), libtime"
    for package in (Small("efa", "3.3.0-1", needs), Small("libibverbs1", "63.0-1"), Small("efa-nobody")):
        package.build(built)
    places = {"efa_3": f"{FOLDER}/efa-driver", "libib": f"{FOLDER}/rdma-core", "efa-n": FOLDER}
    members = {
        f"{folder}/{file.name}": file.read_bytes()
        for start, folder in places.items()
        for file in built.glob(f"{start}*.deb")
    }
    return published(tmp_path, members)


def lock(made: World, source: Source) -> Lock:
    return replace(
        lock_of(made.source), repositories={EFA: {"x86_64": source}}, pools={"gpu": {"efa": DRIVER}}
    )


def test_a_signed_archive_is_collected_with_what_its_packages_need(
    made: World, source: Source, tmp_path: Path
) -> None:
    collected = collect(subject_of(lock(made, source)), made.wishes(tmp_path / "site"), lambda _: None)
    assert not collected.findings
    folder = collected.folder / "vendors" / EFA
    assert sorted(file.name for file in folder.iterdir()) == [
        "efa_3.3.0-1_all.deb",
        "libibverbs1_63.0-1_all.deb",
    ]
    assert {"chrony", "libtime"} <= packages(collected)
    assert "Package: efa\n" in (collected.folder / "Packages").read_text()


def test_an_archive_that_another_signed_gives_nothing(made: World, source: Source, tmp_path: Path) -> None:
    forged = replace(source, fingerprint="0" * 40)
    collected = collect(subject_of(lock(made, forged)), made.wishes(tmp_path / "site"), lambda _: None)
    assert codes(collected) == ["CW8023"], "one finding, not one for each of its packages"
    assert manifest(collected)["missing"] == ["efa"]
    assert "efa" not in packages(collected)
    assert "chrony" in packages(collected)


def test_what_nodes_build_lies_beside_the_packages(made: World, tmp_path: Path) -> None:
    file = build_source("nccl-tests-2.17.6.tar.gz", tmp_path / "vendor")
    address = with_digest(f"{file.parent.as_uri()}/", sha256_of(file))
    tests = Locked("2.17.6", "", {"nccl-tests": "2.17.6"}, (), (), "nccl-tests-2.17.6", None, ())
    sources = {"nccl-tests-2.17.6": {"x86_64": Source(address, "", (), "", None)}}
    of = replace(lock_of(made.source), repositories=sources, pools={"gpu": {"nccl_tests": tests}})
    collected = collect(subject_of(of), made.wishes(tmp_path / "site"), lambda _: None)
    assert not collected.findings
    assert (collected.folder / "sources" / file.name).read_bytes() == file.read_bytes()
    assert "nccl-tests" not in (collected.folder / "Packages").read_text()

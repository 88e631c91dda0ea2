from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from archives import World, lock_of, subject_of
from small_world import Small, secret_key, serve

from clusterwright.bundle.offline import transactions
from clusterwright.plan.software.lock import Source
from clusterwright.providers.lab.rootfs import PACKAGES as BOOTS
from small_registry import Registry, serving


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with serving(tmp_path / "home") as made:
        yield made


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    wanted = {
        name.partition("=")[0]
        for transaction in transactions(subject_of(lock_of(Source("", "", (), "", None))).handoff)
        for name in transaction.packages
    } | {*BOOTS, "apt", "g++", "make"}
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

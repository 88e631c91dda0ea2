"""What an offline bundle goes without, and what it is not made without: each is named."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from archives import DRIVER, World, codes, lock_of, manifest, packages, subject_of
from small_world import Small

from clusterwright.finding import Refused
from clusterwright.operate.offline.collect import collect
from clusterwright.operate.offline.signing import signer


def test_a_package_that_nobody_has_is_named_and_can_be_added_by_hand(world: World, tmp_path: Path) -> None:
    old = replace(DRIVER, packages={"nvidia-open": "580.0-1"}, repository=None)
    wishes = world.wishes(tmp_path / "site")
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
    collected = collect(
        subject_of(lock_of(made.source, gone)), made.wishes(tmp_path / "site"), lambda _: None
    )
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


def test_without_a_key_nothing_is_fetched(made: World, tmp_path: Path) -> None:
    (tmp_path / "no.key").write_text("no key")
    with pytest.raises(Refused) as refused:
        replace(made, operator=tmp_path / "no.key").collect(tmp_path / "site")
    assert [finding.code for finding in refused.value.findings] == ["CW8021"]
    assert not (tmp_path / "site" / ".cache" / "files").exists()


def test_a_key_that_a_killed_run_left_is_forgotten(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory() as short:  # gpg's agent listens there, and the path of a socket ends at 108
        monkeypatch.setattr("tempfile.tempdir", short)
        killed = subprocess.Popen(["true"])
        killed.wait()
        left, alive = (Path(short, f"clusterwright-key-{pid}-x") for pid in (killed.pid, os.getpid()))
        left.mkdir()
        alive.mkdir()
        with signer(str(made.operator)):
            pass
        assert [each for each in (left, alive) if each.exists()] == [alive]

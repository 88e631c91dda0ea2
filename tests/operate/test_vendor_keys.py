"""The key that a node trusts is the one that the catalog knows, and no other that came in the same file."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clusterwright.bundle.repositories import Apt, Dnf, Repository
from clusterwright.catalog.transports import transports
from clusterwright.finding import Refused
from clusterwright.operate.offline.signing import fingerprints
from clusterwright.operate.vendor_keys import texts


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A vendor's file with two keys, and the fingerprint of the first."""
    folder = tmp_path_factory.mktemp("vendor")
    gpg = ["gpg", "--homedir", str(folder), "--batch", "--quiet", "--passphrase", ""]
    for name in ("first", "second"):
        key = f"{name}@example.com"
        subprocess.run([*gpg, "--quick-generate-key", key, "ed25519", "sign", "never"], check=True)
    one = subprocess.run([*gpg, "--armor", "--export", "first@example.com"], check=True, capture_output=True)
    both = subprocess.run([*gpg, "--export"], check=True, capture_output=True)
    subprocess.run(["gpgconf", "--homedir", str(folder), "--kill", "all"], check=True)
    (folder / "one.asc").write_bytes(one.stdout)
    (folder / "both.gpg").write_bytes(both.stdout)
    [fingerprint] = fingerprints(folder / "one.asc")
    return folder / "both.gpg", fingerprint


def handoff(url: str, fingerprint: str | None) -> Any:
    row = {"url": "https://vendor.example", "key": None, "key_url": url, "fingerprint": fingerprint}
    return SimpleNamespace(software={"repositories": {"nvidia-cuda": {"x86_64": row}}})


def test_only_the_key_that_is_known_is_trusted(published: tuple[Path, str], tmp_path: Path) -> None:
    file, fingerprint = published
    assert len(fingerprints(file)) == 2
    [text] = texts(handoff(file.as_uri(), fingerprint), tmp_path).values()
    (tmp_path / "trusted.asc").write_text(text)
    assert fingerprints(tmp_path / "trusted.asc") == {fingerprint}


def test_the_key_of_what_brings_a_way_of_fetching_is_asked_for_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: tuple[Path, str]
) -> None:
    file, fingerprint = published
    transport = transports()["ar+https"]
    played = replace(transport.repository, key_url=file.as_uri(), fingerprint=fingerprint)
    known = {"ar+https": replace(transport, repository=played)}
    monkeypatch.setattr("clusterwright.catalog.transports.transports", lambda: known)
    made = handoff("", None)
    assert texts(made, tmp_path) == {}
    made.software["repositories"]["nvidia-cuda"]["x86_64"]["url"] = "ar+https://vendor.example"
    assert list(texts(made, tmp_path)) == [file.as_uri()]


def test_it_is_fetched_once(published: tuple[Path, str], tmp_path: Path) -> None:
    file, fingerprint = published
    copy = tmp_path / "vendor.gpg"
    copy.write_bytes(file.read_bytes())
    first = texts(handoff(copy.as_uri(), fingerprint), tmp_path / "kept")
    copy.unlink()
    assert texts(handoff(copy.as_uri(), fingerprint), tmp_path / "kept") == first


@pytest.mark.parametrize(
    ("fingerprint", "words"), [("0" * 40, "and not 00000"), (None, "knows no fingerprint")]
)
def test_another_key_is_refused_by_name(
    published: tuple[Path, str], tmp_path: Path, fingerprint: str | None, words: str
) -> None:
    with pytest.raises(Refused) as raised:
        texts(handoff(published[0].as_uri(), fingerprint), tmp_path)
    [finding] = raised.value.findings
    assert (finding.code, str(finding.where)) == ("CW8023", "nvidia-cuda")
    assert words in finding.what
    assert not list(tmp_path.iterdir())


ROW = {"url": "https://example.com/r", "suite": "/", "components": (), "key_url": "https://example.com/k"}


def test_a_node_gets_the_key_and_fetches_none() -> None:
    key = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
    apt = {file.path: file.content for file in Apt().files(Repository("v", ROW, None, key))}
    assert apt["/etc/apt/keyrings/clusterwright-v.asc"] == key
    dnf = {file.path: file.content for file in Dnf().files(Repository("v", ROW, None, key))}
    repo = dnf["/etc/yum.repos.d/clusterwright-v.repo"]
    assert "gpgkey=file:///etc/pki/rpm-gpg/clusterwright-v.asc\n" in repo and "gpgcheck=1\n" in repo

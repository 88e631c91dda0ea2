"""The site's key for kernel modules: looked at before a node is, and never kept on one."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from clusterwright.bundle import signing
from clusterwright.bundle.generated import attachments
from clusterwright.checks import check
from clusterwright.converge import inventory
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.module_signing import signing_pair
from clusterwright.plan import plan
from clusterwright.spec.load import loads

TEXT = """\
cluster: signed
site: {provider: onprem, network: 10.9.0.0/24}
pools:
  controller: {roles: [controller, storage], machine: generic-x86-16c}
  gpu: {roles: compute, machine: hgx-h100-8gpu}
software: {module_signing: {key: mok.key, certificate: mok.pem}, distribution: DISTRIBUTION}
converge: CONVERGE
"""


def text(*, distribution: str = "debian-12", converge: str = "push") -> str:
    return TEXT.replace("DISTRIBUTION", distribution).replace("CONVERGE", converge)


def handoff(*, simulated: bool = False) -> Handoff:
    made = from_plan(plan(loads(text()).spec))
    site = {name: {**row, "simulated": simulated} for name, row in made.site.items()}
    return replace(made, site=site)


def make(folder: Path, name: str = "mok", *more: str) -> None:
    argv = ["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-subj", "/CN=Site modules"]
    made = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem")]
    subprocess.run([*argv, *(more or ["-nodes"]), *made], check=True, capture_output=True)
    (folder / f"{name}.key").chmod(0o600)


def wrong(folder: Path) -> list[str]:
    with pytest.raises(Refused) as refused:
        signing_pair(handoff(), folder, folder / "keys")
    return [finding.what for finding in refused.value.findings]


def test_a_key_and_its_certificate_are_taken_as_they_are(tmp_path: Path) -> None:
    make(tmp_path)
    pair = signing_pair(handoff(), tmp_path, tmp_path / "keys")
    assert pair is not None
    assert pair.key == (tmp_path / "mok.key").read_bytes()
    assert pair.certificate == (tmp_path / "mok.pem").read_text()


def test_what_is_wrong_with_them_is_told_before_a_node_is_touched(tmp_path: Path) -> None:
    assert wrong(tmp_path) == ["cannot be read", "cannot be read"]
    make(tmp_path)
    make(tmp_path, "other")
    (tmp_path / "other.pem").rename(tmp_path / "mok.pem")
    (tmp_path / "mok.key").chmod(0o644)
    assert wrong(tmp_path) == [
        "others than you can read this private key",
        "is not the certificate of mok.key: their public keys differ",
    ]
    make(tmp_path, "mok", "-passout", "pass:secret")
    assert wrong(tmp_path) == ["is no private key that openssl can use"]


def test_a_lab_signs_with_a_key_of_its_own_made_once(tmp_path: Path) -> None:
    first = signing_pair(handoff(simulated=True), tmp_path, tmp_path / "keys")
    assert first is not None and first == signing_pair(handoff(simulated=True), tmp_path, tmp_path / "keys")
    assert (tmp_path / "keys/module-signing.key").stat().st_mode & 0o777 == 0o600


def test_the_key_is_named_to_ansible_only_while_it_is_lent(tmp_path: Path) -> None:
    for keys, told in (({signing.KEY: b"secret"}, signing.KEY), ({}, "")):
        written = inventory.write(tmp_path, handoff(), [], {}, keys).read_text()
        assert f'"clusterwright_signing_key": "{told}"' in written
        assert "secret" not in written


def test_nodes_that_build_modules_are_told_of_certificate_and_key() -> None:
    texts = {"mok.pem": "a certificate\n"}
    told = {file.path: file.content for file in signing.files(handoff(), ["driver", "cuda"], texts)}
    assert told.pop(signing.CERTIFICATE) == "a certificate\n"
    copy, conf = sorted(told)[1], told[sorted(told)[0]]
    assert told[copy] == "a certificate\n", "DKMS may write over it"
    assert f'mok_signing_key="{signing.KEY}"' in conf and f'mok_certificate="{copy}"' in conf
    assert list(signing.files(handoff(), ["cuda"], texts)) == []
    assert "mok.pem" in attachments(handoff())


def test_nodes_that_pull_would_have_to_keep_the_key() -> None:
    loaded = loads(text(converge="pull"))
    assert "CW1298" in {finding.code for finding in check(loaded.spec, loaded.where)}
    assert "CW1298" not in {finding.code for finding in check(loads(text()).spec, loaded.where)}

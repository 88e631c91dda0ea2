"""A site of machines behind real emulators, and its description."""

from __future__ import annotations

import hashlib
import json
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.bmc import ipmi_bmc, redfish_bmcs

from clusterwright.cli import main

GPUS = {f"127.0.7.{number}": f"gpu{number}" for number in (1, 2, 3)}
OLD, DEAD = "127.0.7.4", "127.0.7.5"
SITE = """\
cluster: hall
site:
  provider: onprem
  network: 10.70.0.0/24
  machines: machines.csv
  bmc_network: 127.0.7.0/24
  bmc_credentials: file:login
  bmc: {{redfish_port: {redfish}, ipmi_port: {ipmi}, ipmi_cipher_suite: 3}}
  rooms: {{hall: {{rack: {{pdus: {{a: {{limit: 40 kW, starts: 1}}}}}}, rows: {{a: {{racks: a1}}}}}}}}
pools:
  head: {{roles: [controller, login], machine: generic-x86-16c, nodes: head}}
  gpu: {{roles: compute, machine: rtx4090-workstation, nodes: "gpu[1-5]",
        racks: {{names: a1, nodes_per_rack: 5, first_unit: 1, units: 4}}}}
"""


@dataclass
class Hall:
    """Three machines with Redfish, one with IPMI, one that is dead; and the controller without a BMC."""

    folder: Path
    bmcs: redfish_bmcs.Bmcs
    old: Path
    rows: dict[str, dict[str, str]]
    capsys: pytest.CaptureFixture[str]

    @property
    def file(self) -> str:
        return str(self.folder / "hall.yaml")

    def write(self) -> None:
        heads = ["node", *dict.fromkeys(head for row in self.rows.values() for head in row)]
        lines = [
            ",".join([node, *(row.get(head, "") for head in heads[1:])]) for node, row in self.rows.items()
        ]
        (self.folder / "machines.csv").write_text("\n".join([",".join(heads), *lines]) + "\n")

    def run(self, *words: str) -> tuple[int, str, str]:
        """Through the command line: its exit code, and what it printed."""
        self.write()
        self.capsys.readouterr()
        code = main(list(words))
        out, err = self.capsys.readouterr()
        assert redfish_bmcs.PASSWORD not in out + err
        return code, out, err

    def told(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The same as JSON; of what prints an object a line, the last."""
        code, out, _ = self.run(*words, "--json")
        return code, json.loads(out if out.startswith(("{\n", "[\n")) else out.splitlines()[-1])


def certificate(folder: Path, address: str) -> Path:
    """One that it signed itself, with its key, as BMCs come."""
    made = folder / f"{address}.pem"
    words = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", f"/CN={address}", "-addext", f"subjectAltName=IP:{address}"]
    argv = ["openssl", "req", *words, *names, "-keyout", str(made), "-out", str(made) + ".crt"]
    subprocess.run(argv, check=True, capture_output=True)
    made.write_text(made.read_text() + Path(f"{made}.crt").read_text())
    return made


def fingerprint(made: Path) -> str:
    body = Path(f"{made}.crt").read_text()
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(body)).hexdigest()


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[redfish_bmcs.Bmcs, Path]]:
    if not (shutil.which("ipmi_sim") and shutil.which("ipmitool")):
        pytest.skip("needs openipmi and ipmitool")
    folder = tmp_path_factory.mktemp("bmcs")
    certificates = {address: certificate(folder, address) for address in GPUS}
    machines = {address: _machine(address) for address in GPUS}
    bmcs = redfish_bmcs.Bmcs(machines, certificates)
    old = tmp_path_factory.mktemp("old")
    with redfish_bmcs.served(bmcs, folder), ipmi_bmc.served(OLD, old, "SN4"):
        yield bmcs, old


def _machine(address: str) -> dict[str, Any]:
    number = address.rpartition(".")[2]
    system = "/redfish/v1/Systems/ID"
    return {
        "uuid": f"00000000-0000-4000-8000-00000000000{number}",
        "name": f"gpu{number}",
        "power_state": "Off",
        "nics": [{"mac": redfish_bmcs.CARD.format(int(number)), "ip": f"10.70.0.{number}"}],
        "says": {
            system: {"SerialNumber": f"SN{number}", "Manufacturer": "Played", "Model": "HGX 8"},
            "/redfish/v1/Managers/ID": {"Model": "Emulated 9", "FirmwareVersion": "1.13"},
        },
    }


@pytest.fixture
def hall(
    tmp_path: Path,
    played: tuple[redfish_bmcs.Bmcs, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Hall:
    """As new: every machine off, and everything described as it is."""
    bmcs, old = played
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # These BMCs share two cores with the rest of the tests.
    monkeypatch.setattr("clusterwright.operate.bmc.certificate.PATIENCE", 60.0)
    monkeypatch.setattr("clusterwright.operate.bmc.ipmi._PING_SECONDS", 20.0)
    for address in GPUS:
        fresh = _machine(address)
        system = bmcs.system(address)
        system.clear()
        bmcs.driver._update({**system, **fresh})
    (old / "power").write_text("0\n")
    (old / "boot").write_text("default\n")
    for name in ("stubborn", "told"):
        (old / name).unlink(missing_ok=True)
    login = tmp_path / "login"
    login.touch(mode=0o600)
    login.write_text(f"{redfish_bmcs.USER}:{redfish_bmcs.PASSWORD}\n")
    (tmp_path / "hall.yaml").write_text(SITE.format(redfish=redfish_bmcs.PORT, ipmi=ipmi_bmc.PORT))
    rows = {
        node: {"bmc_address": address, "serial": f"SN{node[-1]}", "bmc_certificate": fingerprint(made)}
        for address, node in GPUS.items()
        for made in [bmcs.certificates[address]]
    }
    rows |= {"gpu4": {"bmc_address": OLD, "serial": "SN4"}, "gpu5": {"bmc_address": DEAD, "serial": "SN5"}}
    return Hall(tmp_path, bmcs, old, rows, capsys)

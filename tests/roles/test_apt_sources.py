"""Repositories that apt is told of, read by the real apt; without a mirror, as on a machine of a cloud."""

from __future__ import annotations

import os
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from clusterwright.bundle.repositories import Apt, Repository
from clusterwright.catalog.transports import transports
from clusterwright.handoff import Handoff

from . import solved
from .test_debs_module import build, listed

FOLDER = "/etc/apt/sources.list.d/"
OWN = "slurm_repository: {url: https://packages.example.internal/slurm, key: keys/site.asc}"
STACKS = [
    ("p5.48xlarge", "debian-13", "{}", "aws"),
    ("a3-megagpu-8g", "debian-12", "{}", "gcp"),
    ("hgx-h100-8gpu", "ubuntu-24.04", "{pyxis: any, apptainer: any}", "onprem"),
    ("l4-server", "ubuntu-22.04", f"{{lustre: any}}, {OWN}", "onprem"),
]


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: "-".join(stack[:2]))
def test_apt_reads_every_source_of_a_node_and_trusts_each_by_a_key(
    stack: tuple[str, str, str, str], tmp_path: Path
) -> None:
    machine, distribution, versions, provider = stack
    release = 'scheduler: {release: "25.11"}' if OWN in versions else ""
    wanted = _files(solved.handoff(machine, distribution, versions, release, provider))
    sources = {path: text for path, text in wanted.items() if path.startswith(FOLDER)}
    assert sources
    for path, text in sources.items():
        (tmp_path / Path(path).name).write_text(text)
        keyring = next(line.split()[1] for line in text.splitlines() if line.startswith("Signed-By:"))
        assert keyring in wanted, path
        scheme = next(line.split()[1] for line in text.splitlines() if line.startswith("URIs:")).split(":")[0]
        if scheme not in ("http", "https"):
            transport = transports()[scheme]
            assert wanted[f"/etc/clusterwright/apt-transports/{scheme}"] == f"{transport.package}\n"
            assert f"{FOLDER}clusterwright-{transport.repository.name}.sources" in sources
    only = ("Dir::Etc::sourcelist=/dev/null", f"Dir::Etc::sourceparts={tmp_path}", f"Dir::State={tmp_path}")
    command = ["apt-get", *(f"--option={name}" for name in only), "indextargets"]
    told = subprocess.run(command, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")


def _files(made: Handoff) -> dict[str, str]:
    """With the keys that `up` fetches of vendors."""
    rows = [row for by_machine in made.software["repositories"].values() for row in by_machine.values()]
    keys = {row["key_url"]: "key\n" for row in rows if row["key_url"]}
    wanted = solved.bundle(made, keys).wanted(solved.compute(made))
    return {file.path: file.content or "" for file in wanted.files}


def test_what_belongs_to_others_is_not_taken_from_a_vendor(tmp_path: Path) -> None:
    archive, state = tmp_path / "archive", tmp_path / "state"
    for name in ("mft", "kernel-mft-dkms", "cuda-toolkit"):
        build(archive, name, "1", "")
    listed(archive)
    handler = partial(SimpleHTTPRequestHandler, directory=str(archive))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        row = {"url": url, "suite": "./", "components": [], "key_url": "https://vendor.example/key"}
        files = {file.path: file.content for file in Apt().files(Repository("nvidia-cuda", row, None, "key"))}
        preferences = tmp_path / "preferences"
        preferences.mkdir()
        [pins] = [text for path, text in files.items() if path.startswith("/etc/apt/preferences.d/")]
        (preferences / "pins").write_text(pins)
        (tmp_path / "sources.list").write_text(f"deb [trusted=yes] {url} ./\n")
        (state / "lists/partial").mkdir(parents=True)
        (state / "status").touch()
        options = {
            "Dir::Etc::sourcelist": tmp_path / "sources.list",
            "Dir::Etc::sourceparts": tmp_path / "none",
            "Dir::Etc::preferencesparts": preferences,
            "Dir::State": state,
            "Dir::State::status": state / "status",
            "Dir::Cache": tmp_path,
            "APT::Sandbox::User": "",
        }
        words = [f"--option={name}={value}" for name, value in options.items()]
        subprocess.run(["apt-get", *words, "update"], check=True, capture_output=True)
        server.shutdown()
    asked = ["apt-cache", *words, "policy", "mft", "kernel-mft-dkms", "cuda-toolkit"]
    told = subprocess.run(
        asked, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    candidates = [line.split()[1] for line in told.stdout.splitlines() if "Candidate:" in line]
    assert candidates == ["(none)", "(none)", "1"]

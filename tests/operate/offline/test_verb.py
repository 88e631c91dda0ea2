"""`clusterwright bundle` as a person and a program see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from small_world import Small, secret_key, serve

from clusterwright.bundle.offline import transactions
from clusterwright.operate.offline.subject import subject
from clusterwright.operate.prepare import described
from clusterwright.operate.source import Source
from clusterwright.providers.lab.rootfs import PACKAGES as BOOTS

DESCRIPTION = """
cluster: small
site: {provider: lab}
pools:
  box: {roles: [controller, login, compute], machine: lab-h100}
users:
  ada: {uid: 2001}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("verb")
    file = folder / "small.yaml"
    file.write_text(DESCRIPTION)
    home = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in home.items():
            patch.setenv(name, value)
        about = subject(described(Source(file)), "small.lock.yaml")
    wanted = {name for one in transactions(about.handoff) for name in one.packages if "=" not in name}
    carried = sorted(wanted | {*BOOTS, "apt", "dkms", "kmod"})
    small = [*map(Small, carried), Small("libc", essential=True)]
    serve(folder / "archive", small, secret_key(folder, "archive"), ("trixie", "trixie-updates"))
    secret_key(folder, "operator")
    yield folder
    ring = str(folder / "ring-operator")
    subprocess.run(["gpgconf", "--homedir", ring, "--kill", "all"], check=True)


def bundle(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [
        str(Path(sys.executable).parent / "clusterwright"),
        "bundle",
        "small.yaml",
        "--offline",
        "--out",
        "site",
    ]
    argv += ["--from", f"file:{folder}/archive", "--from-key", "archive/key.asc", "--no-wheels", *words]
    home = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}
    environ = {**os.environ, **home, "GNUPGHOME": str(folder / "ring-operator")}
    return subprocess.run(
        argv, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_lines_for_the_description_are_a_description(folder: Path) -> None:
    done = bundle(folder, "--url", "http://10.0.0.5/")
    assert done.returncode == 0, done.stderr
    [made] = [each for each in (folder / "site").iterdir() if not each.name.startswith(".")]
    lines = done.stdout.partition("\n\n")[2]
    assert yaml.safe_load(lines) == {
        "surroundings": {"package_mirror": f"http://10.0.0.5/{made.name}/distribution"},
        "software": {"mirror": {"url": f"http://10.0.0.5/{made.name}", "key": "key.asc"}},
    }
    assert list((made / "vendors" / "simulated").glob("nvidia-*.deb")), "a lab's vendors are simulated"
    (folder / "inside.yaml").write_text(DESCRIPTION + lines)
    (folder / "key.asc").write_bytes((made / "key.asc").read_bytes())
    argv = [str(Path(sys.executable).parent / "clusterwright"), "validate", "inside.yaml"]
    checked = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stderr


def test_a_program_reads_objects(folder: Path) -> None:
    done = bundle(folder, "--json", "--key", "operator@example.com")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert all("event" in row for row in rows[:-1])
    assert rows[-1]["findings"] == []
    assert (folder / rows[-1]["folder"] / "MANIFEST.json").is_file()


def test_what_cannot_be_used_is_said(folder: Path) -> None:
    done = bundle(folder, "--key", "nobody@example.com")
    assert (done.returncode, "CW8021" in done.stderr) == (2, True)
    done = bundle(folder, "--from-key", "absent.asc")
    assert (done.returncode, "CW8024" in done.stderr) == (2, True)
    done = bundle(folder, "--out", "small.yaml")
    assert (done.returncode, "CW8029" in done.stderr) == (2, True)

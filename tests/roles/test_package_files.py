"""Module `package_files` with its action, by a real ansible-playbook, on a folder of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

PLAY = [
    {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {
                "name": "bring",
                "clusterwright.cluster.package_files": {
                    "files": "{{ files }}",
                    "store": "{{ store }}",
                    "folder": "{{ folder }}",
                },
            }
        ],
    }
]


class Ground:
    """A store and a folder of a node."""

    def __init__(self, folder: Path, collections: Path) -> None:
        self.folder, self.collections = folder, collections
        self.store, self.node = folder / "store", folder / "node" / "packages"
        self.store.mkdir()
        (folder / "play.yml").write_text(json.dumps(PLAY))

    def keep(self, name: str, content: bytes) -> dict[str, Any]:
        digest = sha256(content).hexdigest()
        (self.store / digest).write_bytes(content)
        return {"name": name, "sha256": digest, "size": len(content)}

    def bring(self, *files: dict[str, Any], check: bool = False) -> dict[str, Any]:
        told = {"files": files, "store": str(self.store), "folder": str(self.node)}
        return self.play(told, os.environ["PATH"], *(["--check"] if check else []))

    def play(self, told: dict[str, Any], path: str, *more: str) -> dict[str, Any]:
        argv = [sys.executable, "-m", "ansible", "playbook", "-i", "localhost,", "-c", "local"]
        argv += ["-e", json.dumps({**told, "ansible_python_interpreter": sys.executable})]
        argv += [*more, str(self.folder / "play.yml")]
        environ = {
            **os.environ,
            "PATH": path,
            "ANSIBLE_COLLECTIONS_PATH": str(self.collections),
            "ANSIBLE_STDOUT_CALLBACK": "clusterwright.cluster.tell",
            "CLUSTERWRIGHT_TOLD": str(self.folder / "told.json"),
            "ANSIBLE_LOCAL_TEMP": str(self.folder / "tmp"),
            "ANSIBLE_REMOTE_TEMP": str(self.folder / "tmp"),
        }
        done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=120, check=False)
        assert (self.folder / "told.json").exists(), done.stdout + done.stderr
        answer: dict[str, Any] = json.loads((self.folder / "told.json").read_text())
        return answer

    def there(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.node.iterdir()} if self.node.exists() else {}


@pytest.fixture
def ground(tmp_path: Path, collections: Path) -> Ground:
    return Ground(tmp_path, collections)


def test_what_is_missing_comes_once_and_what_is_not_wanted_goes(ground: Ground) -> None:
    efa, verbs = ground.keep("efa_1_all.deb", b"efa"), ground.keep("libibverbs1_63_all.deb", b"verbs")
    assert ground.bring(efa, verbs, check=True)["changed"] == 1
    assert ground.there() == {}
    assert ground.bring(efa, verbs)["changed"] == 1
    assert ground.there() == {"efa_1_all.deb": b"efa", "libibverbs1_63_all.deb": b"verbs"}
    (ground.store / efa["sha256"]).unlink()
    (ground.store / verbs["sha256"]).unlink()
    assert ground.bring(efa, verbs)["changed"] == 0, "nothing is read where nothing is missing"
    newer = ground.keep("efa_2_all.deb", b"newer")
    assert ground.bring(newer, verbs)["changed"] == 1
    assert set(ground.there()) == {"efa_2_all.deb", "libibverbs1_63_all.deb"}


def test_what_was_altered_on_the_node_is_brought_anew(ground: Ground) -> None:
    efa = ground.keep("efa_1_all.deb", b"efa")
    ground.bring(efa)
    (ground.node / "efa_1_all.deb").write_bytes(b"other")
    assert ground.bring(efa)["changed"] == 1
    assert ground.there() == {"efa_1_all.deb": b"efa"}


def test_another_content_than_the_verified_one_is_refused(ground: Ground) -> None:
    efa = ground.keep("efa_1_all.deb", b"efa")
    (ground.store / efa["sha256"]).write_bytes(b"exchanged")
    said = ground.bring(efa)
    assert said["failed"] and "efa_1_all.deb is not the file that was verified" in said["message"]
    assert ground.there() == {}


def test_a_file_that_is_gone_from_the_store_is_told(ground: Ground) -> None:
    efa = ground.keep("efa_1_all.deb", b"efa")
    (ground.store / efa["sha256"]).unlink()
    said = ground.bring(efa)
    assert said["failed"] and "is not here any more" in said["message"]


RPM_TOOLS = ("dnf", "rpm", "rpmbuild")
SPEC = """Name: {name}
Version: 3.3.0
Release: 1.el9
Summary: small
License: none
BuildArch: noarch
{more}
%description
small
%files
"""


@pytest.mark.skipif(not all(map(shutil.which, RPM_TOOLS)), reason=f"needs {', '.join(RPM_TOOLS)}")
def test_dnf_installs_them_together_and_only_once(tmp_path: Path, collections: Path) -> None:
    rpms, root = tmp_path / "rpms", tmp_path / "root"
    for name, more in (("efa", "Requires: libibverbs >= 3"), ("libibverbs", "")):
        (tmp_path / f"{name}.spec").write_text(SPEC.format(name=name, more=more))
        words = ["rpmbuild", "-bb", "--define", f"_rpmdir {rpms}", "--define", f"_topdir {tmp_path}/top"]
        subprocess.run([*words, str(tmp_path / f"{name}.spec")], check=True, capture_output=True)
    (tmp_path / "dnf.conf").write_text("[main]\ngpgcheck=1\nreposdir=/nonexistent\n")
    shim = tmp_path / "bin" / "dnf"
    shim.parent.mkdir()
    own = f"-c {tmp_path}/dnf.conf --installroot={root} --releasever=9"
    shim.write_text(f'#!/bin/sh\nexec {shutil.which("dnf")} {own} "$@"\n')
    shim.chmod(0o755)
    ground = Ground(tmp_path, collections)
    files = [ground.keep(file.name, file.read_bytes()) for file in sorted(rpms.rglob("*.rpm"))]
    task = {"ansible.builtin.import_role": {"name": "clusterwright.cluster.base", "tasks_from": "packages"}}
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"name": "install", **task}]}]
    (tmp_path / "play.yml").write_text(json.dumps(play))
    told = {
        "base_package_format": "rpm",
        "base_packages": [],
        "base_package_files": files,
        "base_package_store": str(ground.store),
        "base_package_folder": str(ground.node),
    }
    path = f"{shim.parent}:{os.environ['PATH']}"
    assert ground.play(told, path)["changed"] == 2
    query = ["rpm", "--root", str(root), "--query", "--all", "--queryformat", "%{NAME} "]
    found = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    assert sorted(found.split()) == ["efa", "libibverbs"]
    assert ground.play(told, path)["changed"] == 0

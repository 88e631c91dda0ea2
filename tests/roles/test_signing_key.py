"""The site's key for kernel modules is lent for as long as packages are installed, and told to nobody."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

SECRET = "-----BEGIN PRIVATE KEY-----\nlent\n"
PLAY = """\
- hosts: localhost
  connection: local
  gather_facts: false
  vars: {vars}
  tasks:
    - ansible.builtin.import_role: {{name: clusterwright.cluster.base, tasks_from: install}}
"""


def test_the_key_is_gone_when_the_installation_ends(tmp_path: Path) -> None:
    collection = tmp_path / "collections/ansible_collections/clusterwright/cluster"
    collection.parent.mkdir(parents=True)
    collection.symlink_to(Path(__file__).parents[2])
    key, keys = tmp_path / "lent.key", tmp_path / "keys.json"
    keys.write_text(json.dumps({str(key): base64.b64encode(SECRET.encode()).decode()}))
    values = {"base_keys_file": str(keys), "base_signing_key": str(key), "base_package_format": "deb"}
    empty: dict[str, list[str]] = {f"base_{name}": [] for name in ("sources", "packages", "held", "units")}
    (tmp_path / "play.yml").write_text(PLAY.format(vars=json.dumps({**values, **empty})))
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [program, "-i", "localhost,", "-vvv", "-e", "ansible_python_interpreter=/usr/bin/python3"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(tmp_path / "collections")}
    done = subprocess.run(
        [*command, str(tmp_path / "play.yml")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.partition("Lend DKMS the site's key")[2]
    assert '"state": "absent"' in said.partition("Take the site's key back")[2]
    assert "the output has been hidden" in said
    assert "PRIVATE KEY" not in done.stdout + done.stderr
    assert base64.b64encode(SECRET.encode()).decode() not in done.stdout + done.stderr
    assert not key.exists()

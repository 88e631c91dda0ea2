"""What a builder removes of itself, on a copy of this machine's root in memory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from clusterwright.bundle.collection import root

SEAL = root() / "roles/pull/files/seal"
ROOT = """set -e
mount -t tmpfs tmpfs "$1" && cd "$1" && mkdir upper work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work" root
for one in tmp var/tmp var/log var/cache root home run etc/ssh; do
  mkdir -p "root/$one" && mount -t tmpfs tmpfs "root/$one"
done
mkdir -p root/usr/lib/clusterwright root/etc/clusterwright/modules.d root/var/lib/clusterwright root/root/.ssh
cp "$2" root/usr/lib/clusterwright/gate
exec chroot root /bin/sh -c "$3"
"""
BUILDER = """set -e
mkdir -p /run/clusterwright-builder/pull/python/0123/bin
ln -s /bin/true /run/clusterwright-builder/pull/python/0123/bin/python3
echo key > /etc/ssh/ssh_host_ed25519_key; cp /etc/ssh/ssh_host_ed25519_key /run/clusterwright-builder/key
for file in /etc/clusterwright/pull.json /var/lib/clusterwright/applied.json /root/.ssh/authorized_keys \
  /usr/sbin/policy-rc.d /var/log/syslog /etc/machine-id /etc/clusterwright/modules.d/driver; do
  echo it > "$file"; done
"""
SHOW = """
for file in /etc/ssh/ssh_host_ed25519_key /etc/clusterwright/pull.json /var/lib/clusterwright/applied.json \
  /root/.ssh/authorized_keys /usr/sbin/policy-rc.d /usr/lib/clusterwright/gate; do
  [ ! -e "$file" ] || echo "left: $file"; done
for file in /etc/machine-id /var/log/syslog; do [ ! -s "$file" ] || echo "not empty: $file"; done
for file in /etc/clusterwright/modules.d/driver /usr/lib/clusterwright/python/0123/bin/python3 \
  /run/clusterwright-builder/key; do [ -e "$file" ] || echo "lost: $file"; done
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a root of its own, for root")


def on_a_builder(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    argv = ["unshare", "--mount", "sh", "-c", ROOT, "sh", str(folder), str(SEAL), script]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_nothing_of_the_builder_is_left_and_what_it_installed_is(tmp_path: Path) -> None:
    done = on_a_builder(tmp_path, f"{BUILDER} sh /usr/lib/clusterwright/gate; {SHOW}")
    assert (done.stdout, done.returncode) == ("PASS seal\n", 0), done.stderr


def test_a_module_that_is_not_built_makes_no_image(tmp_path: Path) -> None:
    check = "/usr/lib/clusterwright/check-modules"
    refuses = f"printf '#!/bin/sh\\necho nvidia: not there; exit 1\\n' > {check}; chmod 755 {check}"
    script = f"{BUILDER} {refuses}; sh /usr/lib/clusterwright/gate || cat /etc/ssh/ssh_host_ed25519_key"
    done = on_a_builder(tmp_path, script)
    assert done.stdout == "FAIL seal: nvidia: not there\nkey\n", done.stderr


def test_without_the_key_of_its_report_it_does_not_begin(tmp_path: Path) -> None:
    script = f"{BUILDER} rm /run/clusterwright-builder/key; sh /usr/lib/clusterwright/gate"
    done = on_a_builder(tmp_path, script)
    assert (done.returncode, "not in memory" in done.stdout) == (1, True), done.stderr

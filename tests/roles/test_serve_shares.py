"""What the server of shares says without an NFS server: the script alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clusterwright.bundle.collection import root as collection

SCRIPT = collection() / "roles" / "shared_home" / "files" / "serve-shares"
EXPORTS = """\
# Shared directories of small. Change the description, not this file.
/home 10.74.0.0/24(rw)

/data 10.74.0.0/24(rw)
"""


def serve(folder: Path, mounted: str, *, container: bool) -> subprocess.CompletedProcess[str]:
    """On a machine with these mounts."""
    exports = folder / "clusterwright.exports"
    exports.write_text(EXPORTS)
    tools = {
        "systemd-detect-virt": f"exit {0 if container else 1}",
        "mountpoint": f'case " {mounted} " in *" $2 "*) ;; *) exit 32 ;; esac',
        "systemctl": 'echo "systemctl $*"',
        "exportfs": 'echo "exportfs $*"',
    }
    for name, text in tools.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    script = SCRIPT.read_text().replace("/etc/exports.d/clusterwright.exports", str(exports))
    words = ["env", f"PATH={folder}:/usr/bin:/bin", "sh", "-c", script]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_machine_starts_its_server(tmp_path: Path) -> None:
    done = serve(tmp_path, "", container=False)
    assert (done.returncode, done.stdout) == (0, "systemctl start nfs-server.service\nexportfs -ra\n")


def test_a_container_leaves_shares_to_its_host_that_are_mounted(tmp_path: Path) -> None:
    done = serve(tmp_path, "/home /data", container=True)
    assert (done.returncode, done.stdout) == (0, "this machine is a container: its host mounts the shares\n")


@pytest.mark.parametrize(("mounted", "absent"), [("", "/home /data"), ("/home", "/data")])
def test_a_container_names_the_shares_that_nobody_can_mount(
    tmp_path: Path, mounted: str, absent: str
) -> None:
    done = serve(tmp_path, mounted, container=True)
    assert done.returncode == 1
    assert f"have its host mount {absent} into every node, or name a server outside" in done.stderr

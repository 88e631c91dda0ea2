"""A root file system that calls itself Rocky 9 and is reached over SSH. Nothing in it is booted.

Debian's packages with real dnf, rpm, sshd and Python, in namespaces that end with the test. In systemd's
place stands a program that says of each unit what is asked of it: how units behave is not seen here.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free

from clusterwright.converge.target import Target
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.rootfs import DEFAULT_BASE, ensure_base

TOOLS = ("createrepo_c", "gpg", "rpmbuild", "rpmsign", "ssh-keygen", "unshare")
_OS_RELEASE = """NAME="Rocky Linux"
ID="rocky"
ID_LIKE="rhel centos fedora"
VERSION_ID="9.6"
PLATFORM_ID="platform:el9"
PRETTY_NAME="Rocky Linux 9.6, SIMULATED on Debian's packages"
"""
_DNF_CONF = """[main]
gpgcheck=1
installonly_limit=3
clean_requirements_on_remove=True
best=True
skip_if_unavailable=False
"""
_SETTLE = f"""set -e
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends dnf dnf-plugins-core kmod python3-dnf rpm > /dev/null
rm -r /var/lib/apt/lists/* /var/cache/apt/*
rm /usr/lib/python3/dist-packages/dnf-plugins/local.py  # needs what its package does not bring
mkdir -p /etc/rpm /run/sshd
echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros  # Debian's rpm has it in the user's home
rm /etc/os-release
cat > /etc/os-release << END
{_OS_RELEASE}END
cat > /etc/dnf/dnf.conf << END
{_DNF_CONF}END
"""
_SYSTEMCTL = """#!/bin/sh
# SIMULATED: every unit is as it should be.
[ "$1" = show ] || { echo "$@" >> /run/told; exit 0; }
for unit; do
    case $unit in
        show | -*) continue ;;
    esac
    grep "^$unit " /run/units || echo "$unit inactive disabled"
done | while read -r unit active enabled; do
    printf 'ActiveState=%s\\nUnitFileState=%s\\nLoadState=loaded\\n\\n' "$active" "$enabled"
done
"""
_START = """set -e
root=$1 base=$2 tools=$3 upper=$4 port=$5
mount -t overlay overlay -o "lowerdir=$tools:$base,upperdir=$upper/up,workdir=$upper/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for folder in run tmp; do mount -t tmpfs tmpfs "$root/$folder"; done
mkdir -p "$root/run/sshd" "$root/run/simulated-hardware" "$root/run/simulated-site"
touch "$root/run/simulated-hardware/hardware.json"
mount --rbind "$upper/site" "$root/run/simulated-site"
cp "$upper/units" "$root/run/units"
exec chroot "$root" /usr/sbin/sshd -D -e -o ListenAddress="127.0.0.1:$port" -o UsePAM=no -o PidFile=none
"""
_OWN_NAMESPACES = (
    *("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private"),
    *("--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
)


@contextmanager
def reached(folder: Path, units: Mapping[str, tuple[str, str]]) -> Iterator[Target]:
    """The root, with `folder`/site at /run/simulated-site and these states of units, until the end."""
    home = LabHome.of_user()
    base = ensure_base(home, lambda _subject, _text: None, DEFAULT_BASE)
    tools, port, root = _tools(home, base), free(), folder / "root"
    for name in ("up/root/.ssh", "up/etc/ssh", "up/usr/bin", "work", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "units").write_text("".join(f"{unit} {' '.join(state)}\n" for unit, state in units.items()))
    (folder / "up/usr/bin/systemctl").write_text(_SYSTEMCTL)
    (folder / "up/usr/bin/systemctl").chmod(0o755)
    key, host = folder / "key", folder / "up/etc/ssh/ssh_host_ed25519_key"
    for file in (key, host):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    shutil.copy(f"{key}.pub", folder / "up/root/.ssh/authorized_keys")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {Path(f'{host}.pub').read_text()}")
    target = Target("gpu1", "127.0.0.1", port, "root", key, folder / "known_hosts")
    argv = [*_OWN_NAMESPACES, "sh", "-c", _START, "sh", root, base, tools, folder, str(port)]
    with (folder / "sshd.log").open("w") as log:
        server = subprocess.Popen(argv, stdout=log, stderr=log)
    try:
        _wait(target, server, folder / "sshd.log")
        yield target
    finally:
        leave = [*target.ssh_argv()[:-1], "-O", "exit", "root@127.0.0.1"]
        subprocess.run(leave, capture_output=True, check=False)
        server.kill()
        server.wait()


def _tools(home: LabHome, base: Path) -> Path:
    """What dnf and rpm add to the base, made once and kept in the cache."""
    digest = hashlib.sha256(f"{base.name}{_SETTLE}".encode()).hexdigest()[:12]
    kept = home.cache.parent / "test-roots" / f"rocky-{digest}"
    if not kept.is_dir():
        partial = kept.with_name(f".{kept.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        for name in ("up/etc", "work", "root"):
            (partial / name).mkdir(parents=True)
        shutil.copy("/etc/resolv.conf", partial / "up/etc/resolv.conf")
        mounts = f"mount -t overlay overlay -o lowerdir={base},upperdir=up,workdir=work root"
        script = f'{mounts} && mount -t proc proc root/proc && exec chroot root bash -c "$1"'
        made = subprocess.run(
            [*_OWN_NAMESPACES, "sh", "-c", script, "sh", _SETTLE], cwd=partial, capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
        (partial / "up").rename(kept)
        shutil.rmtree(partial)
    return kept


def _wait(target: Target, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        if subprocess.run([*target.ssh_argv(), "true"], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text())

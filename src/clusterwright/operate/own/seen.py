"""Runs on a machine, as root, and changes nothing: tells what is there already.

Standard library only, as far back as Python 3.9; it is sent over SSH, beside the program that `up` asks with.
"""

from __future__ import annotations

import glob
import grp
import os
import pwd
import re
import subprocess

TYPE_CHECKING = False  # of `typing`, which need not be read for it
if TYPE_CHECKING:
    from typing import Any

_NETWORK_FILE_SYSTEMS = "nfs nfs4 lustre beegfs ceph gpfs wekafs cifs fuse.sshfs glusterfs".split()
_SERVICES = """
munge slurmctld slurmd slurmdbd slurmrestd sackd sssd nslcd winbind firewalld ufw nftables iptables
docker containerd podman kubelet k3s chrony chronyd ntpd ntp ntpsec systemd-timesyncd
puppet salt-minion chef-client unattended-upgrades dnf-automatic.timer
nvidia-persistenced nvidia-fabricmanager nvidia-dcgm
""".split()
_SLURM_CONFS = """
/etc/slurm/slurm.conf /etc/slurm-llnl/slurm.conf /opt/slurm/etc/slurm.conf /usr/local/etc/slurm.conf
/run/slurm/conf/slurm.conf
""".split()
_PACKAGES = re.compile(
    r"(nvidia-driver|nvidia-open|nvidia-dkms|kmod-nvidia|cuda-drivers|cuda-toolkit-\d|libcuda|rocm-core|amdgpu-dkms|"
    r"datacenter-gpu-manager|slurm|munge|doca-ofed|mlnx-ofed|lustre-client|apptainer|enroot|"
    r"nvidia-container-toolkit$|docker-ce$|docker\.io$|podman$)"
)


def read(path: str) -> str:
    try:
        with open(path, errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def said(*argv: str) -> str:
    """What a program that only reads prints; nothing where it is not there."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def system() -> dict[str, object]:
    rows = dict(line.split("=", 1) for line in read("/etc/os-release").splitlines() if "=" in line)
    release = {key: value.strip('"') for key, value in rows.items()}
    return {
        "distribution": "{}-{}".format(release.get("ID", "unknown"), release.get("VERSION_ID", "")),
        "kernel": os.uname().release,
        "architecture": os.uname().machine,
        "cpus": os.cpu_count(),
        "memory_mib": memory(),
        "secure_boot": secure_boot(),
        "reboot_pending": os.path.exists("/run/reboot-required")
        or os.path.exists("/var/run/reboot-required"),
    }


def memory() -> int:
    found = re.search(r"MemTotal:\s+(\d+)", read("/proc/meminfo"))
    return int(found.group(1)) // 1024 if found else 0


def secure_boot() -> bool | None:
    for path in glob.glob("/sys/firmware/efi/efivars/SecureBoot-*"):
        try:
            with open(path, "rb") as stream:
                return stream.read()[-1:] == b"\x01"
        except OSError:
            return None
    return False if not os.path.exists("/sys/firmware/efi") else None


def gpus() -> dict[str, object]:
    driver = re.search(r"\s(\d+\.\d+(\.\d+)?)\s", read("/proc/driver/nvidia/version"))
    cards = []
    for path in glob.glob("/sys/bus/pci/devices/*/class"):
        vendor = read(os.path.join(os.path.dirname(path), "vendor")).strip()
        if read(path).startswith(("0x0300", "0x0302", "0x1200")) and vendor in ("0x10de", "0x1002"):
            cards.append("nvidia" if vendor == "0x10de" else "amd")
    loaded = os.path.isdir("/sys/module/amdgpu")
    return {
        "nvidia_driver": driver.group(1) if driver else "",
        "open_modules": "Open" in read("/proc/driver/nvidia/version"),
        "amd_driver": (read("/sys/module/amdgpu/version").strip() or "in the kernel") if loaded else "",
        "cards": len(cards) or len(glob.glob("/proc/driver/nvidia/gpus/*")),
        "cuda": sorted(os.path.basename(path) for path in glob.glob("/usr/local/cuda-*")),
    }


def slurm() -> dict[str, object]:
    conf = next((path for path in _SLURM_CONFS if os.path.exists(path)), "")
    jobs, daemons = set(), set()
    for command in glob.glob("/proc/[0-9]*/cmdline"):
        words = read(command).replace("\0", " ").strip()
        step = re.match(r"slurmstepd: \[(\d+)", words)
        if step:
            jobs.add(int(step.group(1)))
        name = os.path.basename(words.split(" ", 1)[0])
        if name in ("slurmctld", "slurmd", "slurmdbd"):
            daemons.add(name)
    version = next(
        (text.split()[-1] for text in (said("slurmd", "-V"), said("sinfo", "-V")) if text.strip()), ""
    )
    cluster = re.search(r"(?im)^\s*ClusterName\s*=\s*(\S+)", read(conf)) if conf else None
    return {
        "version": version,
        "conf": conf,
        "cluster": cluster.group(1) if cluster else "",
        "daemons": sorted(daemons),
        "jobs": sorted(jobs),
    }


def people() -> dict[str, object]:
    lines = read("/etc/nsswitch.conf").splitlines()
    sources = next((line.split(":", 1)[1].split() for line in lines if line.startswith("passwd:")), [])
    return {
        "directory": [source for source in sources if source in ("sss", "ldap", "winbind", "nis")],
        "logins": sum(1 for row in local_logins() if 1000 <= row[1] < 65000),
    }


def local_logins() -> list[tuple[str, int]]:
    rows = (line.split(":") for line in read("/etc/passwd").splitlines())
    return [(row[0], int(row[2])) for row in rows if len(row) > 3 and row[2].isdigit()]


def collisions(users: list[dict[str, Any]]) -> list[str]:
    """Names and numbers that the description gives, and that are somebody else's here."""
    found = []
    for user in users:
        name, uid = user["name"], user["uid"]
        try:
            row = pwd.getpwnam(name)
        except KeyError:
            row = None
        if row and row.pw_uid != uid:
            found.append(f"{name} has the number {row.pw_uid} here, and {uid} in the description")
        try:
            other = pwd.getpwuid(uid).pw_name
        except KeyError:
            other = name
        if other != name:
            found.append(f"the number {uid} is {other}'s here, and {name}'s in the description")
        try:
            group = grp.getgrgid(uid).gr_name
        except KeyError:
            group = name
        if group != name and other == name:
            found.append(f"the group {uid} is {group} here, and {name}'s in the description")
    return found


def mounts() -> list[str]:
    rows = (line.split(" ") for line in read("/proc/mounts").splitlines())
    found = [row for row in rows if len(row) > 2 and row[2] in _NETWORK_FILE_SYSTEMS]
    return sorted(f"{row[0]} on {row[1]} ({row[2]})" for row in found)


def contents(path: str) -> list[str]:
    try:
        return [name for name in os.listdir(path) if name != "lost+found"]
    except OSError:
        return []


def firewall(active: list[str]) -> dict[str, object]:
    """Rules that somebody else wrote; an empty table is nobody's."""
    # Asking would load the kernel's modules where nothing uses them.
    ask = said("nft", "list", "ruleset") if os.path.isdir("/sys/module/nf_tables") else ""
    foreign = others(ask)
    rules = [line.strip() for lines in foreign.values() for line in lines]
    own = [
        line
        for line in rules
        if line and not line.endswith("{") and line != "}" and "policy accept" not in line
    ]
    closed = [
        table
        for table, lines in sorted(foreign.items())
        if any("hook input" in line and "policy drop" in line for line in lines)
    ]
    ask = said("iptables-save") if read("/proc/net/ip_tables_names").strip() else ""
    old = [line for line in ask.splitlines() if line.startswith("-A ")]
    return {"by": [name for name in ("firewalld", "ufw", "nftables", "iptables") if name in active],
            "rules": max(len(own), len(old)), "closed": closed}  # fmt: skip


def others(ruleset: str) -> dict[str, list[str]]:
    """Lines of each nftables table that is not this cluster's."""
    tables: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in ruleset.splitlines():
        if line.startswith("table "):
            lines = tables.setdefault(line[len("table ") :].rstrip(" {"), [])
        else:
            lines.append(line)
    tables.pop("inet clusterwright", None)
    return tables


def services() -> list[str]:
    known = [f"{name}.service" if "." not in name else name for name in _SERVICES]
    shown = said("systemctl", "show", "--property=Id,ActiveState", "--", *known).split("\n\n")
    facts = [
        dict(line.split("=", 1) for line in block.strip().splitlines() if "=" in line) for block in shown
    ]
    up = {row.get("Id", "") for row in facts if row.get("ActiveState") in ("active", "reloading")}
    return [name for name, full in zip(_SERVICES, known) if full in up]


def clock() -> bool:
    told = dict(line.split("=", 1) for line in said("timedatectl", "show").splitlines() if "=" in line)
    return told.get("NTPSynchronized") == "yes"


def packages() -> list[str]:
    rows = said(
        "dpkg-query", "--show", "--showformat=${Package} ${Version} ${db:Status-Abbrev}\n"
    ).splitlines()
    there = [row.split()[:2] for row in rows if row.endswith(("ii ", "hi "))]
    if not rows:
        there = [
            row.split()
            for row in said("rpm", "-qa", "--queryformat=%{NAME} %{VERSION}-%{RELEASE}\n").splitlines()
        ]
    return sorted(" ".join(row) for row in there if _PACKAGES.match(row[0]))


def disks() -> list[str]:
    found = []
    for path in sorted(glob.glob("/sys/block/*")):
        name = os.path.basename(path)
        size = int(read(os.path.join(path, "size")).strip() or 0) * 512
        if size and not name.startswith(("loop", "ram", "zram", "dm-", "sr", "md")):
            found.append(f"{name} {size / 1e9:.0f} GB")
    return found


def look(asked: dict[str, Any]) -> dict[str, object]:
    active = services()
    return {
        "system": system(),
        "gpus": gpus(),
        "slurm": slurm(),
        "people": people(),
        "collisions": collisions(asked["users"]),
        "mounts": mounts(),
        "firewall": firewall(active),
        "services": active,
        "synchronized": clock(),
        "hidden": [path for path in asked["mounts"] if not os.path.ismount(path) and contents(path)],
        "swap": [line.split()[0] for line in read("/proc/swaps").splitlines()[1:]],
        "packages": packages(),
        "disks": disks(),
        "name": os.uname().nodename,
    }

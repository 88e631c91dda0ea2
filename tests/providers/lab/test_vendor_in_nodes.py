"""The simulated vendor stack in a booted node: nothing is there, apt installs it, one boot later it works."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import world

from clusterwright.providers.lab import damage
from clusterwright.providers.lab.cgroup import cgroup_facts
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import Bind
from clusterwright.providers.lab.simulate import Hardware, SimulatedNic
from clusterwright.providers.lab.vendor.contents import Wanted, packages
from clusterwright.providers.lab.vendor.repository import build

DRIVER, OTHER = "580.95.05", "590.48.01"
KERNEL = "6.12.117"
STACK = (
    Wanted("kernel", KERNEL, "linux-image-amd64"),
    Wanted("kernel", KERNEL, "linux-headers-amd64"),
    Wanted("driver", DRIVER, "nvidia-open"),
    Wanted("driver", DRIVER, "nvidia-kernel-dkms"),
    Wanted("fabric_manager", DRIVER, "nvidia-fabricmanager", f"{DRIVER}-1"),
    Wanted("fabric_manager", OTHER, "nvidia-fabricmanager", f"{OTHER}-1"),
    Wanted("nscq", DRIVER, "libnvidia-nscq", f"{DRIVER}-1"),
    Wanted("dcgm", "4.4.2", "datacenter-gpu-manager-4-cuda13", "1:4.4.2-1"),
    Wanted("cuda", "13.0.2", "cuda-toolkit-13-0", "13.0.2-1"),
    Wanted("nccl", "2.28.9", "libnccl-dev", "2.28.9-1+cuda13.0"),
    Wanted("gdrcopy", "2.5.1", "gdrcopy"),
    Wanted("container_toolkit", "1.18.0", "nvidia-container-toolkit", "1.18.0-1"),
)
INSTALL = (
    "echo 'deb [signed-by=/srv/vendor/key.asc] file:/srv/vendor /' > /etc/apt/sources.list.d/vendor.list"
    " && apt-get -qq update && apt-get -qq install -y --no-install-recommends linux-image-amd64 "
    f"nvidia-open nvidia-fabricmanager={DRIVER}-1 libnvidia-nscq datacenter-gpu-manager-4-cuda13"
    " cuda-toolkit-13-0 libnccl-dev gdrcopy nvidia-container-toolkit >/dev/null 2>&1"
    " && echo installed"
)
SIGNING = (
    "openssl req -new -x509 -nodes -newkey rsa:2048 -subj '/CN=Site modules' -keyout /run/key"
    " -out /etc/cert.pem 2> /dev/null; mkdir -p /etc/dkms/framework.conf.d; printf "
    "'mok_signing_key=/run/key\\nmok_certificate=/etc/cert.pem\\n' > /etc/dkms/framework.conf.d/site.conf"
)
# Debian builds Slurm's plug-in for NVML, and has it beside its free packages.
SLURM = """
sed -n 's/^\\(deb .*\\) main.*/\\1 contrib/p' /etc/apt/sources.list > /etc/apt/sources.list.d/contrib.list
apt-get -qq update
export DEBIAN_FRONTEND=noninteractive
apt-get -qq install -y --no-install-recommends slurmd slurm-wlm-nvml-plugin > /dev/null 2>&1
mkdir -p /var/spool/slurmd
echo AutoDetect=nvml > /etc/slurm/gres.conf
printf 'ClusterName=c\\nSlurmctldHost=n1\\nGresTypes=gpu\\nNodeName=n1 Gres=gpu:8\\n' > /etc/slurm/slurm.conf
printf 'CgroupPlugin=PLUGIN\\nCgroupMountpoint=MOUNTPOINT\\nIgnoreSystemd=yes\\n' > /etc/slurm/cgroup.conf
"""
DETECTED = "slurmd -G 2>&1 | sed -n 's/.* File=\\([^ ]*\\) .*/\\1/p'"
CUT = """
nvidia-smi -i 0 -mig 1; nvidia-smi mig -i 0 -cgi 3g.40gb,1g.10gb -C
sed -i s/gpu:8/gpu:9/ /etc/slurm/slurm.conf
"""
WHOLE = "nvidia-smi mig -i 0 -dci; nvidia-smi mig -i 0 -dgi; nvidia-smi -i 0 -mig 0"
SERVICES = "nvidia-persistenced nvidia-fabricmanager nvidia-dcgm"


def hgx() -> Hardware:
    """A node whose cards are there and whose driver is not."""
    cards = tuple(SimulatedNic(f"rdma{number}", 400) for number in range(8))
    return replace(world.eight_gpus(), nics=cards, driver_version="", nvlink_domain=8)


@pytest.mark.lab
def test_the_stack_comes_up_from_its_packages_and_refuses_what_does_not_match(
    lab: Lab, tmp_path: Path
) -> None:
    served = build(packages(STACK), tmp_path / "vendor", tmp_path / "key")
    plan = world.nodes(lab, "n1", hardware=hgx())
    [node] = lab.ensure(plan, world.silent, binds=[Bind(served, "/srv/vendor")])

    assert world.on(
        node, "ls /dev/nvidia* /proc/driver/nvidia /usr/bin/nvidia-smi 2>&1 | grep -vc 'No such'"
    ) == ("0\n[exit 1]")
    assert world.on(node, INSTALL) == "installed\n"
    assert "couldn't communicate with the NVIDIA driver" in world.on(node, "nvidia-smi")
    assert world.on(node, f"dkms status nvidia; ls /lib/modules/{KERNEL}-amd64/updates 2>&1 | wc -l") == (
        f"nvidia/{DRIVER}: added\n1\n"
    ), "no headers, no module"
    world.on(node, SIGNING)
    world.on(node, "apt-get -qq install -y --no-install-recommends linux-headers-amd64 > /dev/null 2>&1")
    assert world.on(node, f"modinfo -k {KERNEL}-amd64 -F signer nvidia gdrdrv") == "Site modules\n" * 2
    built = world.on(node, f"modinfo -k {KERNEL}-amd64 -F filename nvidia; dkms status nvidia")
    assert built == (
        f"/lib/modules/{KERNEL}-amd64/updates/dkms/nvidia.ko\n"
        f"nvidia/{DRIVER}, {KERNEL}-amd64, x86_64: installed\n"
    )
    world.on(node, f"systemctl enable {SERVICES} 2>&1")

    lab.stop_nodes(["n1"])
    [node] = lab.ensure(plan, world.silent, binds=[Bind(served, "/srv/vendor")])
    assert world.on(node, "systemctl is-system-running --wait; systemctl --failed --no-legend") == "running\n"
    assert world.on(node, f"systemctl is-active {SERVICES}") == "active\n" * 3
    assert world.on(node, "nvidia-smi -L | wc -l; ls /dev/nvidia[0-7] | wc -l").split() == ["8", "8"]
    assert DRIVER in world.on(node, "cat /proc/driver/nvidia/version")
    assert world.on(node, "cat /sys/module/nvidia/version /sys/module/gdrdrv/version") == f"{DRIVER}\n2.5.1\n"
    state = "nvidia-smi --query-gpu=fabric.state,persistence_mode --format=csv,noheader | sort -u"
    assert world.on(node, state) == "Completed, Enabled\n"
    assert "8 GPUs found" in world.on(node, "dcgmi discovery -l")
    assert world.on(node, "dcgmi diag -r 1 | grep -c Pass") == "9\n"
    assert "release 13.0" in world.on(node, "/usr/local/cuda/bin/nvcc --version")
    made = "cd /tmp; touch all_reduce.cu; /usr/local/cuda/bin/nvcc -gencode=arch=compute_90,code=sm_90"
    world.on(node, f"{made} -o all_reduce_perf all_reduce.cu")
    assert "Avg bus bandwidth" in world.on(node, "/tmp/all_reduce_perf -b 8G -e 8G -g 8")
    assert "Passed: 28" in world.on(node, "gdrcopy_sanity")
    assert world.on(
        node, "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; nvidia-ctk cdi list | tail -1"
    ) == ("nvidia.com/gpu=all\n")

    world.on(node, f"apt-get -qq install -y nvidia-fabricmanager={OTHER}-1 >/dev/null 2>&1")
    assert world.on(node, "systemctl restart nvidia-fabricmanager 2>/dev/null") == "[exit 1]"
    said = world.on(node, "journalctl --sync; journalctl -u nvidia-fabricmanager -o cat")
    assert said.count("don't match with driver version") == 1

    cards = "ibstat mlx5_3 | grep -E 'State|Physical|Rate' | xargs; ibstat -l | wc -l"
    cards += "; ls /sys/class/net | grep -c rdma"
    well = "State: Active Physical state: LinkUp Rate: 400\n8\n8\n"
    world.on(node, "apt-get -qq update; apt-get -qq install -y --no-install-recommends infiniband-diags")
    assert world.on(node, cards) == well
    damage.inject(lab, "n1", "nic-down", 3)
    damage.inject(lab, "n1", "nic-missing", 2)
    assert world.on(node, cards) == "State: Down Physical state: Polling Rate: 10\n7\n7\n"
    damage.repair(lab, "n1")
    assert world.on(node, cards) == well

    facts = cgroup_facts()
    slurm = SLURM.replace("PLUGIN", facts.plugin).replace("MOUNTPOINT", str(facts.mountpoint))
    assert world.on(node, slurm) == ""
    assert world.on(node, DETECTED).split() == [f"/dev/nvidia{number}" for number in range(8)]
    world.on(node, CUT)
    found = world.on(node, DETECTED).split()
    assert found[:7] == [f"/dev/nvidia{number}" for number in range(1, 8)]
    assert [re.sub(r"cap\d+", "cap", file) for file in found[7:]] == [
        "/dev/nvidia0,/dev/nvidia-caps/nvidia-cap,/dev/nvidia-caps/nvidia-cap"
    ] * 2
    assert "nvidia_h100_80gb_hbm3_3g.40gb" in world.on(node, "slurmd -G 2>&1")
    world.on(node, WHOLE)

    damage.inject(lab, "n1", "driver-mismatch")
    assert "Driver/library version mismatch" in world.on(node, "nvidia-smi")
    damage.repair(lab, "n1")
    damage.inject(lab, "n1", "xid", 3)
    assert "fallen off the bus" in world.on(node, "journalctl -t kernel -o cat | tail -1")
    assert "Unable to determine the device handle" in world.on(node, "nvidia-smi")

    flavour = "grep -o 'UNIX .*Kernel Module' /proc/driver/nvidia/version"
    assert world.on(node, flavour) == "UNIX Open Kernel Module\n"
    world.on(node, "apt-get -qq remove -y nvidia-kernel-open-dkms; apt-get -qq install -y nvidia-kernel-dkms")
    world.on(node, "modprobe -r nvidia; modprobe nvidia")
    assert world.on(node, flavour) == "UNIX x86_64 Kernel Module\n"
    world.on(node, f"modprobe -r nvidia; dkms uninstall nvidia/{DRIVER} -k {KERNEL}-amd64 > /dev/null")
    assert f"Module nvidia not found in directory /lib/modules/{KERNEL}-amd64" in world.on(
        node, "modprobe nvidia 2>&1"
    )

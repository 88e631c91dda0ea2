"""What the lab is for: a real Slurm finds the simulated GPUs and keeps a job to the ones it was given."""

from __future__ import annotations

from pathlib import Path

import pytest
import world

from clusterwright.providers.lab import image, stock
from clusterwright.providers.lab.cgroup import cgroup_facts
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.ssh import Target

pytestmark = [pytest.mark.lab, pytest.mark.slurm]

INSTALL = (
    "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "
    "slurmctld slurmd slurm-client munge"
)
OPEN_ALL = "for i in 0 1 2 3 4 5 6 7; do : < /dev/nvidia$i; done"


@pytest.fixture
def slurm_image(lab: Lab) -> Path:
    """Baked once and kept in the cache with the other images."""
    return image.bake(lab.home, "test-slurm-1", _install, world.silent)


def test_an_image_is_baked_once_and_holds_nothing_of_its_builder(lab: Lab, slurm_image: Path) -> None:
    def never(_target: Target) -> None:
        raise AssertionError("configured again")

    assert image.bake(lab.home, "test-slurm-1", never, world.silent) == slurm_image
    for name in ("etc/machine-id", "root/.ssh", "etc/ssh/ssh_host_ed25519_key", "usr/sbin/policy-rc.d"):
        assert not (slurm_image / name).exists()
    assert (slurm_image / "usr/sbin/slurmd").is_symlink()
    assert world.traces(Lab(lab.home, "image_test-slurm-1")) == []


def test_a_bake_that_fails_leaves_no_image_and_no_builder(lab: Lab) -> None:
    def fail(_target: Target) -> None:
        raise RuntimeError("a role failed")

    with pytest.raises(RuntimeError, match="a role failed"):
        image.bake(lab.home, "test-failing", fail, world.silent)
    assert image.image_path(lab.home, "test-failing") is None
    assert world.traces(lab) == []


def test_slurm_finds_eight_gpus_and_keeps_a_job_to_its_two(lab: Lab, slurm_image: Path) -> None:
    plan = world.nodes(lab, "n1", "n2", hardware=world.eight_gpus())
    targets = lab.ensure(plan, world.silent, image=slurm_image)
    for target in targets:
        _configure(target, targets)
    for target in reversed(targets):
        daemons = "slurmctld slurmd" if target is targets[0] else "slurmd"
        assert world.on(target, f"systemctl restart munge {daemons}") == ""
    first = targets[0]
    world.on(first, "timeout 120 sh -c 'until sinfo -h -N -t idle | wc -l | grep -qx 2; do sleep 0.1; done'")
    found = [line.partition("(")[0] for line in world.on(first, "sinfo -N -h -o '%N %t %G'").splitlines()]
    assert found == ["n1 idle gpu:h100:8", "n2 idle gpu:h100:8"]

    answers = world.on(first, f"timeout 120 srun -N 2 --gres=gpu:2 --label bash -c '{OPEN_ALL}' 2>&1")
    for task in ("0: ", "1: "):
        lines = [line for line in answers.splitlines() if line.startswith(task)]
        assert sum("No such device or address" in line for line in lines) == 2, answers
        assert sum("Operation not permitted" in line for line in lines) == 6, answers

    lab.destroy()
    assert world.traces(lab) == []


def _install(target: Target) -> None:
    run(target.ssh_command(INSTALL))


def _configure(target: Target, everyone: list[Target]) -> None:
    facts = cgroup_facts()
    files = {
        "/etc/hosts": "127.0.0.1 localhost\n" + "".join(f"{t.address} {t.name}\n" for t in everyone),
        "/etc/munge/munge.key": "k" * 64,
        "/etc/slurm/cgroup.conf": (
            f"CgroupPlugin={facts.plugin}\nCgroupMountpoint={facts.mountpoint}\n"
            "IgnoreSystemd=yes\nConstrainDevices=yes\n"
        ),
        "/etc/slurm/gres.conf": "AutoDetect=nvidia\n",
        "/etc/slurm/slurm.conf": _slurm_conf(everyone),
    }
    for path, text in files.items():
        run(target.ssh_command(f"cat > {path}"), stdin=text)
    world.on(target, "chown munge: /etc/munge/munge.key; chmod 400 /etc/munge/munge.key")
    world.on(target, "install -d -o slurm /var/spool/slurmctld; install -d /var/spool/slurmd")


def _slurm_conf(everyone: list[Target]) -> str:
    return (
        f"ClusterName=test\nSlurmctldHost={everyone[0].name}\nSlurmUser=slurm\nAuthType=auth/munge\n"
        "ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup,task/affinity\nSelectType=select/cons_tres\n"
        "StateSaveLocation=/var/spool/slurmctld\nSlurmdSpoolDir=/var/spool/slurmd\n"
        "GresTypes=gpu\nSlurmdParameters=config_overrides\nSlurmdLogFile=/var/log/slurmd.log\n"
        "NodeName=n[1-2] Gres=gpu:h100:8 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 RealMemory=2000000\n"
        "PartitionName=all Nodes=ALL Default=YES\n"
    )


def test_images_are_listed(home: LabHome) -> None:
    home_of_one = LabHome(home.state / "cache", home.state)
    assert image.images(home_of_one) == []
    (home_of_one.images / "abc").mkdir(parents=True)
    (home_of_one.images / ".def.partial").mkdir()
    assert image.images(home_of_one) == ["abc"]
    stock.remove(home_of_one, ["abc"])
    assert image.images(home_of_one) == []

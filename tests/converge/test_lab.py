"""Roles, push and verify on real nodes: a controller, a login node and two compute nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clusterwright.bundle.build import Bundle
from clusterwright.bundle.wanted import Wanted
from clusterwright.converge.push import push
from clusterwright.converge.result import Converged
from clusterwright.converge.target import Target
from clusterwright.converge.verify import verify
from clusterwright.event import Event
from clusterwright.operate.configure import install
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.lab.machines import LabMachines
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.remote import run_on
from clusterwright.operate.source import Source
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing

pytestmark = pytest.mark.lab

DESCRIPTION = """
cluster: converge-test
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  login: {roles: login, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001, account: vision}
accounts:
  vision: {shares: 3, limits: {gpus: 4, wall_time: 12h}}
hooks:
  - {at: after-configure, run: motd.sh, pools: login}
"""
HOOK = """#!/bin/sh
grep -q hello /etc/motd 2>/dev/null && exit 0
echo hello > /etc/motd
echo changed
"""
SECRET = b"0123456789abcdef-never-in-a-record" * 8
KEYS = {"/etc/slurm/slurm.key": SECRET}


@dataclass
class Ground:
    """Four nodes, and what was said while they were worked on."""

    folder: Path
    machines: LabMachines
    targets: Mapping[str, Target] = field(default_factory=dict)
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    runs: int = 0

    def build(self) -> None:
        file = self.folder / "cluster.yaml"
        file.write_text(DESCRIPTION)
        description = described(Source(file))
        prepared = prepare(description, ground=self.machines.ground(description.lock))
        self.handoff = prepared.handoff
        home = ClusterHome(self.handoff.name, self.folder / "home")
        desired = Desired(home, self.handoff, prepared.files, self.folder)
        self.wanted = Bundle(self.handoff, prepared.files, KEYS, desired.attachments).all()
        [(key, image)] = desired.images.items()
        report = self.events.append
        self.machines.ensure_image(
            self.handoff, key, lambda builder: install(desired, image, builder, report), report
        )
        self.targets = self.machines.ensure(self.handoff, dict.fromkeys(image.nodes, key), report)

    def push(self, *nodes: str, phase: str = "configure", check: bool = False) -> Converged:
        self.runs += 1
        return push(
            self.handoff,
            [self.targets[name] for name in nodes or self.targets],
            self.wanted,
            run_dir=self.folder / f"run-{self.runs}",
            report=self.events.append,
            phase=phase,  # type: ignore[arg-type]
            keys=KEYS,
            description_folder=self.folder,
            check=check,
        )

    def drift(self) -> Mapping[str, tuple[str, ...]]:
        found = verify(self.targets.values(), self.wanted)
        return {name: node.drift for name, node in found.items() if not node.ok}

    def on(self, node: str, command: str) -> str:
        answer = run_on(self.targets[node], command, timeout=600)
        assert answer.code == 0, (command, answer)
        return answer.output


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    user = LabHome.of_user()
    unmet = [str(finding) for finding in missing(user) if finding.severity == "error"]
    if unmet:
        pytest.skip("; ".join(unmet))
    folder = tmp_path_factory.mktemp("converge")
    (folder / "motd.sh").write_text(HOOK)
    ground = Ground(folder, LabMachines("converge-test", ("main",), LabHome(user.cache, folder / "lab")))
    try:
        ground.build()
        yield ground
    finally:
        ground.machines.destroy(ground.events.append)


def test_the_whole_way(ground: Ground) -> None:
    before = ground.push(check=True)
    assert {result.status for result in before.nodes.values()} == {"changed"}, before
    assert (
        ground.on("login", "test -e /etc/clusterwright/node.json && echo there || echo absent") == "absent\n"
    )

    first = ground.push()
    assert first.ok, first.broken
    assert ground.drift() == {}
    assert ground.on("login", "cat /etc/motd") == "hello\n"

    second = ground.push()
    assert (second.ok, second.changed) == (True, 0)
    assert max(result.tasks for result in second.nodes.values()) <= 4
    assert ground.push(check=True).changed == 0


def test_slurm_runs_jobs_of_a_user_and_knows_the_team(ground: Ground) -> None:
    ground.on("login", 'until [ "$(sinfo -h -o %T | sort -u)" = idle ]; do sleep 0.2; done')
    assert (
        ground.on("login", "su ada -c 'cd && srun -N2 -n2 --gres=gpu:2 hostname' | sort")
        == "gpu-001\ngpu-002\n"
    )
    show = "sacctmgr -nP show assoc account=vision user='' format=fairshare,grptres,maxwall"
    assert ground.on("controller", show) == "3|gres/gpu=4|12:00:00\n"


def test_no_key_is_in_any_record(ground: Ground) -> None:
    assert ground.runs
    for file in ground.folder.rglob("*"):
        if file.is_file() and not file.is_symlink() and "lab" not in file.relative_to(ground.folder).parts:
            content = file.read_bytes()
            assert SECRET[:34] not in content, file
            assert b"MDEyMzQ1Njc4OWFiY2RlZi1uZXZlci1pbi1hLXJlY29yZ" not in content, file


@pytest.mark.parametrize(
    ("harm", "said", "phase"),
    [
        ("echo '# mine' >> /etc/hosts", "/etc/hosts: content", "configure"),
        ("chmod 666 /etc/default/slurmd", "/etc/default/slurmd: mode 0666 should be 0644", "configure"),
        ("chown ada /etc/slurm/slurm.key", "/etc/slurm/slurm.key: owner ada should be slurm", "configure"),
        ("systemctl stop slurmd", "unit slurmd: inactive", "configure"),
        ("systemctl -q disable slurmd", "unit slurmd: disabled", "configure"),
        ("dpkg --remove --force-depends rsync", "package rsync: not installed", "all"),
        ("userdel ada", "user ada: missing", "configure"),
        ("usermod -s /bin/sh ada", "user ada: shell /bin/sh should be /bin/bash", "configure"),
        (
            "groupadd -r clusterwright-admin; usermod -aG clusterwright-admin ada",
            "group clusterwright-admin: ada should not be in it",
            "configure",
        ),
    ],
)
def test_drift_is_named_and_repaired(ground: Ground, harm: str, said: str, phase: str) -> None:
    ground.on("gpu-001", harm)
    assert ground.drift() == {"gpu-001": (said,)}
    done = ground.push("gpu-001", phase=phase)
    assert (done.ok, done.nodes["gpu-001"].status) == (True, "changed")
    assert ground.drift() == {}


def test_a_changed_file_restarts_what_reads_it(ground: Ground) -> None:
    started = "systemctl show --property=ActiveEnterTimestampMonotonic --value slurmd"
    before = ground.on("gpu-001", started)
    ground.on("gpu-001", "echo '# mine' >> /etc/default/slurmd")
    assert ground.push("gpu-001").ok
    assert ground.on("gpu-001", started) != before


def test_an_unreachable_node_is_named_and_the_others_finish(ground: Ground) -> None:
    ground.on("gpu-001", "echo '# mine' >> /etc/hosts")
    gone = ground.targets["gpu-002"]
    silent = Target(gone.name, gone.address, 2222, gone.user, gone.key_file, gone.known_hosts_file)
    ground.targets = {**ground.targets, "gpu-002": silent}
    try:
        done = ground.push("gpu-001", "gpu-002")
    finally:
        ground.targets = {**ground.targets, "gpu-002": gone}
    assert {name: result.status for name, result in done.nodes.items()} == {
        "gpu-001": "changed",
        "gpu-002": "unreachable",
    }
    assert done.nodes["gpu-002"].message


def test_daemons_are_not_started_against_a_controller_that_failed(ground: Ground) -> None:
    ground.on("controller", "systemctl stop slurmctld; mv /usr/sbin/slurmctld /usr/sbin/slurmctld.away")
    ground.on("gpu-001", "systemctl stop slurmd")
    done = ground.push("controller", "gpu-001")
    assert done.nodes["controller"].status == "failed"
    assert "slurmctld" in done.nodes["controller"].message
    assert done.nodes["gpu-001"].message == "not started, because controller did not come up"
    ground.on("controller", "mv /usr/sbin/slurmctld.away /usr/sbin/slurmctld")
    assert ground.push().ok
    assert ground.drift() == {}


def test_runs_are_private(ground: Ground) -> None:
    for run in ground.folder.glob("run-*"):
        assert run.stat().st_mode & 0o077 == 0
        assert run.stat().st_uid == os.getuid()

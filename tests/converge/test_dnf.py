"""The roles on a machine with real dnf and rpm that calls itself Rocky 9, against signed RPM repositories."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clusterwright.bundle.build import Bundle
from clusterwright.bundle.collection import root as collection
from clusterwright.bundle.offline import transactions
from clusterwright.bundle.rows import source, variables
from clusterwright.converge.push import Phase, push
from clusterwright.converge.result import NodeResult
from clusterwright.converge.verify import verify
from clusterwright.event import Event
from clusterwright.finding import Where
from clusterwright.handoff import from_plan
from clusterwright.operate.lab.vendors import vendors_packages
from clusterwright.operate.remote import run_on
from clusterwright.plan import plan
from clusterwright.plan.model import Ground as PlanGround
from clusterwright.plan.model import Mirror
from clusterwright.plan.outline import Outline
from clusterwright.plan.software import Lock
from clusterwright.plan.software.asked import asked
from clusterwright.plan.software.solve import answer
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing
from clusterwright.providers.lab.vendor.contents import packages
from clusterwright.providers.lab.vendor.repository import KEY_FILE, build
from clusterwright.render import render
from clusterwright.spec.load import loads

from . import rpm_distribution as rocky
from .rpm_root import TOOLS, reached

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason="needs rpm, createrepo-c and gpg"),
]
AGENT = collection() / "roles" / "pull" / "files" / "pull"
EXAMPLE = Path(__file__).parents[2] / "clusters" / "onprem-rocky-h100.yaml"
CHECK = "/usr/lib/clusterwright/check-modules"
SITE = "/run/simulated-site"
BUILT_BY_THE_SITE = {"gdrcopy"}
KEYS = {"/etc/slurm/slurm.key": b"k" * 64}
NEWER = "python3.11"
ASK = """
import importlib.machinery, importlib.util, json, sys
loader = importlib.machinery.SourceFileLoader("agent", "/run/agent")
agent = importlib.util.module_from_spec(importlib.util.spec_from_loader("agent", loader))
loader.exec_module(agent)
one = agent.Agent.__new__(agent.Agent)
one.root = ""
print(one.base(sys.argv[1], json.load(open("/run/kind.json"))))
"""
OLD, NEW = "580.95.05", "580.167.08"


@dataclass
class Ground:
    """One GPU node that is a Rocky 9 for dnf, its mirrors, and what was said while it was worked on."""

    folder: Path
    home: LabHome
    events: list[Event] = field(default_factory=list)
    runs: int = 0

    def serve(self) -> None:
        """The vendors' packages, Slurm's and the distribution's, each in a signed repository of its own."""
        self.locks = {driver: lock(driver) for driver in (OLD, NEW)}
        named = {package for each in self.locks.values() for package in vendors_packages(each)}
        wanted = {package for package in named if package.package not in BUILT_BY_THE_SITE}
        site, key = self.folder / "site", self.home.vendor_key
        made = build(packages(wanted), self.home.vendor, key, "rpm")
        shutil.copytree(made, site / "vendors")
        self.key = (made / KEY_FILE).read_text()
        self.want(OLD)
        names = {name for one in transactions(self.handoff) for name in one.packages if "=" not in name}
        ours = sorted(names - {one.package for one in wanted})
        slurm = [rocky.package(name, version="25.11.2-1.el9") for name in ours if name.startswith("slurm")]
        build(slurm, self.folder / "slurm", key, "rpm").rename(site / "slurm")
        base = [rocky.package(name) for name in ours if not name.startswith("slurm")]
        base.append(rocky.package(NEWER, carries=(f"link:/usr/bin/{NEWER}=python3",)))
        cache = self.home.vendor / "packages"
        self.mirror = rocky.mirror(site / "rocky", [*base, *rocky.IDENTITY], cache)

    def units(self) -> dict[str, tuple[str, str]]:
        return {
            unit.name: ("active" if unit.active else "inactive", "enabled" if unit.enabled else "disabled")
            for unit in self.wanted.units
        }

    def identify(self) -> None:
        """What the image of a real Rocky has: its key, and the package that says which release it is."""
        key = shlex.quote(self.mirror.key)
        self.on(f"mkdir -p /etc/pki/rpm-gpg && printf %s {key} > /etc/pki/rpm-gpg/RPM-GPG-KEY-Rocky-9")
        packages = f"{SITE}/rocky/9/BaseOS/x86_64/os"
        self.on(f"rpm --import /etc/pki/rpm-gpg/* && rpm -i {packages}/rocky-release-* {packages}/bash-*")

    def want(self, driver: str) -> None:
        """The example with this driver, and every repository a folder of the node."""
        spec = loads(description(driver)).spec
        vendors = Mirror(f"file:{SITE}/vendors", "./", (), "vendors.asc")
        made = plan(
            spec, lock=self.locks[driver], ground={"main": PlanGround(simulated=True, mirror=vendors)}
        )
        self.handoff = from_plan(made)
        self.handoff.cluster["surroundings"]["package_mirror"] = f"file://{SITE}/rocky"
        self.handoff.software["slurm_repository"]["url"] = f"file:{SITE}/slurm"
        texts = {"vendors.asc": self.key, "keys/site.asc": self.key}
        self.wanted = Bundle(self.handoff, render(self.handoff), KEYS, texts).all()["gpu1"]

    def push(self, phase: Phase = "all", *, check: bool = False) -> NodeResult:
        self.runs += 1
        done = push(
            self.handoff,
            [self.target],
            {"gpu1": self.wanted},
            run_dir=self.folder / f"run-{self.runs}",
            report=self.events.append,
            phase=phase,
            keys=KEYS,
            check=check,
        )
        return done.nodes["gpu1"]

    def drift(self) -> tuple[str, ...]:
        return verify([self.target], {"gpu1": self.wanted})["gpu1"].drift

    def gate(self) -> dict[str, str]:
        """What the gate `stack` says; others look at a Slurm that is not there."""
        said = self.on("/usr/lib/clusterwright/gate > /dev/null; cat /run/clusterwright/gate.json")
        stack: dict[str, str]
        [stack] = [gate for gate in json.loads(said)["gates"] if gate["name"] == "stack"]
        return stack

    def send(self, path: str, text: str) -> None:
        argv = [*self.target.ssh_argv(), f"cat > {path}"]
        subprocess.run(argv, input=text, text=True, check=True, timeout=120)

    def on(self, command: str, code: int = 0) -> str:
        answer = run_on(self.target, command, timeout=120)
        assert answer.code == code, (command, answer)
        return answer.output


def description(driver: str) -> str:
    wish = f"  versions: {{driver: =={driver}}}\n  monitoring:"
    text = EXAMPLE.read_text().replace("  monitoring:", wish)
    return re.sub(r"storage:\n(  .*\n)+", "storage: {shares: {}}\n", text)


def lock(driver: str) -> Lock:
    return answer(asked(Outline(loads(description(driver)).spec, {}), lambda path: Where(path=path)))


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    user = LabHome.of_user()
    unmet = [str(finding) for finding in missing(user) if finding.severity == "error"]
    if unmet:
        pytest.skip("; ".join(unmet))
    ground = Ground(tmp_path_factory.mktemp("rocky"), LabHome(user.cache, Path("/nonexistent")))
    ground.serve()
    with reached(ground.folder, ground.units()) as ground.target:
        ground.identify()
        yield ground


def test_a_node_that_pulls_installs_its_newer_python_from_the_mirror_of_the_bundle(ground: Ground) -> None:
    """With nothing placed before: the agent needs that Python for whoever places files."""
    bundled = ground.wanted.kind
    kind = {"source": source(bundled.files, bundled), "variables": variables(bundled)}
    for name, text in (("agent", AGENT.read_text()), ("kind.json", json.dumps(kind)), ("ask.py", ASK)):
        ground.send(f"/run/{name}", text)
    ground.on("printf '#!/bin/sh\\n' > /usr/bin/update-ca-trust && chmod 755 /usr/bin/update-ca-trust")
    assert ground.on(f"test ! -e /usr/bin/{NEWER}; rpm -q {NEWER}", 1)
    assert ground.on(f"PYTHONDONTWRITEBYTECODE=1 python3 /run/ask.py {NEWER}") == f"/usr/bin/{NEWER}\n"
    assert ground.on(f"rpm -qf /usr/bin/{NEWER}").startswith(f"{NEWER}-1-1.el9")
    assert ground.drift() != ()


def test_the_node_becomes_what_the_lock_says(ground: Ground) -> None:
    first = ground.push()
    assert first.status == "changed", first
    assert ground.drift() == ()
    second = ground.push()
    assert (second.status, second.changed) == ("ok", 0)
    third = ground.push(check=True)
    assert (third.status, third.changed) == ("ok", 0)


def test_modules_are_built_for_the_kernel_of_the_lock(ground: Ground) -> None:
    [kernel] = ground.on("rpm -q --qf '%{VERSION}' kernel").split()
    assert ground.on(f"modinfo --set-version {kernel} --field version nvidia").strip() == OLD
    module = f"/lib/modules/{kernel}/updates/dkms/nvidia-uvm.ko"
    ground.on(f"mv {module} /root && depmod {kernel}")
    assert f"module nvidia_uvm (driver) built for kernel {kernel}: not there" in ground.on(f"{CHECK} 2>&1", 1)
    ground.on(f"mv /root/nvidia-uvm.ko {module} && depmod {kernel} && {CHECK}")


def test_dnf_resolved_exactly_the_lock(ground: Ground) -> None:
    installed = set(ground.on("rpm -qa --qf '%{NAME}=%{EPOCHNUM}:%{VERSION}-%{RELEASE}\\n'").split())
    locked = [package for package in ground.wanted.packages if "=" in package]
    assert len(locked) > 15
    for package in locked:
        name, _, version = package.partition("=")
        assert f"{name}={version if ':' in version else '0:' + version}" in installed


def test_an_upgrade_moves_nothing_that_is_locked(ground: Ground) -> None:
    assert f"3:{NEW}-1.el9" in ground.on("dnf -q list --showduplicates nvidia-driver-cuda")
    ground.on("dnf -q -y upgrade")
    assert OLD in ground.on("rpm -q nvidia-driver-cuda")
    assert ground.drift() == ()
    assert ground.gate()["status"] == "pass"


def test_what_is_moved_by_hand_is_named(ground: Ground) -> None:
    ground.on("dnf -q -y --disableplugin=versionlock upgrade nvidia-driver-cuda")
    assert f"package nvidia-driver-cuda: 3:{NEW}-1.el9 should be 3:{OLD}-1.el9" in ground.drift()
    stack = ground.gate()
    assert (stack["status"], stack["expected"]) == ("fail", f"nvidia-driver-cuda 3:{OLD}-1.el9")
    assert NEW in stack["seen"]


def test_a_new_lock_moves_it_and_holds_it_there(ground: Ground) -> None:
    ground.want(NEW)
    moved = ground.push()
    assert moved.status == "changed", moved
    assert f"nvidia-fabricmanager-0:{NEW}-1.el9.*" in ground.on("cat /etc/dnf/plugins/versionlock.list")
    assert ground.drift() == ()
    assert NEW in ground.on("modinfo --set-version $(rpm -q --qf '%{VERSION}' kernel) --field version nvidia")

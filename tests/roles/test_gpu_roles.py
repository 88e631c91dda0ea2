"""What the roles of the GPU stack give to machines of every family, from a solved lock."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.bundle.packages import managed
from clusterwright.bundle.role import ORDER, roles
from clusterwright.catalog.fabrics import fabric_of, settings
from clusterwright.catalog.software import packages
from clusterwright.handoff import Handoff

from . import solved

REPOSITORY = Path(__file__).parents[2]
NVIDIA = {"kernel", "nvidia_driver", "cuda", "nccl", "dcgm", "gpu_tuning", "gpu_containers", "slurm_gpu"}
SEVERAL = NVIDIA | {"nccl_tests"}
MACHINES = {
    "hgx-h100-8gpu": ("onprem", "debian-13", SEVERAL | {"nvidia_fabric", "rdma"}),
    "hgx-b200-8gpu": ("onprem", "ubuntu-24.04", SEVERAL | {"nvidia_fabric", "rdma"}),
    "gb200-nvl72-tray": ("onprem", "ubuntu-24.04", SEVERAL | {"nvidia_imex", "rdma"}),
    "l4-server": ("onprem", "debian-12", SEVERAL),
    "rtx4090-workstation": ("onprem", "debian-12", NVIDIA),
    "mi300x-8gpu": (
        "onprem",
        "ubuntu-24.04",
        {"kernel", "amd_gpu", "nccl", "gpu_tuning", "slurm_gpu", "rdma"},
    ),
    "generic-x86-16c": ("onprem", "debian-12", set()),
    "p5.48xlarge": ("aws", "ubuntu-24.04", SEVERAL | {"nvidia_fabric", "efa"}),
    "a3-megagpu-8g": ("gcp", "ubuntu-24.04", SEVERAL | {"nvidia_fabric", "gpudirect_tcpxo"}),
    "a4-highgpu-8g": ("gcp", "ubuntu-24.04", SEVERAL | {"nvidia_fabric", "gib", "rdma"}),
}
OPTIONAL = {"gdrcopy"}
"""Not every catalog of releases brings it along."""
WISHES = "{cudnn: any, gds: any, enroot: any, apptainer: any, beegfs: any, ceph: any}"


def made(machine: str) -> Handoff:
    provider, distribution, _roles = MACHINES[machine]
    return solved.handoff(machine, distribution, provider=provider)


@pytest.fixture(params=sorted(MACHINES))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rows(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for role in roles():
        for row in getattr(role, kind):
            yield role.name, row


def test_each_machine_has_the_roles_that_it_needs_and_no_other(machine: str) -> None:
    named = set(solved.wanted(made(machine)).kind.roles)
    expected = MACHINES[machine][2]
    stack_roles = {name for name, _row in rows("components")} | {"gpu_tuning", "slurm_gpu"}
    assert (named & stack_roles) - OPTIONAL == expected - OPTIONAL


def test_every_component_is_some_roles_and_only_one() -> None:
    """RCCL and NCCL have one role for their settings, and each its own for packages."""
    taken = [row["name"] for _role, row in rows("components")]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    assert twice == ["opencl"]  # the same for both vendors
    not_installed_here = {"slurm"}
    assert {row.component for row in packages()} - not_installed_here <= set(taken)


def test_rows_ask_only_for_facts_that_nodes_have() -> None:
    known = set(solved.known(made("hgx-h100-8gpu")))
    conditions = [role.applies for role in roles()]
    conditions += [row.get("when", {}) for kind in ("files", "units", "parts") for _role, row in rows(kind)]
    conditions += [row.get("when", {}) for _role, row in rows("components")]
    assert set(chain.from_iterable(conditions)) <= known


def test_every_locked_package_and_service_has_its_role(machine: str) -> None:
    handoff = made(machine)
    wanted = solved.wanted(handoff)
    installed = {package.partition("=")[0] for package in wanted.packages}
    named = {unit.name for unit in wanted.units}
    for component, row in handoff.software["stacks"].get("gpu", {}).items():
        if component != "slurm":
            assert set(managed(row)) <= installed, component
            assert set(row["services"]) <= named, component


def test_what_is_wished_for_is_installed_too() -> None:
    handoff = solved.handoff("hgx-h100-8gpu", "debian-12", WISHES)
    named = set(solved.wanted(handoff).kind.roles)
    assert {"gds", "gpu_containers", "cephfs_client", "beegfs_client"} <= named
    units = {unit.name: unit.active for unit in solved.wanted(handoff).units}
    assert units["clusterwright-enroot"]
    assert "beegfs-client" not in units  # the site's to switch on, once it is configured


def test_the_stack_comes_up_in_the_order_that_it_depends() -> None:
    order = [unit.name for unit in solved.wanted(made("hgx-h100-8gpu")).units if unit.active]
    chain_ = ["nvidia-persistenced", "nvidia-fabricmanager", "nvidia-dcgm", "clusterwright-cdi"]
    chain_ += ["clusterwright-gate", "slurmd"]
    assert [name for name in order if name in chain_] == chain_
    roles_ = ["kernel", "rdma", "nvidia_driver", "nvidia_fabric"]
    assert [name for name in ORDER if name in roles_] == roles_


def test_what_the_initial_ram_disk_copies_is_there_before_the_packages(machine: str) -> None:
    for file in solved.wanted(made(machine)).files:
        if file.path.startswith(("/etc/modprobe.d/9", "/etc/apt/")) and "clusterwright" in file.path:
            assert file.early, file.path


def test_options_of_the_module_follow_the_machine() -> None:
    def options(machine: str) -> str:
        files = solved.files(made(machine))
        return "".join(text for path, text in files.items() if path.startswith("/etc/modprobe.d/"))

    assert "NVreg_RestrictProfilingToAdminUsers=0" in options("l4-server")
    assert "PeerMappingOverride" not in options("l4-server")
    assert "PeerMappingOverride=1" in options("hgx-h100-8gpu")
    assert "NVreg_CoherentGPUMemoryMode=driver" in options("gb200-nvl72-tray")
    assert "NVreg_CoherentGPUMemoryMode" not in options("hgx-b200-8gpu")


def test_the_fabric_is_named_everywhere_so_that_its_absence_is_loud(machine: str) -> None:
    handoff = made(machine)
    files = solved.files(handoff)
    traits = solved.known(handoff)["trait"]
    net = fabric_of(traits, handoff.software["stacks"].get("gpu", {})).nccl_net
    if "/etc/nccl.conf" in files:
        assert (f"\nNCCL_NET={net}\n" in files["/etc/nccl.conf"]) == bool(net)
        assert (
            f"cw_NCCL_NET=${{NCCL_NET-{net}}}" in files["/etc/profile.d/clusterwright-fabric.sh"]
        ) == bool(net)
    else:
        assert machine == "generic-x86-16c"


def test_nothing_sets_what_must_not_be_set(machine: str) -> None:
    patterns = [row.name for row in settings() if row.use == "never"]
    assert patterns
    for path, text in solved.files(made(machine)).items():
        for name in re.findall(r"^\s*(?:export )?(?:cw_)?([A-Z][A-Z0-9_]+)=", text, flags=re.MULTILINE):
            assert not [pattern for pattern in patterns if fnmatch(name, pattern)], (path, name)


def test_containers_of_every_kind_are_told_of_the_fabric() -> None:
    files = solved.files(solved.handoff("hgx-h100-8gpu", "debian-12", WISHES))
    lines = files["/etc/enroot/environ.d/50-clusterwright-fabric.env"].splitlines()
    assert {"NCCL_NET=IB", "MELLANOX_VISIBLE_DEVICES=all"} <= set(lines)
    assert all(re.fullmatch(r"#.*|[A-Z0-9_]+=\S+", line) for line in lines)
    path = "/etc/containers/containers.conf.d/50-clusterwright-fabric.conf"
    assert path not in files
    podman = tomllib.loads(solved.files(solved.handoff("hgx-h100-8gpu", "debian-12", containers=True))[path])
    assert {"NCCL_NET=IB", "NCCL_DEBUG=WARN"} <= set(podman["containers"]["env"])


@pytest.mark.parametrize(
    "role", sorted({name for name, _row in rows("components")} | {"gpu_tuning", "slurm_gpu"})
)
def test_a_readme_says_whether_a_node_must_boot_again(role: str) -> None:
    assert "**Reboot.**" in (REPOSITORY / "roles" / role / "README.md").read_text()


def test_what_a_job_left_is_looked_for_only_where_a_gpu_is_one_jobs() -> None:
    made, epilog = solved.handoff("hgx-h100-8gpu"), "/usr/lib/clusterwright/gpu-epilog"
    shared = replace(made, scheduler={**made.scheduler, "shards": {"gpu": 4}})
    assert epilog in solved.files(made) and epilog not in solved.files(shared)
    by_mps = solved.files(replace(made, scheduler={**made.scheduler, "mps": {"gpu": 100}}))
    mps = "/usr/lib/clusterwright/gpu-mps"
    assert epilog not in by_mps and mps in by_mps and mps not in solved.files(shared)


def test_no_role_boots_a_node() -> None:
    spoken = re.compile(r"\b(reboot|kexec|shutdown)\b")
    for role in ORDER:
        for file in (REPOSITORY / "roles" / role / "tasks").glob("*.yml"):
            assert not spoken.search(file.read_text()), file
        body = yaml.safe_load((REPOSITORY / "roles" / role / "node.yml").read_text())
        assert not [row for row in body.get("units", []) if spoken.search(str(row))]


def test_no_two_machines_write_different_text_before_the_packages() -> None:
    """One image serves several kinds of node where their packages agree."""
    seen: dict[tuple[str, str], str] = {}
    for machine in ("hgx-h100-8gpu", "hgx-b200-8gpu", "gb200-nvl72-tray", "l4-server", "mi300x-8gpu"):
        handoff = solved.handoff(machine, "ubuntu-24.04")
        version = handoff.software["stacks"]["gpu"].get("driver", {}).get("version", "")
        for file in solved.wanted(handoff).files:
            if file.early and file.path.startswith(
                ("/etc/modprobe.d/", "/etc/apt/apt.conf.d/", "/etc/apt/pref")
            ):
                assert seen.setdefault((file.path, version), str(file.content)) == file.content, file.path
    assert len(seen) > 3

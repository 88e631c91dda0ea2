"""The simulated vendor repository, by the programs that read real ones: apt, dpkg and gpg's signatures."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

from clusterwright.catalog import software
from clusterwright.providers.lab.simulators.launch import PROGRAMS, REFUSAL
from clusterwright.providers.lab.vendor import deb, rpm
from clusterwright.providers.lab.vendor.contents import Wanted, packages
from clusterwright.providers.lab.vendor.package import UNITS, VendorPackage, launcher
from clusterwright.providers.lab.vendor.repository import Kind, build

DRIVER = "580.95.05"
DKMS = "Package: dkms\nStatus: install ok installed\nVersion: 3.2\nArchitecture: all\n\n"
"""What the distribution carries."""
WANTED = (
    Wanted("driver", DRIVER, "nvidia-open"),
    Wanted("fabric_manager", DRIVER, "nvidia-fabricmanager", f"{DRIVER}-1"),
    Wanted("dcgm", "4.4.2", "datacenter-gpu-manager-4-cuda13", "1:4.4.2-1"),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vendor")
    return build(packages(WANTED), folder / "served", folder / "key")


def apt(root: Path, repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The real apt-get on an empty root that knows only this repository."""
    for folder in (
        "etc/apt/apt.conf.d",
        "etc/apt/preferences.d",
        "var/lib/apt/lists/partial",
        "var/lib/dpkg",
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "var/cache/apt/archives/partial").mkdir(parents=True, exist_ok=True)
    (root / "var/lib/dpkg/status").write_text(DKMS)
    (root / "etc/apt/sources.list").write_text(f"deb [signed-by={repository}/key.asc] file:{repository} /\n")
    options = {
        "Dir": str(root),
        "Dir::State::status": str(root / "var/lib/dpkg/status"),
        "APT::Architecture": "amd64",
        "APT::Sandbox::User": "",
    }
    argv = [
        "apt-get",
        *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
        *words,
    ]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_apt_verifies_it_and_resolves_the_driver(repository: Path, tmp_path: Path) -> None:
    updated = apt(tmp_path, repository, "update")
    assert updated.returncode == 0, updated.stderr
    assert "W:" not in updated.stderr
    planned = apt(
        tmp_path, repository, "install", "-s", "nvidia-open", "datacenter-gpu-manager-4-cuda13"
    ).stdout
    installed = {line.split()[1] for line in planned.splitlines() if line.startswith("Inst ")}
    assert {
        "nvidia-kernel-open-dkms",
        "nvidia-driver-cuda",
        "libnvidia-ml1",
        "nvidia-persistenced",
    } <= installed
    assert "datacenter-gpu-manager-4-core" in installed
    assert "nvidia-fabricmanager" not in installed


def test_apt_refuses_it_once_it_was_tampered_with(repository: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(repository), str(copy)], check=True)
    (copy / "InRelease").write_text((copy / "InRelease").read_text().replace("SIMULATED", "REAL"))
    assert apt(tmp_path / "root", copy, "update").returncode != 0


def test_the_same_packages_are_the_same_bytes(repository: Path, tmp_path: Path) -> None:
    again = build(packages(reversed(WANTED)), tmp_path / "elsewhere", repository.parents[1] / "key")
    assert again.name == repository.name
    for made in repository.iterdir():
        assert (again / made.name).read_bytes() == made.read_bytes(), made.name
    assert build(packages(WANTED), repository.parent, repository.parents[1] / "key") == repository


def test_another_key_or_another_package_is_another_repository(repository: Path, tmp_path: Path) -> None:
    wanted = (*WANTED, Wanted("nscq", DRIVER, "libnvidia-nscq"))
    assert build(packages(wanted), repository.parent, repository.parents[1] / "key") != repository
    assert build(packages(WANTED), repository.parent, tmp_path / "key") != repository
    assert (tmp_path / "key" / "secret.asc").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("kind", "recipe"), [("deb", (deb, "control")), ("rpm", (rpm, "spec"))])
def test_another_recipe_is_another_file_and_another_repository(
    kind: Kind, recipe: tuple[ModuleType, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an older one made lies in the cache still, and is not taken."""
    wanted = packages([Wanted("gdrcopy", "2.5", "gdrcopy-kmod")])
    before = build(wanted, tmp_path, tmp_path / "key", kind)
    write = getattr(*recipe)
    monkeypatch.setattr(*recipe, lambda package: write(package).replace("Not the vendor's", "Nobody's"))
    after = build(wanted, tmp_path, tmp_path / "key", kind)
    [old], [new] = (list(made.glob(f"*.{kind}")) for made in (before, after))
    assert old.read_bytes() != new.read_bytes()


def test_a_package_says_that_it_is_simulated_and_refuses_a_machine_that_is_no_lab_node(
    repository: Path, tmp_path: Path
) -> None:
    [deb] = repository.glob("nvidia-driver-cuda_*.deb")
    shown = subprocess.run(
        ["dpkg-deb", "--info", str(deb)], capture_output=True, text=True, check=True
    ).stdout
    assert "Description: SIMULATED nvidia-driver-cuda 580.95.05" in shown
    subprocess.run(["dpkg-deb", "--control", str(deb), str(tmp_path / "control")], check=True)
    done = subprocess.run([str(tmp_path / "control/preinst")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "refuses to be installed: this machine is no lab node" in done.stderr


def test_a_program_refuses_to_run_anywhere_but_in_a_lab(tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(launcher("nvidia-smi", DRIVER))
    program.chmod(0o755)
    done = subprocess.run([str(program), "-L"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "refuses to run" in done.stderr

    lab = files("clusterwright.providers.lab")
    program.write_text(program.read_text().replace("/usr/lib/simulated-hardware", str(lab)))
    done = subprocess.run([str(program), "-L"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (126, f"nvidia-smi: {REFUSAL}\n")


def test_every_row_of_the_contents_can_be_built() -> None:
    table = (files("clusterwright.providers.lab.vendor") / "contents.csv").read_text()
    rows = list(csv.DictReader(table.splitlines()))
    assert len({row["package"] for row in rows}) == len(rows)
    words = {"{branch}": "580", "{release}": DRIVER, "{major}": "13", "{minor}": "0", "{lts}": "24.04"}
    words["{kernel}"] = "6.8.0-1057"
    for row in rows:
        assert row["source"] and row["date"], row
        name = row["package"]
        for word, value in words.items():
            name = name.replace(word, value)
        made = packages([Wanted(row["component"], DRIVER, name)])
        if row["carries"] == "distribution":
            assert made == ()
            continue
        assert name in {package.name for package in made}
        assert all(package.carries or package.depends for package in made), name
        for package in made:
            assert package.files() and _programs(package) <= PROGRAMS.keys()


def test_every_service_that_a_lock_may_name_has_a_unit() -> None:
    missing = set()
    for row in software.packages():
        name = row.package.replace("{branch}", "580").replace("{major}", "13").replace("{lts}", "24.04")
        made = packages([Wanted(row.component, DRIVER, name)]) if row.repository != "distribution" else ()
        placed = {path.rpartition("/")[2] for package in made for path in package.files()}
        missing |= {
            (name, service) for service in row.services if made and f"{service}.service" not in placed
        }
    assert missing == set()


RPM_TOOLS = ("dnf", "rpmbuild", "createrepo_c")
EL = tuple(
    Wanted("driver", DRIVER, name, f"3:{DRIVER}-1.el9")
    for name in ("kmod-nvidia-open-dkms", "nvidia-driver-cuda", "nvidia-persistenced")
)
SHELL = VendorPackage("shell", "1-1", "base", provides=("/bin/sh",))
"""In place of a distribution: a package with scripts needs it."""


@pytest.fixture
def agents_end(tmp_path: Path) -> Iterator[None]:
    """dnf leaves the gpg-agent running that it checked the key with."""
    yield
    for ring in tmp_path.rglob("pubring"):
        subprocess.run(["gpgconf", "--homedir", str(ring), "--kill", "all"], check=False)


@pytest.mark.usefixtures("agents_end")
@pytest.mark.skipif(
    not all(map(shutil.which, ("dnf", "rpmbuild", "createrepo_c"))), reason="needs dnf, rpmbuild"
)
def test_dnf_verifies_the_rpm_repository_and_resolves_the_driver(tmp_path: Path) -> None:
    served = build((*packages(EL), SHELL), tmp_path / "vendor", tmp_path / "key", "rpm")
    settings = {
        "reposdir": "/nonexistent",
        "cachedir": str(tmp_path / "cache"),
        "lab.gpgcheck": "0",
        "lab.repo_gpgcheck": "1",
        "lab.gpgkey": f"file://{served}/key.asc",
    }
    argv = ["dnf", "-y", f"--installroot={tmp_path}/root", "--releasever=9"]
    argv += [f"--repofrompath=lab,file://{served}"]
    argv += [f"--setopt={name}={value}" for name, value in settings.items()]
    planned = subprocess.run(
        [*argv, "install", "--assumeno", "nvidia-driver-cuda", "kmod-nvidia-open-dkms"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "libnvidia-ml1" in planned.stdout, planned.stderr
    assert planned.stdout.count(f"3:{DRIVER}-1.el9") == 4

    again = build((*packages(EL), SHELL), tmp_path / "elsewhere", tmp_path / "key", "rpm")
    for made in served.rglob("*"):
        if made.is_file():
            assert (again / made.relative_to(served)).read_bytes() == made.read_bytes(), made.name

    metadata = served / "repodata/repomd.xml"
    metadata.write_text(metadata.read_text().replace("<revision>", "<revision>9"))
    for folder in ("cache", "root"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    told = subprocess.run([*argv, "makecache"], capture_output=True, text=True, check=False).stderr
    assert "GPG signature verification error: Bad GPG signature" in told


@pytest.mark.skipif(shutil.which("modinfo") is None, reason="needs kmod")
def test_the_real_modinfo_reads_a_module(tmp_path: Path) -> None:
    for package, license in (("nvidia-kernel-open-dkms", "Dual MIT/GPL"), ("nvidia-kernel-dkms", "NVIDIA")):
        [made] = packages([Wanted("driver", DRIVER, package)])
        module = tmp_path / "nvidia-uvm.ko"
        module.write_bytes(made.files()[f"/usr/src/nvidia-{DRIVER}/nvidia-uvm.ko"][1].encode("latin-1"))
        told = subprocess.run(["modinfo", str(module)], capture_output=True, text=True, check=True).stdout
        facts = {key: value.strip() for key, _, value in (line.partition(":") for line in told.splitlines())}
        assert (facts["version"], facts["license"], facts["name"]) == (DRIVER, license, "nvidia-uvm")
        assert "SIMULATED" in facts["description"]


def _programs(package: VendorPackage) -> set[str]:
    kinds = [entry.split(":", 1) for entry in package.carries]
    assert {what for kind, what in kinds if kind == "daemon"} <= UNITS.keys()
    return {what.rpartition("/")[2] for kind, what in kinds if kind in ("program", "daemon")}


def test_a_machine_without_a_compiler_leaves_the_library_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = packages([Wanted("driver", DRIVER, "libnvidia-ml1")])
    assert wanted[0].libraries()
    monkeypatch.setattr("clusterwright.providers.lab.vendor.package.can_compile", lambda: False)
    served = build(wanted, tmp_path / "vendor", tmp_path / "key")
    [deb] = served.glob("*.deb")
    listed = subprocess.run(["dpkg-deb", "-c", str(deb)], capture_output=True, text=True, check=True).stdout
    assert "markers/library" in listed
    assert "libnvidia-ml.so" not in listed


def test_a_dependency_has_the_version_that_the_lock_names() -> None:
    """Amazon's installer has a version, and its libfabric one of its own."""
    own = "2.7.0amzn2.0"
    made = packages([Wanted("efa", "1.51.0", "efa-profile"), Wanted("efa", "1.51.0", "libfabric1-aws", own)])
    assert {package.version for package in made if package.name == "libfabric1-aws"} == {own}
    [tool] = [package for package in made if package.name == "libfabric-aws-bin"]
    assert tool.depends == (f"libfabric1-aws (= {own})",)


def test_packages_of_one_release_share_what_they_depend_on(tmp_path: Path) -> None:
    """Of ROCm on Ubuntu 24.04 one package's version is known, and one's is made up here."""
    exact = "7.2.4.70204-93~24.04"
    made = packages([Wanted("rocm", "7.2.4", "rocm"), Wanted("rocm", "7.2.4", "rocm-core", exact)])
    served = build(made, tmp_path / "vendor", tmp_path / "key")
    assert apt(tmp_path / "root", served, "update").returncode == 0
    both = apt(tmp_path / "root", served, "install", "--simulate", "rocm", f"rocm-core={exact}")
    assert both.returncode == 0, both.stdout

"""One package as a repository has it: its name and version are the vendor's, what it carries is simulated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files as resources
from pathlib import Path

from clusterwright.providers.lab.vendor import kernel, module

UNITS = {
    "beegfs-client": ("beegfs-client", "Start BeeGFS Client"),
    "dcgm-exporter": ("nvidia-dcgm-exporter", "NVIDIA DCGM Exporter"),
    "nv-fabricmanager": ("nvidia-fabricmanager", "NVIDIA fabric manager service"),
    "nv-hostengine": ("nvidia-dcgm", "NVIDIA DCGM service"),
    "nvidia-imex": ("nvidia-imex", "NVIDIA IMEX service"),
    "nvidia-persistenced": ("nvidia-persistenced", "NVIDIA Persistence Daemon"),
}
"""Daemon → its unit and what the unit calls it."""
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
REFUSAL = "is simulated for clusterwright's lab and refuses to be installed: this machine is no lab node"
_MARKERS = "/usr/lib/simulated-hardware/markers"


@dataclass(frozen=True)
class VendorPackage:
    """`carries` says what is inside: `program:NAME`, `daemon:NAME`, `loader:UNIT`, `module:NAME`,
    `library:NAME`, `built:KERNEL/MODULE`, `file:PATH`, `link:PATH=TARGET`, `pin:PATTERN`, `kernel:RELEASE`,
    `headers:RELEASE`."""

    name: str
    version: str
    component: str
    architecture: str = "amd64"
    depends: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    carries: tuple[str, ...] = ()
    release: str = ""
    """The version that the simulators tell; if empty, the package's without epoch and revision."""

    @cached_property
    def upstream(self) -> str:
        return (
            self.release or self.version.partition(":")[2].partition("-")[0] or self.version.partition("-")[0]
        )

    @property
    def file_name(self) -> str:
        return f"{self.name}_{self.version.rpartition(':')[2]}_{self.architecture}.deb"

    @property
    def digest(self) -> str:
        """Names everything that goes into the package."""
        files = {name: list(entry) for name, entry in self.files().items()}
        content = [asdict(self), files, self.scripts(), dict(self.libraries())]
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def description(self) -> str:
        return f"SIMULATED {self.name} {self.upstream} for clusterwright's lab"

    def files(self) -> Mapping[str, tuple[int, str]]:
        """Path → mode and text, a byte a letter; a mode of 0 is a symbolic link to the text."""
        found: dict[str, tuple[int, str]] = {
            f"/usr/share/doc/{self.name}/SIMULATED": (
                0o644,
                f"{self.description}. Not the vendor's software.\n",
            )
        }
        for entry in self.carries:
            kind, _, what = entry.partition(":")
            found.update(_CARRIED[kind](self, what))
        return found

    def libraries(self) -> Mapping[str, str]:
        """Path → the C that it is made of."""
        if not can_compile():
            return {}
        names = self._carried("library")
        text = (resources("clusterwright.providers.lab.vendor") / "nvml.c").read_text(encoding="utf-8")
        return {f"{self.library_folder}/{name.rpartition('.')[0]}.{self.upstream}": text for name in names}

    @property
    def paths(self) -> list[str]:
        """Of every file inside."""
        return sorted([*self.files(), *self.libraries()])

    @property
    def library_folder(self) -> str:
        return f"/usr/lib/{TRIPLETS[self.architecture]}"

    def scripts(self) -> Mapping[str, str]:
        """What runs around the installation."""
        gate = (
            f'[ -e /run/simulated-hardware/hardware.json ] || {{ echo "{self.name} {REFUSAL}" >&2; exit 1; }}'
        )
        found = {"preinst": f"#!/bin/sh\nset -e\n{gate}\n"}
        after = "".join(kernel.image_script(name) for name in self._carried("kernel"))
        after += "".join(kernel.headers_script(name) for name in self._carried("headers"))
        before = "".join(kernel.removed_script(name) for name in self._carried("kernel"))
        if any(entry.startswith(("daemon:", "loader:")) for entry in self.carries):
            after += "[ ! -d /run/systemd/system ] || systemctl daemon-reload\n"
        if self.modules:
            after += module.built_script(self.source, self.upstream, self.modules)
            before += module.removed_script(self.source, self.upstream, self.modules)
        for release in sorted({what.partition("/")[0] for what in self._carried("built")}):
            after += f"depmod -a {release}\n"
        if before:
            found["prerm"] = f"#!/bin/sh\nset -e\n{before}"
        if after:
            found["postinst"] = f"#!/bin/sh\nset -e\n{after}"
        return found

    @property
    def modules(self) -> list[str]:
        """The kernel modules inside, as their files are named."""
        return [_file_name(name) for name in self._carried("module")]

    def _carried(self, kind: str) -> list[str]:
        return [what for one, _, what in (entry.partition(":") for entry in self.carries) if one == kind]

    @property
    def source(self) -> str:
        """What dkms calls them together."""
        return self.modules[0]


Files = dict[str, tuple[int, str]]


def can_compile() -> bool:
    """Whether this machine has a C compiler and its headers; a lab without one has no simulated NVML."""
    return shutil.which("gcc") is not None and Path("/usr/include/stdio.h").exists()


def _file_name(module: str) -> str:
    """The kernel knows modules with underscores; NVIDIA's files have dashes."""
    return module.replace("_", "-") if module.startswith("nvidia") else module


def _program(package: VendorPackage, what: str) -> Files:
    path = what if what.startswith("/") else f"/usr/bin/{what}"
    return {path: (0o755, launcher(path.rpartition("/")[2], package.upstream))}


def _daemon(package: VendorPackage, what: str) -> Files:
    unit, title = UNITS[what]
    return {
        f"/usr/bin/{what}": (0o755, launcher(what, package.upstream)),
        f"/usr/lib/systemd/system/{unit}.service": (0o644, _unit(what, title)),
    }


def _loader(package: VendorPackage, what: str) -> Files:
    """A service that loads the package's modules, and is done."""
    starts = "".join(f"ExecStart=/usr/local/sbin/modprobe {name}\n" for name in package.modules)
    text = f"""[Unit]
Description={what} of {package.name} (simulated)
ConditionPathExists=/run/simulated-hardware/hardware.json
After=simulated-hardware.service

[Service]
Type=oneshot
RemainAfterExit=yes
{starts}
[Install]
WantedBy=multi-user.target
"""
    return {f"/usr/lib/systemd/system/{what}.service": (0o644, text)}


def _module(package: VendorPackage, what: str) -> Files:
    folder, name = f"/usr/src/{package.source}-{package.upstream}", _file_name(what)
    closed = "open" not in package.name
    made = module.kernel_module(name, package.upstream, package.architecture, proprietary=closed)
    return {
        f"{_MARKERS}/modules/{what}": (0o644, f"{package.upstream} {package.name} simulated\n"),
        f"{folder}/{name}.ko": (0o644, made.decode("latin-1")),
        f"{folder}/dkms.conf": (0o644, module.dkms_conf(package.source, package.upstream, package.modules)),
    }


def _built(package: VendorPackage, what: str) -> Files:
    """A module that its vendor built for one kernel: nothing is left to DKMS."""
    release, _, name = what.partition("/")
    made = module.kernel_module(name, package.upstream, package.architecture)
    return {
        f"{_MARKERS}/modules/{name}": (0o644, f"{package.upstream} {package.name} simulated\n"),
        f"/usr/lib/modules/{release}/updates/{name}.ko": (0o644, made.decode("latin-1")),
    }


def _library(package: VendorPackage, what: str) -> Files:
    """The library itself is compiled; see `libraries`."""
    found: Files = {f"{_MARKERS}/library": (0o644, f"{package.upstream} {package.name} simulated\n")}
    if can_compile():
        found[f"{package.library_folder}/{what}"] = (0, f"{what.rpartition('.')[0]}.{package.upstream}")
    return found


def _file(package: VendorPackage, what: str) -> Files:
    return {what: (0o644, f"{package.description}\n")}


def _link(_: VendorPackage, what: str) -> Files:
    path, target = what.split("=")
    return {path: (0, target)}


def _pin(package: VendorPackage, what: str) -> Files:
    pin = f"Package: {what}\nPin: version {package.upstream}*\nPin-Priority: 1000\n"
    text = f"Explanation: {package.description}\n{pin}"
    return {f"/etc/apt/preferences.d/{package.name}": (0o644, text)}


def _kernel(_: VendorPackage, what: str) -> Files:
    return {path: (0o644, text) for path, text in kernel.image(what).items()}


def _headers(_: VendorPackage, what: str) -> Files:
    build = f"/usr/lib/modules/{what}/build"
    placed = {
        path: (0o755 if text.startswith("#!") else 0o644, text) for path, text in kernel.headers(what).items()
    }
    return {**placed, build: (0, f"/usr/src/linux-headers-{what}")}


_CARRIED = {
    "built": _built, "daemon": _daemon, "file": _file, "headers": _headers, "kernel": _kernel,
    "library": _library, "link": _link, "loader": _loader, "module": _module, "pin": _pin,
    "program": _program,
}  # fmt: skip


def launcher(program: str, version: str) -> str:
    """The program as it lies in the node: a few lines that find the simulators, and refuse without them."""
    return f'''#!/usr/bin/python3 -I
# SIMULATED {program} {version} of clusterwright's lab; not the vendor's program, and of no use elsewhere.
import sys

sys.path.insert(0, "/usr/lib/simulated-hardware")
try:
    from simulators.launch import main
except ImportError:
    sys.exit("{program}: simulated for clusterwright's lab; refuses to run: this machine is no lab node")
sys.exit(main("{program}", "{version}"))
'''


def _unit(daemon: str, title: str) -> str:
    return f"""[Unit]
Description={title} (simulated)
ConditionPathExists=/run/simulated-hardware/hardware.json
After=network.target

[Service]
Type=notify
NotifyAccess=main
ExecStart=/usr/bin/{daemon}
ExecStopPost=-/bin/rm -f /run/simulated-node/services/{daemon}
Restart=no

[Install]
WantedBy=multi-user.target
"""

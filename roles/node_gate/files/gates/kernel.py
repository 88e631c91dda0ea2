"""Which kernel runs, and whether each has the modules that the lock builds for it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from gates.node import Node, Unmet

LOADED = {
    "amdgpu": ("amdgpu",),
    "driver": ("nvidia",),
    "gdrcopy": ("gdrdrv",),
    "efa": ("efa",),
    "tcpxo": ("import_helper",),
}
OWN = re.compile(r"/kernel/drivers/")  # where a kernel keeps the drivers that come with it
PACKAGE = re.compile(r'^PACKAGE_(NAME|VERSION)="?([^"\s]+)"?', re.MULTILINE)
CERTIFICATE = re.compile(r'^mok_certificate="?([^"\s]+)"?', re.MULTILINE)
SITE = "/etc/clusterwright/module-signing.pem"  # there where modules are signed with the site's own key
ENROLLED_AS = "/run/clusterwright/module-signing.der"  # mokutil reads no PEM
SUBJECT = re.compile(r"^ *commonName *= *(.+)$", re.MULTILINE)
SERIAL = re.compile(r"^serial=([0-9A-Fa-f]+)", re.MULTILINE)
BUILT = re.compile(r'^BUILT_MODULE_NAME\[\d+\]="?([^"\s]+)"?', re.MULTILINE)


def kernel(node: Node) -> str:
    """The kernel that runs is the locked one, or of the locked series."""
    locked, running = node.stack["kernel"]["version"], release(node)
    if node.read("/run/systemd/container").strip():
        return f"not to be seen: a container runs its machine's kernel {running}, and {locked} is locked"
    if not (_is_of(running, locked) or _is_of(_packaged(node, running), locked)):
        remedy = "Drain and reboot the node; if it comes up with the same, look at the boot loader's default"
        raise Unmet(f"kernel {locked}", running, remedy)
    later = [one for one in bootable(node)[-1:] if one != running]
    return f"{running}; {later[0]} boots next" if later else running


def _is_of(version: str, locked: str) -> bool:
    return f"{version}-".startswith((f"{locked}.", f"{locked}-", f"{locked}+"))


def _packaged(node: Node, running: str) -> str:
    """The version of the package that a running kernel is from, where its name does not tell it."""
    status, version = node.run("dpkg-query", "--show", "--showformat=${Version}", f"linux-image-{running}")
    return "" if status else version


def modules(node: Node) -> str:
    """The modules of the stack are loaded, nouveau is not, and the next kernel has them too."""
    if loaded(node, "nouveau"):
        remedy = "Blacklist nouveau, run `update-initramfs -u` and reboot: it holds the GPUs"
        raise Unmet("nouveau not loaded", "nouveau is loaded", remedy)
    used = [module for name in node.stack for module in LOADED.get(name, ())]
    for module in [*used, *(["lnet"] if node.planned.get("lnet") else [])]:
        if not loaded(node, module):
            raise Unmet(
                f"module {module} loaded", "not loaded", f"Run `modprobe {module}` and look at `dmesg`"
            )
    looked = concerned(node)
    for one in looked:
        for gap in gaps(node, one):
            raise gap
    names = ", ".join(module for _, module in wanted(node)) or "none wanted"
    return f"{names}; built for {', '.join(looked)}" if looked else names


def secure_boot(node: Node) -> str:
    """Where the firmware asks for signed modules, it knows the key that signs those that are built here."""
    status, state = node.run("mokutil", "--sb-state")
    if status == 127:
        return "not to be seen without mokutil"
    if "SecureBoot enabled" not in state:
        return "not asked for by the firmware"
    certificate = next((one for one in _certificates(node) if node.path(one).exists()), "")
    if not certificate:
        remedy = (
            "Run `dkms generate_mok`, enrol what it makes with `mokutil --import`, and build the modules anew"
        )
        raise Unmet("modules signed with a key of this machine", "DKMS has no key", remedy)
    certificate = _as_der(node, certificate)
    _, said = node.run("mokutil", "--test-key", certificate)
    if "already enrolled" not in said:
        remedy = f"Run `mokutil --import {certificate}`, reboot, and confirm it on the console"
        raise Unmet(f"the key {certificate} enrolled", said or "not enrolled", remedy)
    return f"{certificate} is enrolled"


def _certificates(node: Node) -> list[str]:
    """Where DKMS takes its certificate from: what a site configured, else Ubuntu's place, else its own.

    The site's own, where the description names one: DKMS writes over its copy when it makes a key.
    """
    if node.path(SITE).exists():
        return [SITE]
    files = [
        node.path("/etc/dkms/framework.conf"),
        *sorted(node.path("/etc/dkms/framework.conf.d").glob("*.conf")),
    ]
    texts = "\n".join(file.read_text(errors="replace") for file in files if file.is_file())
    configured = CERTIFICATE.findall(texts)[-1:]
    return [*configured, "/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub"]


def _as_der(node: Node, certificate: str) -> str:
    text = node.read(certificate)
    if not text.startswith("-----BEGIN"):
        return certificate
    path = node.path(ENROLLED_AS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode("".join(text.partition("-----END")[0].splitlines()[1:])))
    return str(path)


def gaps(node: Node, kernel: str) -> Iterator[Unmet]:
    """Each module of the lock that is not built for a kernel, or not signed with the site's key."""
    site = _site(node) if node.path(SITE).exists() else None
    for component, module in wanted(node):
        expected = f"module {module} ({component}) built for kernel {kernel}"
        status, found = node.run("modinfo", "--set-version", kernel, "--field", "filename", module)
        if status:
            yield Unmet(expected, *_why(node, kernel, module))
        elif OWN.search(found):
            yield Unmet(expected, f"only the kernel's own, {found}", _rebuild(kernel))
        elif site and _signer(node, kernel, module) != site:
            told = _signer(node, kernel, module)
            seen = f"signed by {told[0]} ({told[1]})" if told[1] else "not signed"
            remedy = (
                f"Remove the package that builds it and run `clusterwright up`, which lends the key of {SITE}"
            )
            yield Unmet(f"{expected}, signed by {site[0]} ({site[1]})", seen, remedy)


def _site(node: Node) -> tuple[str, str]:
    """Common name and serial number of the site's certificate."""
    path = str(node.path(SITE))
    _, told = node.run(
        "openssl", "x509", "-in", path, "-noout", "-serial", "-subject", "-nameopt", "multiline"
    )
    name, serial = SUBJECT.search(told), SERIAL.search(told)
    if not serial:
        said = (told or "no answer").splitlines()[-1]
        raise Unmet(f"the certificate {SITE}", said, "Run `clusterwright up`: it places the certificate")
    return name[1].strip() if name else "", _plain(serial[1])


def _signer(node: Node, kernel: str, module: str) -> tuple[str, str]:
    """The same of who signed a module, as its signature tells them; empty where it has none."""
    told = []
    for field in ("signer", "sig_key"):
        status, value = node.run("modinfo", "--set-version", kernel, "--field", field, module)
        told.append("" if status else value.strip())
    return told[0], _plain(told[1])


def _plain(serial: str) -> str:
    return serial.replace(":", "").upper().lstrip("0")


def _why(node: Node, kernel: str, module: str) -> tuple[str, str]:
    """What was seen and what to do about it."""
    if not node.path(f"/lib/modules/{kernel}/build").exists():
        seen = f"not there, and no headers of {kernel} to build it with"
        return seen, f"Install linux-headers-{kernel} (kernel-devel), then run `dkms autoinstall -k {kernel}`"
    log = _build_log(node, module)
    if log:
        return f"not there; its build failed, see {log}", f"Look at {log}"
    return "not there", _rebuild(kernel)


def _rebuild(kernel: str) -> str:
    return f"Run `dkms autoinstall -k {kernel}`, or install the module's package for that kernel"


def _build_log(node: Node, module: str) -> str:
    """DKMS moves the log of a build that succeeded, and leaves that of one that failed."""
    for conf in sorted(node.path("/usr/src").glob("*/dkms.conf")):
        text = conf.read_text(errors="replace")
        if module in {name.replace("-", "_") for name in BUILT.findall(text)}:
            package = dict(PACKAGE.findall(text))
            log = f"/var/lib/dkms/{package.get('NAME')}/{package.get('VERSION')}/build/make.log"
            if node.path(log).exists():
                return log
    return ""


def wanted(node: Node) -> list[tuple[str, str]]:
    """Component and module, as the lock's catalogue tells them."""
    files = sorted(node.path("/etc/clusterwright/modules.d").glob("*"))
    return [(file.name, module) for file in files for module in file.read_text().split()]


def concerned(node: Node) -> list[str]:
    """The kernel that boots next, and the running one where it is this system's own."""
    kernels = bootable(node)
    return [one for one in kernels if one in (release(node), kernels[-1])]


def bootable(node: Node) -> list[str]:
    """Installed kernels, the newest last; none where the system has no kernel of its own."""
    found = [path.parent.name for path in node.path("/lib/modules").glob("*/modules.order")]
    return sorted(found, key=_by_number)


def release(node: Node) -> str:
    return node.read("/proc/sys/kernel/osrelease").strip()


def loaded(node: Node, module: str) -> bool:
    return node.path(f"/sys/module/{module}").is_dir()


def _by_number(kernel: str) -> list:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.+-]", kernel)]

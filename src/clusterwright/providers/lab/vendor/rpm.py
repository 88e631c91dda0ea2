"""An .rpm of a package, by rpmbuild; the same bytes for the same package."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.vendor.deb import EPOCH, write_tree
from clusterwright.providers.lab.vendor.package import VendorPackage

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
_MACROS = {
    "_build_id_links": "none",
    "_buildhost": "lab.invalid",
    "_use_internal_dependency_generator": "0",
    "build_mtime_policy": "clamp_to_source_date_epoch",
    "clamp_mtime_to_source_date_epoch": "1",
    "source_date_epoch_from_changelog": "0",
    "use_source_date_epoch_as_buildtime": "1",
    "__brp_python_bytecompile": "%{nil}",
    "__os_install_post": "%{nil}",
    "debug_package": "%{nil}",
}


def build_rpm(package: VendorPackage, cache: Path) -> Path:
    """The package's file, made once and kept under the digest of all that it is made of."""
    name = rpm_digest(package)
    made = cache / f"{name}.rpm"
    if made.exists():
        return made
    cache.mkdir(parents=True, exist_ok=True)
    top = cache / f".{name}.{os.getpid()}.rpm"
    try:
        write_tree(top / "root", package)
        (top / "package.spec").write_text(spec(package), encoding="utf-8")
        macros = {
            **_MACROS,
            "_topdir": str(top),
            "_rpmdir": str(top / "made"),
            "buildroot": str(top / "copy"),
        }
        defines = [word for name, value in macros.items() for word in ("--define", f"{name} {value}")]
        target = ["--target", _ARCHITECTURES[package.architecture]]
        environ = dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH), HOME=str(top))
        run(
            ["rpmbuild", "-bb", "--quiet", "--nodeps", *target, *defines, str(top / "package.spec")],
            environ=environ,
        )
        [built] = (top / "made").rglob("*.rpm")
        os.utime(built, (EPOCH, EPOCH))  # the index of a repository tells it
        built.rename(made)
    finally:
        remove_tree(top)
    return made


def rpm_digest(package: VendorPackage) -> str:
    """Names what it carries and the recipe by which it is made."""
    return sha256(f"{package.digest}\n{_MACROS}\n{spec(package)}".encode()).hexdigest()


def file_name(package: VendorPackage) -> str:
    """As rpm itself names it."""
    version = package.version.rpartition(":")[2]
    release = version if "-" in version else f"{version}-1"
    return f"{package.name}-{release}.{_ARCHITECTURES[package.architecture]}.rpm"


def spec(package: VendorPackage) -> str:
    """The recipe: copy the tree that is there, own what it holds."""
    epoch, _, rest = package.version.rpartition(":")
    version, _, release = rest.partition("-")
    head = {
        "Name": package.name,
        "Epoch": epoch,
        "Version": version,
        "Release": release or "1",
        "Summary": package.description,
        "License": "Apache-2.0",
        "AutoReqProv": "no",
    }
    lines = [f"{name}: {value}" for name, value in head.items() if value]
    lines += [f"Requires: {_relation(text)}" for text in package.depends]
    lines += [f"Provides: {_relation(text)}" for text in package.provides]
    lines += [f"Conflicts: {_relation(text)}" for text in package.conflicts]
    lines += ["%description", f"{package.description}. Not the vendor's software; refuses all but lab nodes."]
    lines += ["%install", 'mkdir -p "%{buildroot}"', 'cp -a "%{_topdir}/root/." "%{buildroot}/"']
    for section, script in _scripts(package):
        lines += [f"%{section}", script]
    return "\n".join([*lines, "%files", *package.paths, ""])


def _scripts(package: VendorPackage) -> list[tuple[str, str]]:
    # Modules are built when the whole transaction is there: the kernel may come with it. An upgrade runs the
    # old %preun too, and tells it that one is left.
    names = {"preinst": "pre", "postinst": "posttrans", "prerm": "preun"}
    first = {"prerm": '[ "$1" = 0 ] || exit 0\n'}
    return [
        (names[name], first.get(name, "") + script.partition("\n")[2])
        for name, script in package.scripts().items()
    ]


def _relation(text: str) -> str:
    """`name (= version)` → `name = version`."""
    return text.replace("(", "").replace(")", "")

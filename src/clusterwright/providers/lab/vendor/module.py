"""A kernel module that only tells of itself: the real `modinfo` reads it, and no kernel loads it."""

from __future__ import annotations

import struct

_LICENSES = {
    "gdrdrv": "MIT",
    "amdgpu": "GPL and additional rights",
    "efa": "Dual BSD/GPL",
    "lustre": "GPL",
    "lnet": "GPL",
    "kefalnd": "GPL",
}
_OPEN, _PROPRIETARY = "Dual MIT/GPL", "NVIDIA"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_MACHINES = {"amd64": 62, "arm64": 183}
_NAMES = b"\0.modinfo\0.shstrtab\0"


def kernel_module(name: str, version: str, architecture: str, *, proprietary: bool = False) -> bytes:
    """An ELF object with nothing in it but what `modinfo` prints."""
    facts = {
        "license": _LICENSES.get(name, _PROPRIETARY if proprietary else _OPEN),
        "version": version,
        "description": f"SIMULATED {name} of clusterwright's lab; does nothing",
        "name": name,
        "vermagic": "simulated",
    }
    info = b"".join(f"{key}={value}\0".encode() for key, value in facts.items())
    start = _HEADER.size
    names = start + len(info)
    table = (names + len(_NAMES) + 7) // 8 * 8
    identity = b"\x7fELF\2\1\1".ljust(16, b"\0")
    header = _HEADER.pack(
        identity, 1, _MACHINES[architecture], 1, 0, 0, table, 0, _HEADER.size, 0, 0, _SECTION.size, 3, 2
    )
    sections = (
        _SECTION.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        + _SECTION.pack(1, 1, 2, 0, start, len(info), 0, 0, 1, 0)
        + _SECTION.pack(10, 3, 0, 0, names, len(_NAMES), 0, 0, 1, 0)
    )
    return (header + info + _NAMES).ljust(table, b"\0") + sections


def dkms_conf(package: str, version: str, modules: list[str]) -> str:
    """What the real DKMS builds by: the source is the module already."""
    lines = [
        f'PACKAGE_NAME="{package}"',
        f'PACKAGE_VERSION="{version}"',
        'MAKE[0]="true"',
        'AUTOINSTALL="yes"',
    ]
    for number, name in enumerate(modules):
        lines.append(f'BUILT_MODULE_NAME[{number}]="{name}"')
        lines.append(f'DEST_MODULE_LOCATION[{number}]="/updates/dkms"')
        lines.append(f'STRIP[{number}]="no"')
    return "\n".join(["# SIMULATED by clusterwright's lab", *lines, ""])


def built_script(package: str, version: str, modules: list[str]) -> str:
    """As the vendors' packages do it: DKMS builds for each kernel whose headers are there.

    Where the distribution's packages bring no DKMS, what it leaves when it has built them.
    """
    return f"""if [ -x /usr/lib/dkms/common.postinst ]; then
    /usr/lib/dkms/common.postinst {package} {version} "" "" "$2"
    exit 0
fi
for kernel in $({{ ls /lib/modules 2> /dev/null || true; uname -r; }} | sort -u); do
    made=/var/lib/dkms/{package}/{version}/$kernel/$(uname -m)/module
    mkdir -p "$made" "/lib/modules/$kernel/updates/dkms"
    for module in {" ".join(modules)}; do
        cp "/usr/src/{package}-{version}/$module.ko" "$made/"
        cp "/usr/src/{package}-{version}/$module.ko" "/lib/modules/$kernel/updates/dkms/"
    done
    ln -sfn "{version}/$kernel/$(uname -m)" "/var/lib/dkms/{package}/kernel-$kernel-$(uname -m)"
    ! command -v depmod > /dev/null || depmod -a "$kernel" 2> /dev/null || true
done
ln -sfn /usr/src/{package}-{version} /var/lib/dkms/{package}/{version}/source
"""


def removed_script(package: str, version: str, modules: list[str]) -> str:
    """The reverse, before the package goes."""
    files = " ".join(f"/lib/modules/*/updates/dkms/{name}.ko" for name in modules)
    return f"""if [ -x /usr/lib/dkms/common.postinst ]; then
    [ ! -e /var/lib/dkms/{package}/{version} ] || dkms remove -m {package} -v {version} --all
else
    rm -rf /var/lib/dkms/{package} {files}
fi
"""

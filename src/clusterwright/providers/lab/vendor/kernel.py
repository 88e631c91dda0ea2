"""A kernel and its headers, as far as DKMS, depmod and modinfo look at them; nothing boots it."""

from __future__ import annotations

SIMULATED = "SIMULATED by clusterwright's lab\n"
SIGN_FILE = rf"""#!/bin/sh
# {SIMULATED.strip()}: `sign-file HASH KEY CERTIFICATE MODULE`, as Linux's own, which
# comes with a kernel: a real signature (PKCS #7) behind the module (include/linux/module_signature.h).
set -e
made=$(mktemp)
trap 'rm -f "$made"' EXIT
openssl cms -sign -binary -noattr -nocerts -md "$1" -inkey "$2" -signer "$3" -outform DER \
    -in "$4" -out "$made"
size=$(stat --format=%s "$made")
cat "$made" >> "$4"
printf '\0\0\2\0\0\0\0\0' >> "$4"
printf "$(printf '\\%03o\\%03o\\%03o\\%03o' 0 0 $((size / 256)) $((size % 256)))" >> "$4"
printf '~Module signature appended~\n' >> "$4"
"""


def image(name: str) -> dict[str, str]:
    """Path → text of what an image package brings."""
    return {
        f"/boot/vmlinuz-{name}": SIMULATED,
        f"/boot/config-{name}": f'# {SIMULATED}CONFIG_MODULES=y\nCONFIG_MODULE_SIG_HASH="sha256"\n',
        f"/usr/lib/modules/{name}/modules.order": "",
        f"/usr/lib/modules/{name}/modules.builtin": "",
    }


def headers(name: str) -> dict[str, str]:
    """What a module is built against; `build` in the modules' folder leads there."""
    folder = f"/usr/src/linux-headers-{name}"
    return {
        f"{folder}/.config": f'# {SIMULATED}CONFIG_MODULES=y\nCONFIG_MODULE_SIG_HASH="sha256"\n',
        f"{folder}/include/config/kernel.release": f"{name}\n",
        f"{folder}/scripts/sign-file": SIGN_FILE,
    }


def image_script(name: str) -> str:
    """As the distributions' own: every program that wants to know of a new kernel is told."""
    return f"""! command -v depmod > /dev/null || depmod -a {name}
[ ! -d /etc/kernel/postinst.d ] || run-parts --arg={name} --arg=/boot/vmlinuz-{name} /etc/kernel/postinst.d
"""


def headers_script(name: str) -> str:
    return f"""[ ! -d /etc/kernel/header_postinst.d ] || run-parts --arg={name} /etc/kernel/header_postinst.d
"""


def removed_script(name: str) -> str:
    """What DKMS built for it goes before it does."""
    return f"""[ ! -d /etc/kernel/prerm.d ] || run-parts --arg={name} /etc/kernel/prerm.d
rm -f /usr/lib/modules/{name}/modules.*.bin /usr/lib/modules/{name}/modules.[a-z]*
"""

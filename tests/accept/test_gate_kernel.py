"""The gate program against the kernels of a node: their modules, and who signs them."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import gate_tree
from gate_tree import NEXT_KERNEL, Tree, needs_mknod


@needs_mknod
def test_a_next_kernel_with_the_modules_passes(healthy: Tree) -> None:
    healthy.kernel("6.12.48-amd64")
    assert healthy.failed() == []
    assert healthy.seen("kernel") == "6.12.43-amd64; 6.12.48-amd64 boots next"
    assert healthy.seen("modules").endswith("; built for 6.12.43-amd64, 6.12.48-amd64")


@needs_mknod
def test_a_module_that_is_missing_is_named_with_its_kernel_and_why(healthy: Tree) -> None:
    """Without headers nothing is built; a build that failed leaves its log."""
    healthy.write(NEXT_KERNEL, "")
    assert healthy.seen("modules") == "not there, and no headers of 6.12.48-amd64 to build it with"
    healthy.kernel("6.12.48-amd64")
    (healthy.root / "built/6.12.48-amd64/nvidia_uvm").unlink()
    conf = 'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="580.95.05"\nBUILT_MODULE_NAME[1]="nvidia-uvm"\n'
    healthy.write("/usr/src/nvidia-580.95.05/dkms.conf", conf)
    healthy.write("/var/lib/dkms/nvidia/580.95.05/build/make.log", "error: …")
    [gate] = [one for one in healthy.run()[2]["gates"] if one["name"] == "modules"]
    assert gate["expected"] == "module nvidia_uvm (driver) built for kernel 6.12.48-amd64"
    assert gate["seen"] == "not there; its build failed, see /var/lib/dkms/nvidia/580.95.05/build/make.log"


@needs_mknod
def test_secure_boot_asks_for_the_key_that_signs_modules(healthy: Tree) -> None:
    state, enrolled = "SecureBoot enabled", "is not enrolled"
    script = 'case $1 in --sb-state) echo "{}" ;; *) echo "$2 {}" ;; esac'
    healthy.program("mokutil", script.format("SecureBoot disabled", enrolled))
    assert healthy.seen("secure-boot") == "not asked for by the firmware"
    healthy.program("mokutil", script.format(state, enrolled))
    assert healthy.seen("secure-boot") == "DKMS has no key"
    healthy.write("/var/lib/dkms/mok.pub", "")
    assert healthy.failed() == ["secure-boot"]
    assert healthy.seen("secure-boot") == "/var/lib/dkms/mok.pub is not enrolled"
    healthy.write("/etc/dkms/framework.conf.d/site.conf", "mok_certificate=/etc/dkms/site.der\n")
    healthy.write("/etc/dkms/site.der", "")
    healthy.program("mokutil", script.format(state, "is already enrolled"))
    assert healthy.seen("secure-boot") == "/etc/dkms/site.der is enrolled"


def certificate(tree: Tree) -> str:
    """The site's own, on the node; its serial number as modinfo prints one."""
    path = tree.root / "etc/clusterwright/module-signing.pem"
    argv = ["openssl", "req", "-new", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=Site modules"]
    made = ["-keyout", str(tree.root / "key"), "-out", str(path)]
    subprocess.run([*argv, *made], check=True, capture_output=True)
    asked = ["openssl", "x509", "-in", str(path), "-noout", "-serial"]
    told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    digits = told.partition("=")[2]
    return ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))


@needs_mknod
def test_a_module_that_the_sites_key_did_not_sign_is_named(healthy: Tree) -> None:
    serial = certificate(healthy)
    assert healthy.seen("modules") == "not signed"
    healthy.write("/built/signer", "Site modules\n")
    healthy.write("/built/sig_key", f"{serial}\n")
    assert healthy.failed() == []
    healthy.write("/built/signer", "DKMS module signing key\n")
    healthy.write("/built/sig_key", "0A:BC\n")
    [gate] = [one for one in healthy.run()[2]["gates"] if one["status"] == "fail"]
    assert (gate["name"], gate["seen"]) == ("modules", "signed by DKMS module signing key (ABC)")
    assert gate["expected"].startswith(
        "module nvidia (driver) built for kernel 6.12.43-amd64, signed by Site"
    )


@needs_mknod
def test_a_sites_certificate_is_asked_for_in_the_form_that_mokutil_reads(healthy: Tree) -> None:
    serial = certificate(healthy)
    healthy.write("/etc/dkms/framework.conf.d/clusterwright.conf", 'mok_certificate="/etc/dkms/copy.pem"\n')
    healthy.write("/etc/dkms/copy.pem", "what DKMS made when it found no key")
    healthy.write("/built/signer", "Site modules\n")
    healthy.write("/built/sig_key", f"{serial}\n")
    healthy.simulator("mokutil")
    assert healthy.seen("secure-boot") == "not asked for by the firmware"
    healthy.inject("key-not-enrolled")
    [gate] = [one for one in healthy.run()[2]["gates"] if one["status"] == "fail"]
    der = f"{healthy.root}/run/clusterwright/module-signing.der"
    assert (gate["name"], gate["seen"]) == ("secure-boot", f"{der} is not enrolled")
    assert gate["remedy"] == f"Run `mokutil --import {der}`, reboot, and confirm it on the console"
    subprocess.run(["openssl", "x509", "-inform", "der", "-in", der, "-noout"], check=True)
    healthy.show(replace(healthy.hardware.without_faults(), secure_boot="enrolled"))
    assert healthy.seen("secure-boot") == f"{der} is enrolled"


@needs_mknod
def test_a_container_does_not_pretend_to_run_the_locked_kernel(healthy: Tree) -> None:
    healthy.write("/run/systemd/container", "systemd-nspawn\n")
    healthy.write("/proc/sys/kernel/osrelease", "5.4.0\n")
    assert healthy.failed() == []
    assert healthy.seen("kernel").startswith("not to be seen: a container runs its machine's kernel 5.4.0")


@needs_mknod
def test_a_kernel_whose_name_does_not_tell_its_version_is_known_by_its_package(healthy: Tree) -> None:
    healthy.expected["stack"] = {"kernel": {**gate_tree.STACK["kernel"], "version": "6.1.192"}}
    healthy.plan()
    healthy.write("/proc/sys/kernel/osrelease", "6.1.0-49-amd64\n")
    healthy.program("dpkg-query", "echo 6.1.192-2")
    assert healthy.run()[1]["kernel"] == "pass"
    healthy.program("dpkg-query", "echo 6.1.176-1")
    assert healthy.run()[1]["kernel"] == "fail"

"""The gate program against the kernels of a node: their modules, and who signs them."""

from __future__ import annotations

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

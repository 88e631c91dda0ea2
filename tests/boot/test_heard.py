"""How far a machine came, from the lines that dnsmasq and nginx of a controller wrote while it booted."""

from __future__ import annotations

import re

import pytest

import clusterwright.operate.netboot.files as image_files
from clusterwright.operate.netboot.codes import CODES
from clusterwright.operate.netboot.heard import Machine, cause, heard
from clusterwright.operate.provision.codes import CODES as PROVISION_CODES

MAC, ADDRESS = "0c:42:a1:00:00:01", "10.74.0.11"
OF_ITS_POOL = Machine("box1", MAC, ADDRESS, image=True)
# dnsmasq 2.91 and nginx 1.26 of Debian 13, and a machine whose ROM is iPXE.
ROM_ASKS = f"""\
dnsmasq-dhcp[1672]: 2499355148 vendor class: PXEClient:Arch:00000:UNDI:002001
dnsmasq-dhcp[1672]: 2499355148 DHCPDISCOVER(host0) {MAC}
dnsmasq-dhcp[1672]: 2499355148 DHCPOFFER(host0) {ADDRESS} {MAC}
"""
ROM_HAS_IT = f"""\
dnsmasq-dhcp[1672]: 2499355148 DHCPREQUEST(host0) {ADDRESS} {MAC}
dnsmasq-dhcp[1672]: 2499355148 DHCPACK(host0) {ADDRESS} {MAC} box1
"""
IPXE = f"""\
dnsmasq-dhcp[1672]: 3499355149 vendor class: PXEClient:Arch:00000:UNDI:002001
dnsmasq-dhcp[1672]: 3499355149 user class: iPXE
dnsmasq-dhcp[1672]: 3499355149 DHCPDISCOVER(host0) {MAC}
dnsmasq-dhcp[1672]: 3499355149 DHCPOFFER(host0) {ADDRESS} {MAC}
dnsmasq-dhcp[1672]: 3499355149 DHCPREQUEST(host0) {ADDRESS} {MAC}
dnsmasq-dhcp[1672]: 3499355149 DHCPACK(host0) {ADDRESS} {MAC} box1
"""
SCRIPTS = f"""\
{ADDRESS} 200 380 /start.ipxe
{ADDRESS} 200 557 /nodes/0c-42-a1-00-00-01.ipxe
"""
NO_IMAGE = f"{ADDRESS} 404 153 /images/0b662e74955fa152.ipxe\n"
KERNEL = f"""\
{ADDRESS} 200 550 /images/0b662e74955fa152.ipxe
{ADDRESS} 200 12171200 /images/d4e293ab6ce7b5755ed6708414159c60/vmlinuz
{ADDRESS} 200 27866038 /images/d4e293ab6ce7b5755ed6708414159c60/initrd.img
"""
SYSTEM_ASKS = f"""\
dnsmasq-dhcp[1672]: 3409771122 DHCPDISCOVER(host0) {MAC}
dnsmasq-dhcp[1672]: 3409771122 DHCPOFFER(host0) {ADDRESS} {MAC}
dnsmasq-dhcp[1672]: 3409771122 DHCPREQUEST(host0) {ADDRESS} {MAC}
dnsmasq-dhcp[1672]: 3409771122 DHCPACK(host0) {ADDRESS} {MAC} box1
"""
ROOT = f"{ADDRESS} 200 562319360 /images/d4e293ab6ce7b5755ed6708414159c60/root.squashfs\n"
ANOTHER = SYSTEM_ASKS.replace(MAC, "0c:42:a1:00:00:02").replace(ADDRESS, "10.74.0.12")
BEGUN = ROM_ASKS + ROM_HAS_IT + IPXE + SCRIPTS
WHOLE = BEGUN + KERNEL + SYSTEM_ASKS + ROOT


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        ("", "CW8255", f"head has not heard {MAC} ask"),
        (ANOTHER, "CW8255", f"head has not heard {MAC} ask"),
        (ROM_ASKS, "CW8256", "another DHCP server was faster"),
        (SYSTEM_ASKS, "CW8257", "it started from its disk"),
        (ROM_ASKS + ROM_HAS_IT, "CW8258", "no loader ran"),
        (IPXE, "CW8258", "iPXE has an address, and fetched nothing"),
        (BEGUN + NO_IMAGE, "CW8258", "/images/0b662e74955fa152.ipxe is not there"),
        (BEGUN + KERNEL, "CW8258", "initrd.img was the last that it fetched"),
        (WHOLE, "CW8259", "it fetched its image"),
        ("".join(SYSTEM_ASKS.splitlines(keepends=True)[2:]), "CW8259", "it goes on keeping its address"),
        (WHOLE + ROM_ASKS, "CW8256", "another DHCP server was faster"),
        (WHOLE + BEGUN, "CW8258", "was the last that it fetched"),
    ],
)
def test_the_step_that_it_came_to_is_the_cause(said: str, code: str, words: str) -> None:
    finding = cause(OF_ITS_POOL, heard(OF_ITS_POOL, said.splitlines()), "head")
    assert (finding.code, finding.where.path) == (code, "box1")
    assert words in finding.what
    assert code in CODES


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("foreign-disk", "CW8310"),
        ("another-image", "CW8311"),
        ("no-disk", "CW8312"),
        ("no-uefi", "CW8313"),
        ("not-written", "CW8314"),
        ("not-started", "CW8314"),
    ],
)
def test_what_it_says_of_its_disk_is_the_cause(reason: str, code: str) -> None:
    said = BEGUN + KERNEL + SYSTEM_ASKS + f"{ADDRESS} 404 153 /refused/{reason}\n"
    assert cause(OF_ITS_POOL, heard(OF_ITS_POOL, said.splitlines()), "head").code == code
    again = said + BEGUN
    assert cause(OF_ITS_POOL, heard(OF_ITS_POOL, again.splitlines()), "head").code == "CW8258"


def test_every_refusal_of_the_initramfs_is_known() -> None:
    script = (image_files.HERE / "dracut" / "clusterwright-disk.sh").read_text()
    more = (image_files.HERE / "dracut" / "fetch-image.sh").read_text()
    said = set(re.findall(r"refuse ([a-z-]+) ", script + more))
    told = [heard(OF_ITS_POOL, [f"{ADDRESS} 404 153 /refused/{reason}"]) for reason in sorted(said)]
    assert len(said) == 6
    assert {cause(OF_ITS_POOL, one, "head").code for one in told} <= PROVISION_CODES.keys()


def test_a_machine_that_is_to_start_from_its_disk_is_told_so() -> None:
    machine = Machine("box1", MAC, ADDRESS, image=False)
    finding = cause(machine, heard(machine, BEGUN.splitlines()), "head")
    assert "which has it start from its disk" in finding.what

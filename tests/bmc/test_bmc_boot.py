"""`bmc boot`: what a machine boots from, as its BMC says it afterwards."""

from __future__ import annotations

from tests.bmc.conftest import Hall


def test_network_and_disk_by_either_protocol(hall: Hall) -> None:
    code, body = hall.told("bmc", "boot", "network", hall.file, "gpu[1,4]")
    assert code == 0
    assert body["boot"]["boots"]["gpu1"] == "network"
    assert hall.bmcs.system("127.0.7.1")["boot_device"] == "Pxe"
    assert "set boot pxe" in (hall.old / "told").read_text()
    code, body = hall.told("bmc", "boot", "disk", hall.file, "gpu[1,4]")
    assert body["boot"]["boots"]["gpu1"] == "disk"
    assert hall.bmcs.system("127.0.7.1")["boot_device"] == "Hdd"


def test_another_machine_keeps_its_order(hall: Hall) -> None:
    hall.rows["gpu1"]["serial"] = "SN9"
    code, body = hall.told("bmc", "boot", "network", hall.file, "gpu[1,5]")
    assert (code, body["boot"]["boots"]) == (1, {})
    assert [one["code"] for one in body["boot"]["findings"]] == ["CW8198", "CW8192"]
    assert "boot_device" not in hall.bmcs.system("127.0.7.1")


def test_a_bmc_that_takes_once_for_good_is_named(hall: Hall) -> None:
    code, body = hall.told("bmc", "boot", "network", hall.file, "gpu1", "--once")
    assert (code, body["boot"]["boots"]) == (0, {"gpu1": "network"})
    assert [one["code"] for one in body["boot"]["findings"]] == ["CW8209"]

"""`bmc status`: what BMCs tell, and what is said of each that tells nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bmc import redfish_bmcs
from tests.bmc.conftest import DEAD, Hall, certificate


def findings(body: dict[str, Any]) -> dict[str, str]:
    return {finding["path"]: finding["code"] for finding in body["findings"]}


def of(hall: Hall, nodes: str) -> dict[str, str]:
    """What is found of these, which are not all as they should be."""
    code, body = hall.told("bmc", "status", hall.file, nodes)
    assert (code, body["ok"]) == (1, False)
    return findings(body)


def test_a_table_of_all_and_a_dead_bmc_holds_up_no_other(hall: Hall) -> None:
    code, out, err = hall.run("bmc", "status", hall.file)
    assert code == 1
    lines = [line.split("  ") for line in out.splitlines()]
    cells = [[cell.strip() for cell in line if cell] for line in lines]
    assert cells[0][:5] == ["NODE", "POWER", "HEALTH", "BOOTS FROM", "SERIAL"]
    assert cells[1][:7] == ["gpu1", "off", "ok", "disk", "SN1", "Played HGX 8", "Emulated 9"]
    assert cells[1][-1] == "Redfish"
    assert cells[4][:6] == ["gpu4", "off", "ok", "its own order", "SN4", "Played Box 4"]
    assert cells[4][-1] == "IPMI"
    assert f"gpu5: CW8192 no BMC answers at {DEAD}" in err
    assert "head: CW8190" in err


def test_all_well_is_exit_0(hall: Hall) -> None:
    code, body = hall.told("bmc", "status", hall.file, "gpu[1,4]")
    assert (code, body["ok"], body["findings"]) == (0, True, [])
    assert body["machines"]["gpu1"]["firmware"] == "1.13"


SUPPLY = {"Name": "PSU 3", "Status": {"Health": "Critical"}}
SENSORS: dict[str, dict[str, Any]] = {
    "one document": {"/redfish/v1/Absent": {"PowerSupplies": [SUPPLY]}},
    "a document each": {
        "/redfish/v1/Absent": {"PowerSupplies": {"@odata.id": "/redfish/v1/Supplies"}},
        "/redfish/v1/Supplies": {"Members": [{"@odata.id": "/redfish/v1/Supplies/3"}]},
        "/redfish/v1/Supplies/3": SUPPLY,
    },
}


@pytest.mark.parametrize(("kind", "part"), [*zip(SENSORS, ["Power", "PowerSubsystem"], strict=True)])
def test_a_supply_that_is_not_well_is_named(hall: Hall, kind: str, part: str) -> None:
    system = {
        "Status": {"Health": "OK", "HealthRollup": "Critical"},
        "SerialNumber": "SN1",
        "Links": {"Chassis": [{"@odata.id": "/redfish/v1/Case"}]},
    }
    case = {part: {"@odata.id": "/redfish/v1/Absent"}}
    says = {"/redfish/v1/Systems/ID": system, "/redfish/v1/Case": case, **SENSORS[kind]}
    hall.bmcs.change("127.0.7.1", says=says)
    code, body = hall.told("bmc", "status", hall.file, "gpu1")
    assert (code, findings(body)) == (0, {"gpu1": "CW8201"})
    assert body["machines"]["gpu1"]["worst"] == "PSU 3 critical"


@pytest.mark.parametrize("node", ["gpu1", "gpu4"])
def test_a_wrong_password_is_named_and_tried_once(hall: Hall, node: str) -> None:
    (hall.folder / "login").write_text("operator:other\n")
    assert of(hall, node) == {node: "CW8193"}


def test_nothing_is_sent_where_nobody_vouches(hall: Hall) -> None:
    hall.rows["gpu1"]["bmc_certificate"] = ""
    assert of(hall, "gpu1") == {"gpu1": "CW8194"}


def test_another_certificate_than_described(hall: Hall) -> None:
    hall.rows["gpu1"]["bmc_certificate"] = hall.rows["gpu2"]["bmc_certificate"]
    assert of(hall, "gpu1") == {"gpu1": "CW8195"}


def test_a_connection_to_whoever_shows_another_certificate_breaks(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusterwright.operate.bmc.redfish.trusted", lambda _: "0" * 64)
    monkeypatch.setattr("sushy.connector.time.sleep", lambda _: None)
    assert of(hall, "gpu1") == {"gpu1": "CW8192"}


def test_an_authority_vouches(hall: Hall) -> None:
    hall.rows["gpu1"]["bmc_certificate"] = ""
    made = certificate(hall.folder, "127.0.7.1")
    shown = hall.bmcs.certificates["127.0.7.1"]
    description = hall.folder / "hall.yaml"
    description.write_text(description.read_text().replace("bmc: {", "bmc: {authority: ca.pem, "))
    (hall.folder / "ca.pem").write_text((shown.parent / f"{shown.name}.crt").read_text())
    assert hall.told("bmc", "status", hall.file, "gpu1")[0] == 0
    (hall.folder / "ca.pem").write_text((made.parent / f"{made.name}.crt").read_text())
    assert of(hall, "gpu1") == {"gpu1": "CW8194"}


def test_another_machine_than_described(hall: Hall) -> None:
    hall.rows["gpu1"]["serial"], hall.rows["gpu4"]["serial"] = "SN9", "SN8"
    assert of(hall, "gpu[1,4]") == {"gpu1": "CW8198", "gpu4": "CW8198"}


def test_the_number_on_its_chassis_is_its_own_too(hall: Hall) -> None:
    hall.rows["gpu1"]["serial"] = "437XR1138R2"  # of the emulator's chassis
    code, body = hall.told("bmc", "status", hall.file, "gpu1")
    assert (code, body["machines"]["gpu1"]["serial"]) == (0, "437XR1138R2")


def test_what_answers_and_is_no_bmc(hall: Hall) -> None:
    hall.bmcs.change("127.0.7.1", says={"/redfish/v1": {"RedfishVersion": None}})
    assert of(hall, "gpu1") == {"gpu1": "CW8196"}


@pytest.mark.parametrize(
    ("password", "root", "expected"),
    [
        (redfish_bmcs.PASSWORD, {}, {}),
        ("other", {}, {"gpu1": "CW8193"}),
        (redfish_bmcs.PASSWORD, {"Systems": {"@odata.id": "/redfish/v1/Absent"}}, {"gpu1": "CW8196"}),
    ],
    ids=["let in", "not let in", "no machine there"],
)
def test_a_session_is_opened_once_and_closed(
    hall: Hall, password: str, root: dict[str, Any], expected: dict[str, str]
) -> None:
    says, sessions = hall.bmcs.system("127.0.7.1")["says"], hall.bmcs.sessions
    hall.bmcs.change("127.0.7.1", says={**says, "/redfish/v1": {**redfish_bmcs.Sessions.ROOT, **root}})
    (hall.folder / "login").write_text(f"operator:{password}\n")
    tries = sessions.tries
    code, body = hall.told("bmc", "status", hall.file, "gpu1")
    assert (code, findings(body)) == (1 if expected else 0, expected)
    assert (sessions.tries - tries, sessions.open) == (1, set())


@pytest.mark.parametrize(
    "strange", [{"Boot": "never", "SerialNumber": "SN1"}, {"Links": 4}, {"Status": [1]}, {"PowerState": {}}]
)
def test_a_bmc_that_says_nonsense_stops_no_other(hall: Hall, strange: dict[str, Any]) -> None:
    hall.bmcs.change("127.0.7.1", says={"/redfish/v1/Systems/ID": strange})
    _, body = hall.told("bmc", "status", hall.file, "gpu[1-2]")
    assert "gpu2" in body["machines"]
    assert set(findings(body).values()) <= {"CW8196"}


@pytest.mark.parametrize(
    ("kept", "mode"),
    [(None, 0o600), ("operator:x\n", 0o644), ("operator\n", 0o600)],
    ids=["absent", "others may read it", "no password"],
)
def test_a_login_that_cannot_be_had(hall: Hall, kept: str | None, mode: int) -> None:
    login = hall.folder / "login"
    if kept is None:
        login.unlink()
    else:
        login.write_text(kept)
        login.chmod(mode)
    assert of(hall, "gpu[1-3]") == {"gpu[1-3]": "CW8191"}


def test_without_the_library_ipmi_goes_on(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clusterwright.operate.bmc.reach.find_spec", lambda _: None)
    assert of(hall, "gpu[1-2,4]") == {"gpu[1-2]": "CW8200"}


def test_without_ipmitool_redfish_goes_on(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(hall.folder))
    code, body = hall.told("bmc", "status", hall.file, "gpu[1,4]")
    assert (code, findings(body), [*body["machines"]]) == (1, {"ipmitool": "CW8020"}, ["gpu1"])


def test_a_variable_that_is_not_set(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    description = hall.folder / "hall.yaml"
    description.write_text(description.read_text().replace("file:login", "env:HALL_BMCS"))
    assert of(hall, "gpu1") == {"gpu1": "CW8191"}
    monkeypatch.setenv("HALL_BMCS", (hall.folder / "login").read_text().strip())
    assert hall.told("bmc", "status", hall.file, "gpu1")[0] == 0

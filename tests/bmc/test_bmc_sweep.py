"""`inventory import` from BMCs: what nobody wrote down yet, and what is said of BMCs that tell nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bmc import ipmi_bmc, redfish_bmcs
from tests.bmc.conftest import Hall

PORT = str(redfish_bmcs.PORT)


def swept(hall: Hall, *words: str) -> tuple[int, dict[str, dict[str, str]], list[str]]:
    """Exit code, machines by name, codes of findings."""
    code, body = hall.told("inventory", "import", *words, "--bmc-login", f"file:{hall.folder}/login")
    told = " ".join(one["what"] for one in body["findings"])
    assert "H100" not in told or "1 machine with 2 × H100" in told
    rows: list[dict[str, Any]] = body.get("machines", [])
    return code, {row.pop("node"): row for row in rows}, [one["code"] for one in body["findings"]]


PROCESSORS = "/redfish/v1/Systems/ID/Processors"
GPUS = {
    PROCESSORS: {"Members": [{"@odata.id": f"{PROCESSORS}/{card}"} for card in ("CPU0", "GPU0", "GPU1")]},
    f"{PROCESSORS}/CPU0": {"ProcessorType": "CPU", "Model": "8480C"},
    f"{PROCESSORS}/GPU0": {"ProcessorType": "GPU", "Model": "H100"},
    f"{PROCESSORS}/GPU1": {"ProcessorType": "GPU", "Model": "H100"},
}
"""The emulator's fake machines have no processors."""


def test_a_network_of_machines(hall: Hall) -> None:
    says = hall.bmcs.system("127.0.7.1")["says"]
    system = {**says["/redfish/v1/Systems/ID"], "Processors": {"@odata.id": PROCESSORS}}
    hall.bmcs.change("127.0.7.1", says={**says, **GPUS, "/redfish/v1/Systems/ID": system})
    words = ["redfish://127.0.7.0/29", "--bmc-port", PORT, "--accept-new", "--names", "gpu[1-3]"]
    code, machines, codes = swept(hall, *words)
    assert (code, list(machines)) == (0, ["gpu1", "gpu2", "gpu3"])
    assert machines["gpu2"] == {
        "bmc_address": "127.0.7.2",
        "serial": "SN2",
        "mac": "00:00:5e:00:53:02",
        "model": "Played HGX 8",
        "bmc_certificate": hall.rows["gpu2"]["bmc_certificate"],
    }
    assert codes == ["CW8208"]


def test_names_come_from_another_list(hall: Hall) -> None:
    (hall.folder / "racks.csv").write_text("name,serial\nbox-a,SN1\nbox-b,SN3\n")
    (hall.folder / "bmcs").write_text("127.0.7.3\n127.0.7.1  # the first\n")
    words = [str(hall.folder / "racks.csv"), f"redfish:{hall.folder / 'bmcs'}"]
    code, machines, _ = swept(hall, *words, "--bmc-port", PORT, "--accept-new")
    assert code == 0
    assert {name: row["bmc_address"] for name, row in machines.items()} == {
        "box-a": "127.0.7.1",
        "box-b": "127.0.7.3",
    }


def test_a_bmc_of_ipmi(hall: Hall) -> None:
    words = [
        "ipmi://127.0.7.4",
        "--bmc-port",
        str(ipmi_bmc.PORT),
        "--names",
        "old",
        "--ipmi-cipher-suite",
        "3",
    ]
    code, machines, _ = swept(hall, *words)
    assert (code, machines["old"]["serial"], machines["old"]["model"]) == (0, "SN4", "Played Box 4")


def test_no_password_goes_to_whom_nobody_vouches_for(hall: Hall) -> None:
    code, _, codes = swept(hall, "redfish://127.0.7.1", "--bmc-port", PORT)
    assert (code, codes) == (2, ["CW8194", "CW8205"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["redfish://10.0.0.0/8"], ["CW8204"]),
        (["redfish:no-such-file"], ["CW8204"]),
        (["redfish://127.0.7.1", "--bmc-port", PORT, "--accept-new", "--names", "gpu[1-"], ["CW8011"]),
        (["redfish://127.0.7.6", "--bmc-port", PORT], ["CW8205"]),
        (["redfish://127.0.7.0/30", "--bmc-port", PORT, "--accept-new", "--names", "gpu[1-9]"], ["CW8204"]),
    ],
    ids=["too many", "no file", "no names", "nobody there", "more names than machines"],
)
def test_what_cannot_be_swept(hall: Hall, words: list[str], expected: list[str]) -> None:
    code, _, codes = swept(hall, *words)
    assert (code, codes) == (2, expected)


def test_what_stands_in_place_of_a_reference_is_not_shown(hall: Hall) -> None:
    word = redfish_bmcs.PASSWORD
    code, _, err = hall.run("inventory", "import", "redfish://127.0.7.1", "--bmc-login", word)
    assert (code, "CW8191" in err, word in err) == (2, True, False)

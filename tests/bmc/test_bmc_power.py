"""`bmc power`: what is switched, what is left alone, and what is said of a machine that does not follow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.bmc.conftest import Hall

from clusterwright.operate.home import ClusterHome
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source


def power(hall: Hall, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and what is told in the end, findings by node."""
    switch, nodes, *options = words
    code, body = hall.told("bmc", "power", switch, hall.file, nodes, *options)
    told = body["power"]
    return code, {**told, "findings": {one["path"]: one["code"] for one in told["findings"]}}


def orders(hall: Hall, address: str) -> list[str]:
    return list(hall.bmcs.system(address).get("told", []))


def test_on_is_done_once_and_by_either_protocol(hall: Hall) -> None:
    code, told = power(hall, "on", "gpu[1,4]")
    assert (code, told["states"]) == (0, {"gpu1": "on", "gpu4": "on"})
    assert told["done"] == {"gpu1": "on", "gpu4": "on"}
    code, told = power(hall, "on", "gpu[1,4]")
    assert (code, told["done"]) == (0, {})
    assert orders(hall, "127.0.7.1") == ["On"]
    assert power(hall, "status", "gpu[1-2,4]")[1]["states"] == {"gpu1": "on", "gpu2": "off", "gpu4": "on"}


def test_off_asks_the_system_first(hall: Hall) -> None:
    power(hall, "on", "gpu[1,4]")
    code, told = power(hall, "off", "gpu[1,4]")
    assert (code, told["states"]) == (0, {"gpu1": "off", "gpu4": "off"})
    assert told["findings"] == {"hall": "CW8206"}
    assert orders(hall, "127.0.7.1") == ["On", "GracefulShutdown"]
    assert "set shutdown" in (hall.old / "told").read_text()


def test_a_system_that_does_not_end_keeps_its_plug(hall: Hall) -> None:
    power(hall, "on", "gpu[1-2,4]")
    hall.bmcs.change("127.0.7.1", stubborn=True)
    (hall.old / "stubborn").touch()
    code, told = power(hall, "off", "gpu[1-2,4]", "--wait", "0 s")
    assert (code, told["states"]) == (1, {"gpu2": "off"})
    assert told["findings"] == {"gpu[1,4]": "CW8202", "hall": "CW8206"}
    code, told = power(hall, "off", "gpu[1-2,4]", "--wait", "0 s", "--force")
    assert (code, told["states"]) == (0, {"gpu1": "off", "gpu2": "off", "gpu4": "off"})
    assert orders(hall, "127.0.7.1") == ["On", "GracefulShutdown", "ForceOff"]


def test_cycle_and_reset(hall: Hall) -> None:
    power(hall, "on", "gpu1")
    assert power(hall, "cycle", "gpu[1-2]")[1]["done"] == {"gpu1": "off, on", "gpu2": "on"}
    assert power(hall, "reset", "gpu[1,3]")[1]["done"] == {"gpu1": "reset"}
    assert orders(hall, "127.0.7.1") == ["On", "GracefulShutdown", "On", "ForceRestart"]


def test_a_dead_bmc_and_another_machine_stop_no_other(hall: Hall) -> None:
    hall.rows["gpu2"]["serial"] = "SN9"
    code, told = power(hall, "on", "gpu[1-2,5]")
    assert (code, told["states"]) == (1, {"gpu1": "on"})
    assert told["findings"] == {"gpu2": "CW8198", "gpu5": "CW8192"}
    assert orders(hall, "127.0.7.2") == []


def test_what_a_bmc_cannot_do_is_said(hall: Hall) -> None:
    actions = {"#ComputerSystem.Reset": {"target": "/x", "ResetType@Redfish.AllowableValues": ["ForceOff"]}}
    hall.bmcs.change(
        "127.0.7.1", says={"/redfish/v1/Systems/ID": {"SerialNumber": "SN1", "Actions": actions}}
    )
    assert power(hall, "on", "gpu1")[1]["findings"] == {"gpu1": "CW8197"}


def test_a_machine_that_does_not_come_on(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clusterwright.operate.bmc.power.SWITCH_SECONDS", 0.0)
    hall.bmcs.change("127.0.7.1", broken=True)
    assert power(hall, "on", "gpu1")[1]["findings"] == {"gpu1": "CW8203"}


def test_no_more_start_at_once_than_their_pdu_may(hall: Hall) -> None:
    assert power(hall, "on", "gpu[1-3]")[0] == 0
    assert [hall.bmcs.system(address)["beside"] for address in hall.bmcs.machines] == [0, 0, 0]
    description = Path(hall.file)
    description.write_text(description.read_text().replace("starts: 1", "starts: 3"))
    for address in hall.bmcs.machines:
        hall.bmcs.change(address, power_state="Off", waits_for=2)
    assert power(hall, "on", "gpu[1-3]")[0] == 0
    assert max(hall.bmcs.system(address)["beside"] for address in hall.bmcs.machines) == 2


@pytest.mark.parametrize(("running", "expected"), [("17 gpu1", {"gpu1": "CW8006"}), ("", {})])
def test_running_jobs_are_not_lost(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, running: str, expected: dict[str, str]
) -> None:
    power(hall, "on", "gpu1")
    home = ClusterHome.of("hall")
    home.record_applied(prepare(described(Source(Path(hall.file)))).handoff, ())
    programs = hall.folder / "bin"
    programs.mkdir()
    ssh = programs / "ssh"
    ssh.write_text(f"""#!/bin/sh
case "$*" in
*sinfo*) echo 'gpu1|allocated|none' ;;
*squeue*) echo '{running}' ;;
esac
""")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    code, out, _ = hall.run("bmc", "power", "reset", hall.file, "gpu1", "--json")
    told = [json.loads(line).get("finding", {}) for line in out.splitlines()]
    assert {one["path"]: one["code"] for one in told if one} == expected
    assert code == (2 if expected else 0)
    assert ("ForceRestart" in orders(hall, "127.0.7.1")) == (not expected)
    assert hall.run("bmc", "power", "off", hall.file, "gpu1", "--disturb")[0] == 0


def test_who_interrupts_it_is_not_kept_waiting(hall: Hall) -> None:
    power(hall, "on", "gpu1")
    hall.bmcs.change("127.0.7.1", stubborn=True)
    command = "from clusterwright.cli import main; import sys; sys.exit(main())"
    words = ["bmc", "power", "off", hall.file, "gpu1", "--disturb"]
    run = subprocess.Popen([sys.executable, "-c", command, *words], stderr=subprocess.PIPE, text=True)
    while "GracefulShutdown" not in orders(hall, "127.0.7.1"):
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=120)  # the system is given 300 s
    assert (run.returncode, "goes on from here" in said) == (130, True)

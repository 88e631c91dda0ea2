"""`bmc console`: typed in a real terminal, over IPMI's serial line."""

from __future__ import annotations

import os
import pty
import select
import sys
import termios
from collections.abc import Callable

import pytest
from tests.bmc.conftest import Hall


def until(terminal: int, seen: Callable[[str], bool]) -> str:
    text = ""
    while not seen(text):
        assert select.select([terminal], [], [], 120)[0], text
        text += os.read(terminal, 1000).decode(errors="replace")
    return text


def test_what_is_typed_reaches_the_machine_and_the_ending_is_clean(hall: Hall) -> None:
    hall.write()
    child, terminal = pty.fork()
    if child == 0:
        command = "from clusterwright.cli import main; import sys; sys.exit(main())"
        os.execv(sys.executable, [sys.executable, "-c", command, "bmc", "console", hall.file, "gpu4"])
    try:
        before = termios.tcgetattr(terminal)
        until(terminal, lambda text: "SOL Session operational" in text)
        os.write(terminal, b"hello\r")
        until(terminal, lambda text: "HELLO" in text)
        os.write(terminal, b"\r~.")
        until(terminal, lambda text: "terminated" in text)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert termios.tcgetattr(terminal)[:4] == before[:4]
    finally:
        os.close(terminal)


def test_ssh_where_redfish_names_it(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    system = {"SerialNumber": "SN1", "SerialConsole": {"SSH": {"ServiceEnabled": True, "Port": 2200}}}
    hall.bmcs.change("127.0.7.1", says={"/redfish/v1/Systems/ID": system})
    ssh, said = hall.folder / "ssh", hall.folder / "said"
    ssh.write_text(f'#!/bin/sh\necho "$*" > {said}\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{hall.folder}:{os.environ['PATH']}")
    assert hall.run("bmc", "console", hall.file, "gpu1")[0] == 0
    assert said.read_text() == "-t -p 2200 -l operator 127.0.7.1\n"


def test_a_machine_without_a_console_is_named(hall: Hall) -> None:
    code, _, err = hall.run("bmc", "console", hall.file, "gpu1")
    assert (code, "CW8207" in err) == (2, True)


def test_one_node_is_asked_for(hall: Hall) -> None:
    code, _, err = hall.run("bmc", "console", hall.file, "gpu[1-2]")
    assert (code, "CW8011" in err) == (2, True)

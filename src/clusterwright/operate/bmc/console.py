"""The serial console of one machine, in this terminal."""

from __future__ import annotations

import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from clusterwright.finding import Refused
from clusterwright.operate.bmc.certificate import reached
from clusterwright.operate.bmc.credentials import login
from clusterwright.operate.bmc.ipmi import Ipmi, answers
from clusterwright.operate.bmc.machine import Bmc
from clusterwright.operate.bmc.reach import differs, reach

ENDING = "Enter, ~ and . end it"
"""Of ipmitool as of ssh."""


def console(bmc: Bmc) -> None:
    """Until the person ends it. Serial over LAN where IPMI answers; else SSH where Redfish names it."""
    if "ipmi" in bmc.protocols and answers(bmc):
        _over_lan(bmc)
        return
    port = ""
    if "redfish" in bmc.protocols and reached(bmc):
        from clusterwright.operate.bmc.redfish import Redfish  # slow to import

        with reach(bmc) as way:
            if other := differs(bmc, way.serial()):
                raise Refused([other])
            port = way.console() if isinstance(way, Redfish) else ""
    if not port:
        what = "no console of it is reached: IPMI does not answer, and Redfish names no SSH for it"
        raise bmc.refuse("CW8207", what, "Switch on IPMI over LAN, or the SSH console, in its BMC")
    argv = ["ssh", "-t", "-p", port, "-l", login(bmc).user, bmc.address]
    with _terminal():
        ended = subprocess.run(argv, check=False).returncode
    if ended:
        raise _broken(bmc, ended)


def _over_lan(bmc: Bmc) -> None:
    way = Ipmi(bmc)
    if other := differs(bmc, way.serial()):
        raise Refused([other])
    with _terminal():
        ended = subprocess.run(way.argv("sol", "activate"), env=way.environment, check=False).returncode
    if ended:
        # A session that broke off stays open in the BMC, and keeps the next one out.
        quiet = subprocess.DEVNULL
        subprocess.run(
            way.argv("sol", "deactivate"), env=way.environment, stdout=quiet, stderr=quiet, check=False
        )
        raise _broken(bmc, ended)


def _broken(bmc: Bmc, ended: int) -> Refused:
    what = f"its console ended with an error ({ended}); the program's own words are above"
    return bmc.refuse("CW8207", what, "Run it again; who has the console open elsewhere keeps others out")


@contextmanager
def _terminal() -> Iterator[None]:
    """As it was before, also where the program was killed."""
    before = None
    with suppress(termios.error, ValueError, OSError):
        before = termios.tcgetattr(sys.stdin.fileno())
    try:
        yield
    finally:
        if before is not None:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)

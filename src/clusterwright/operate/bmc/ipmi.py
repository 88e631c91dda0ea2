"""A BMC asked by IPMI 2.0, through ipmitool, in one session. The password is never an argument."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Mapping, Sequence

from clusterwright.finding import Where, refuse
from clusterwright.operate.bmc.certificate import silent
from clusterwright.operate.bmc.credentials import login
from clusterwright.operate.bmc.machine import Action, Bmc, Device, Identity, Seen

# Presence ping of ASF 2.0, §3.2.4.3: RMCP, class ASF, IANA 4542, type 0x80.
_PING = bytes.fromhex("0600ff06000011be80000000")
_PONG = b"\x00\x00\x11\xbe\x40"
_PING_SECONDS, _PINGS = 1.5, 3
_SECONDS = 90
"""Reading all sensors of an old BMC takes half of that."""
_POWER: Mapping[Action, str] = {"on": "on", "shutdown": "soft", "off": "off", "reset": "reset"}
_DEVICES: Mapping[Device, str] = {"disk": "disk", "network": "pxe"}
# IPMI 2.0, table 28-14, parameter 5, byte 2.
_SELECTED = {1: "network", 2: "disk", 3: "disk", 4: "disk", 5: "cd", 6: "firmware setup"}
_SERIALS = ("Product Serial", "Chassis Serial", "Board Serial")
_STATES = {"nc": 1, "cr": 2, "nr": 2}
_HEALTH = ("ok", "warning", "critical")
_FAULTS = ("Power Overload", "Main Power Fault", "Power Control Fault", "Drive Fault", "Cooling/Fan Fault")


def answers(bmc: Bmc) -> bool:
    """Whether anything there speaks RMCP, as every BMC with IPMI over a network does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.settimeout(_PING_SECONDS)
        try:
            plain.connect((bmc.address, bmc.ipmi_port))
        except OSError:
            return False
        for _ in range(_PINGS):
            try:
                plain.send(_PING)
                if _PONG in plain.recv(64):
                    return True
            except TimeoutError:
                continue
            except OSError:
                return False
    return False


class Ipmi:
    """Of one BMC that took the login."""

    via = "IPMI"

    def __init__(self, bmc: Bmc) -> None:
        self._bmc = bmc
        self._login = login(bmc)
        self._fru: Mapping[str, str] | None = None
        self.power()

    def seen(self) -> Seen:
        text = self._ask("chassis status", "fru print 0", "mc info", "chassis bootparam get 5", "sdr list")
        told, (rank, worst) = _pairs(text), _sensors(text)
        faults = [name for name in _FAULTS if told.get(name) == "true"]
        self._fru = told
        maker = told.get("Product Manufacturer", "")
        return Seen(
            via=self.via,
            power=told.get("System Power", ""),
            health=_HEALTH[2 if faults else rank],
            boot=_boot(told.get("Boot parameter data", "")),
            serial=self.serial(),
            model=f"{maker} {told.get('Product Name', '')}".strip() if maker else "",
            bmc=told.get("Manufacturer Name", ""),
            firmware=told.get("Firmware Revision", ""),
            worst=faults[0].lower() if faults else worst,
        )

    def power(self) -> str:
        return self._ask("chassis power status").strip().rpartition(" ")[2]

    def serial(self) -> str:
        if self._fru is None:
            self._fru = _pairs(self._ask("fru print 0"))
        found = [self._fru[key] for key in _SERIALS if key in self._fru]
        return self._bmc.serial if self._bmc.serial in found else next(iter(found), "")

    def act(self, action: Action) -> None:
        self._ask(f"chassis power {_POWER[action]}")

    def boot(self, device: Device, *, once: bool) -> None:
        self._ask(f"chassis bootdev {_DEVICES[device]} options=efiboot{'' if once else ',persistent'}")

    def boots_from(self) -> str:
        return _boot(_pairs(self._ask("chassis bootparam get 5")).get("Boot parameter data", ""))

    def identity(self) -> Identity:
        text = self._ask("fru print 0", "lan print 1")
        told = _pairs(text)
        self._fru = told
        maker = told.get("Product Manufacturer", "")
        model = f"{maker} {told.get('Product Name', '')}".strip() if maker else ""
        return Identity(serial=self.serial(), model=model, bmc_mac=told.get("MAC Address", "").lower())

    def close(self) -> None:
        """A session ends with each question."""

    def argv(self, *words: str) -> list[str]:
        """The command, for whoever sets `environment`."""
        bmc = self._bmc
        suite = ["-C", str(bmc.ipmi_cipher_suite)] if bmc.ipmi_cipher_suite else []
        at = ["-H", bmc.address, "-p", str(bmc.ipmi_port), "-U", self._login.user, "-E"]
        return ["ipmitool", "-I", "lanplus", "-L", "OPERATOR", *suite, *at, *words]

    @property
    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "LC_ALL": "C", "IPMI_PASSWORD": self._login.password}

    def _ask(self, *commands: str) -> str:
        """Several in one session; what a BMC cannot tell is left out of the answer."""
        one = len(commands) == 1
        words = commands[0].split() if one else ["exec", "/dev/stdin"]
        try:
            done = subprocess.run(
                self.argv("-v", "-N", "2", "-R", "3", *words),
                input=None if one else "".join(f"{command}\n" for command in commands),
                stdin=subprocess.DEVNULL if one else None,
                capture_output=True,
                text=True,
                errors="replace",
                env=self.environment,
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            remedy = "Install the package ipmitool on this machine"
            raise refuse(
                "CW8020", Where(path="ipmitool"), "the program ipmitool is not installed", remedy
            ) from None
        except subprocess.TimeoutExpired:
            raise silent(self._bmc, f"IPMI: no answer within {_SECONDS} seconds") from None
        if "Unable to establish" in done.stderr:
            raise self._refused(done.stderr + done.stdout)
        if done.returncode and one and not commands[0].startswith("fru"):
            raise self._failed(commands, done.stderr + done.stdout)
        return done.stdout

    def _refused(self, said: str) -> Exception:
        bmc = self._bmc
        if "HMAC is invalid" in said or "unauthorized name" in said:
            part = "with the password of" if "HMAC" in said else "at all, or not as an operator: see"
            what = f"lets {self._login.user} not in {part} {bmc.credentials}"
            return bmc.refuse("CW8193", what, "Mend it where it is kept; it was tried once")
        if "open session response" in said or "cipher" in said.lower():
            what = f"takes no session with cipher suite {bmc.ipmi_cipher_suite or 'that it names'}"
            return bmc.refuse("CW8197", what, "Set `ipmi_cipher_suite: 3` of `bmc`, or update its firmware")
        return silent(bmc, "IPMI: no session comes about")

    def _failed(self, commands: Sequence[str], said: str) -> Exception:
        line = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "no reason")
        if re.search(r"not supported|Invalid command|Insufficient privilege", said, re.IGNORECASE):
            remedy = "Give its user the role of an operator, or do it with the vendor's own tool"
            return self._bmc.refuse("CW8197", f"it cannot do '{commands[0]}': {line}", remedy)
        remedy = "Look at its event log; a BMC that is stuck is mended by its own restart"
        return self._bmc.refuse("CW8199", f"it answers with an error: {line[:300]}", remedy)


def _pairs(text: str) -> dict[str, str]:
    """`Name : value` lines, the first of each name."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() and value.strip():
            found.setdefault(name.strip(), value.strip())
    return found


def _boot(data: str) -> str:
    """Boot flags: bit 7 of the first byte makes them count, bit 6 makes them stay."""
    flags = bytes.fromhex(data) if re.fullmatch(r"(?:[0-9a-f]{2}){2,}", data) else b"\0\0"
    device = _SELECTED.get(flags[1] >> 2 & 0xF, "")
    if not (flags[0] & 0x80 and device):
        return "its own order"
    return device if flags[0] & 0x40 else f"{device} once"


def _sensors(text: str) -> tuple[int, str]:
    """The worst of `name | reading | state` lines."""
    worst = (0, "")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        rank = _STATES.get(cells[2], 0) if len(cells) == 3 else 0
        if rank > worst[0]:
            worst = (rank, f"{cells[0]} {cells[1]}")
    return worst

"""One BMC as its description has it, and what it tells of its machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from clusterwright.finding import Refused, Where, refuse

Action = Literal["on", "shutdown", "off", "reset"]
"""`shutdown` asks the system to end; `off` and `reset` ask nobody."""
Device = Literal["disk", "network"]


@dataclass(frozen=True, slots=True)
class Login:
    """User and password."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Bmc:
    """Where it is, and what is known of it. `credentials` say where its login is kept."""

    node: str
    address: str
    credentials: str = ""
    folder: Path = Path()
    """What `file:` and `authority` are relative to."""
    serial: str = ""
    """Of the machine, as the description has it."""
    certificate: str = ""
    protocols: tuple[str, ...] = ("redfish", "ipmi")
    authority: str = ""
    redfish_port: int = 443
    ipmi_port: int = 623
    ipmi_cipher_suite: int | None = None

    def refuse(self, code: str, what: str, remedy: str) -> Refused:
        """One finding about this machine, for `raise bmc.refuse(...)`."""
        return refuse(code, Where(path=self.node), what, remedy)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a BMC tells. An empty text is what it does not tell."""

    via: str
    power: str
    """`on` or `off`, or the BMC's own word for what is between."""
    health: str = ""
    """`ok`, `warning` or `critical`."""
    boot: str = ""
    """What the machine boots from next."""
    serial: str = ""
    model: str = ""
    bmc: str = ""
    firmware: str = ""
    worst: str = ""
    """The sensor that is furthest from well."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells a machine from its sisters, and what is in it."""

    serial: str = ""
    model: str = ""
    macs: tuple[str, ...] = ()
    bmc_mac: str = ""
    certificate: str = ""
    gpus: tuple[str, ...] = ()
    """The model of each."""
    name: str = ""
    """The host name that its system told the BMC."""


class Way(Protocol):
    """A BMC that let us in. Every method raises Refused with a finding that names the cause."""

    via: str

    def seen(self) -> Seen: ...
    def power(self) -> str: ...
    def serial(self) -> str: ...
    def act(self, action: Action) -> None: ...
    def boot(self, device: Device, *, once: bool) -> None: ...
    def boots_from(self) -> str: ...
    def identity(self) -> Identity: ...
    def close(self) -> None: ...

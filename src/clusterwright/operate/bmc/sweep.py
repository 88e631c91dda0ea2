"""Machines that nobody wrote down yet, as their BMCs tell them: a list for `inventory import`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from pathlib import Path

from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.bmc import ipmi
from clusterwright.operate.bmc.certificate import fingerprint, reached
from clusterwright.operate.bmc.credentials import login
from clusterwright.operate.bmc.machine import Bmc, Identity
from clusterwright.operate.bmc.reach import each, reach
from clusterwright.operate.inventory.entry import Cell, Entry, Listed
from clusterwright.operate.nodes import typed
from clusterwright.operate.own.harm import together

MOST = 4096
SECONDS = 600.0
"""After which no further address is asked: most of a network is silent, and each silence takes seconds."""
_AT_ONCE = 128
_PORTS = {"redfish": 443, "ipmi": 623}
_NO_NAMES = {"localhost", "(none)", "unknown", "host"}
"""What BMCs say of a system that never told them its name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How a sweep goes about it."""

    credentials: str
    port: int | None = None
    authority: str = ""
    accept_new: bool = False
    """Write down what certificates BMCs show, and send them the password."""
    names: str = ""
    """A node set: names of the machines that are found, in the order of their addresses."""
    ipmi_cipher_suite: int | None = None


def sweep(text: str, asked: Asked) -> Listed:
    """`redfish://10.71.0.0/24`, `ipmi://10.71.0.7`, or `redfish:FILE` with an address a line."""
    protocol = text.partition(":")[0]
    addresses = _addresses(text)
    bmcs = [_bmc(address, protocol, asked) for address in addresses]
    login(bmcs[0])  # once, before hundreds of findings say that there is none
    deadline = time.monotonic() + SECONDS
    late: list[str] = []

    def ask(bmc: Bmc) -> Identity | None:
        if time.monotonic() > deadline:
            late.append(bmc.address)
            return None
        if not (reached(bmc) if protocol == "redfish" else ipmi.answers(bmc)):
            return None
        if asked.accept_new and protocol == "redfish":
            bmc = replace(bmc, certificate=fingerprint(bmc))
        with reach(bmc) as way:
            return way.identity()

    answers, findings = each(bmcs, ask, _AT_ONCE)
    found = {address: one for address, one in answers.items() if one}
    doubts = [replace(one, severity=Severity.WARNING) for one in together(findings)]
    if not found:
        what = f"of {len(addresses)} addresses none is a BMC that let us in"
        remedy = "See that you are in its network, and what the other findings say"
        raise Refused([*findings[:8], Finding("CW8205", Where(path=text), what, remedy)])
    if late:
        what = f"{len(late)} addresses were not asked within {SECONDS:.0f} seconds, {min(late)} first"
        doubts.append(Finding("CW8204", Where(path=text), what, "Sweep a smaller network", Severity.WARNING))
    listed = Listed([], [*doubts, *_gpus(text, found.values())])
    names = _names(asked.names, list(found), text)
    for address, identity in found.items():
        listed.entries.append(_entry(address, identity, names.get(address, ""), text))
    return listed


def _addresses(text: str) -> list[str]:
    rest = text.partition(":")[2].removeprefix("//").rstrip("/")
    try:
        network = IPv4Network(rest, strict=False)
    except ValueError:
        return _of_file(Path(rest), text)
    if network.num_addresses > MOST:
        what = f"{network} has {network.num_addresses:,} addresses, and a sweep asks {MOST:,} at most"
        raise refuse("CW8204", Where(path=text), what, "Name a smaller network, or a file of addresses")
    return [str(one) for one in (network.hosts() if network.prefixlen < 31 else network)]


def _of_file(path: Path, text: str) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        what = f"neither a network nor a file of addresses that can be read ({reason})"
        remedy = "Write redfish://10.71.0.0/24, or redfish:FILE with an address a line"
        raise refuse("CW8204", Where(path=text), what, remedy) from None
    found: list[str] = []
    for at, line in enumerate(lines, 1):
        if word := line.partition("#")[0].strip():
            try:
                found.append(str(IPv4Address(word)))
            except AddressValueError:
                where = Where(str(path), at, 1)
                raise refuse("CW8204", where, "no IPv4 address", "Write one a line") from None
    if not 0 < len(found) <= MOST:
        what = f"{len(found):,} addresses, and a sweep asks 1 to {MOST:,}"
        raise refuse("CW8204", Where(str(path)), what, "Name another file, or split it")
    return sorted(set(found), key=IPv4Address)


def _bmc(address: str, protocol: str, asked: Asked) -> Bmc:
    if asked.credentials and not asked.credentials.startswith(("env:", "file:")):
        what, remedy = "this is no reference to a login", "Write env:NAME or file:PATH, never a password"
        raise refuse("CW8191", Where(path="--bmc-login"), what, remedy)
    bmc = Bmc(address, address, asked.credentials, protocols=(protocol,), authority=asked.authority)
    port = asked.port or _PORTS[protocol]
    if protocol == "redfish":
        return replace(bmc, redfish_port=port)
    return replace(bmc, ipmi_port=port, ipmi_cipher_suite=asked.ipmi_cipher_suite)


def _names(wanted: str, found: Sequence[str], text: str) -> Mapping[str, str]:
    if not wanted:
        return {}
    names = typed(wanted)
    if len(names) != len(found):
        what = f"{len(names)} names for {len(found)} BMCs, of which {found[0]} is the first"
        remedy = "Find the ones that are silent or too many first: names are given in the order of addresses"
        raise refuse("CW8204", Where(path=text), what, remedy)
    return dict(zip(found, names, strict=True))


def _entry(address: str, identity: Identity, name: str, text: str) -> Entry:
    where = Where(path=f"{text}: {address}")
    told = {
        "node": name,
        "bmc_address": address,
        "bmc_mac": identity.bmc_mac,
        "serial": identity.serial,
        "mac": " ".join(identity.macs),
        "model": identity.model,
        "bmc_certificate": identity.certificate,
    }
    plain = identity.name.lower().partition(".")[0]
    cells = {column: Cell(value, where) for column, value in told.items() if value}
    return Entry(where, cells, called="" if plain in _NO_NAMES else plain)


def _gpus(text: str, found: Iterable[Identity]) -> list[Finding]:
    """How many of which are in how many machines."""
    kinds = Counter(tuple(sorted(Counter(one.gpus).items())) for one in found)
    findings = []
    for kind, count in sorted(kinds.items()):
        if kind:
            told = " and ".join(f"{number} × {model}" for model, number in kind)
            what = f"{count} machine{'s' if count > 1 else ''} with {told}"
            findings.append(Finding("CW8208", Where(path=text), what, _LOOK, Severity.NOTE))
    return findings


_LOOK = "Nothing to do, if these are the machine types of the pools"

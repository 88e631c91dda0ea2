"""What a machine's firmware does before it has an operating system: asks DHCP, and fetches by TFTP.

    firmware.py dhcp MAC [--arch N] [--ipxe] [--servers N] [--own ADDRESS --to ADDRESS [--item TYPE]]
    firmware.py tftp ADDRESS FILE

Run in the network namespace of the machine, whose card is `eth0`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator

_SECONDS = 60.0
_COOKIE = b"\x63\x82\x53\x63"
_TEXTS = {12: "name", 15: "domain", 60: "class", 66: "server_name", 67: "file"}
_ADDRESSES = {3: "router", 6: "dns", 54: "server"}


def main() -> int:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    dhcp = verbs.add_parser("dhcp")
    dhcp.add_argument("mac")
    dhcp.add_argument("--arch", type=int, default=7)
    dhcp.add_argument("--ipxe", action="store_true")
    dhcp.add_argument("--servers", type=int, default=1)
    dhcp.add_argument("--own", default="0.0.0.0")
    dhcp.add_argument("--to")
    dhcp.add_argument("--item", default="", help="of the menu that a proxy offered")
    tftp = verbs.add_parser("tftp")
    tftp.add_argument("server")
    tftp.add_argument("file")
    chosen = parser.parse_args()
    if chosen.verb == "tftp":
        said = [hashlib.sha256(fetch(chosen.server, chosen.file)).hexdigest()]
    else:
        said = [json.dumps(answer, sort_keys=True) for answer in ask(chosen)]
    sys.stdout.write("".join(f"{line}\n" for line in said))
    return 0


def ask(chosen: argparse.Namespace) -> list[dict[str, object]]:
    """Ask until so many servers have answered; none where that is what is waited for."""
    found: dict[object, dict[str, object]] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
        link.bind((chosen.own if chosen.to else "", 68))
        link.settimeout(1)
        xid, to = os.urandom(4), (chosen.to, 4011) if chosen.to else ("255.255.255.255", 67)
        link.sendto(question(chosen, xid), to)
        end = time.monotonic() + _SECONDS
        while len(found) < chosen.servers:
            assert time.monotonic() < end, f"{len(found)} of {chosen.servers} servers answered"
            try:
                told = read(link.recv(4096), xid)
            except TimeoutError:
                link.sendto(question(chosen, xid), to)
                continue
            if told:
                found[told["server"]] = told
    return list(found.values())


def question(chosen: argparse.Namespace, xid: bytes) -> bytes:
    card = bytes.fromhex(chosen.mac.replace(":", ""))
    own = socket.inet_aton(chosen.own)
    head = struct.pack("!BBBB4sHH4s12s16s192x", 1, 1, 6, 0, xid, 0, 0x8000, own, b"", card)
    options = {
        53: bytes([3 if chosen.to else 1]),
        55: bytes([1, 3, 6, 12, 15, 43, 54, 60, 66, 67]),
        60: f"PXEClient:Arch:{chosen.arch:05}:UNDI:003016".encode(),
        93: struct.pack("!H", chosen.arch),
        94: b"\x01\x03\x10",
        97: b"\0" + card.rjust(16, b"\0"),
    }
    if chosen.item:
        options[43] = b"\x47\x04" + bytes.fromhex(chosen.item) + b"\0\0\xff"
    if chosen.ipxe:
        options |= {77: b"iPXE", 175: b"\x01\x01\x01"}
    text = b"".join(bytes([number, len(value)]) + value for number, value in options.items())
    return head + _COOKIE + text + b"\xff"


def read(packet: bytes, xid: bytes) -> dict[str, object] | None:
    if len(packet) < 240 or packet[4:8] != xid:
        return None
    found: dict[str, object] = {
        "address": socket.inet_ntoa(packet[16:20]),
        "next": socket.inet_ntoa(packet[20:24]),
        "header_file": packet[108:236].rstrip(b"\0").decode(),
    }
    for number, value in options(packet[240:]):
        if number in _TEXTS:
            found[_TEXTS[number]] = value.rstrip(b"\0").decode()
        elif number in _ADDRESSES:
            found[_ADDRESSES[number]] = socket.inet_ntoa(value[:4])
        elif number == 43:
            found["items"] = [one[:2].hex() for code, one in options(value) if code == 9]
    found["boots"] = found.get("file") or found["header_file"]
    return found


def options(text: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 1 < len(text) and text[at] != 255:
        if text[at]:
            yield text[at], text[at + 2 : at + 2 + text[at + 1]]
            at += 1 + text[at + 1]
        at += 1


def fetch(server: str, name: str) -> bytes:
    """A whole file by TFTP (RFC 1350), in blocks of 512."""
    whole = b""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(_SECONDS)
        link.sendto(b"\0\x01" + name.encode() + b"\0octet\0", (server, 69))
        block = 1
        while True:
            packet, peer = link.recvfrom(1024)
            assert packet[:2] == b"\0\x03", packet
            if struct.unpack("!H", packet[2:4])[0] == block & 0xFFFF:
                whole += packet[4:]
                link.sendto(b"\0\x04" + packet[2:4], peer)
                block += 1
                if len(packet) < 516:
                    return whole


if __name__ == "__main__":
    sys.exit(main())

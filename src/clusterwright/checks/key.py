"""What a public SSH key says of itself."""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import dataclass
from enum import Enum, auto

MIN_RSA_BITS = 2048


class KeyFault(Enum):
    """Why a key is of no use."""

    MALFORMED = auto()
    WEAK = auto()


@dataclass(frozen=True, slots=True)
class Key:
    """A key's kind in words, and its fault if it has one."""

    kind: str
    fault: KeyFault | None = None


def examine(line: str) -> Key:
    """Look at one line of an authorized_keys file, without options."""
    name, _, rest = line.partition(" ")
    try:
        fields = _fields(b64decode(rest.split(" ")[0], validate=True))
    except (binascii.Error, ValueError):
        return Key("damaged", KeyFault.MALFORMED)
    if len(fields) < 2 or fields[0] != name.encode():
        return Key("damaged", KeyFault.MALFORMED)
    if name == "ssh-dss":
        return Key("a DSA key", KeyFault.WEAK)
    if name == "ssh-rsa":
        bits = int.from_bytes(fields[-1], "big").bit_length()
        return Key(f"an RSA key of {bits} bits", KeyFault.WEAK if bits < MIN_RSA_BITS else None)
    return Key(name)


def _fields(data: bytes) -> list[bytes]:
    """Length-prefixed strings (RFC 4251 §5)."""
    fields = []
    while data:
        size = int.from_bytes(data[:4], "big")
        if len(data) < 4 + size:
            raise ValueError("cut off")
        fields.append(data[4 : 4 + size])
        data = data[4 + size :]
    return fields

"""ib_write_bw: server and client meet over TCP as the real ones do, and agree on the slower card's rate."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence

from .bandwidth import bus_bandwidth
from .hardware import Hardware, SimulatedNic
from .node import Answer, Node
from .rdma import devices

_RULE = f"{'-' * 87}\n"
_WAITING = f"\n{'*' * 36}\n* Waiting for client to connect... *\n{'*' * 36}\n"
_SHARE = 0.98
"""Of the line rate: 392.82 Gb/s on a card of 400, in public runs of azurehpc-health-checks on ND H100 v5."""
_PATIENCE = 60.0
_VALUES = ("-d", "-p", "-s", "-n", "-q", "-x", "-i", "-D", "-m")


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """What one side prints."""
    values, host = _options(arguments)
    name = values.get("-d", "")
    nic = dict(devices(node.hardware)).get(name)
    if nic is None:
        return Answer("", 1, f"IB device {name} not found\n Unable to find the Infiniband/RoCE device\n")
    if nic.state != "active":
        return Answer("", 1, " Port number 1 state is Down\n Couldn't set the link layer\n")
    port, mine = int(values.get("-p", "18515")), rate(node.hardware, nic)
    try:
        slower = agree(host, port, mine)
    except OSError:
        return Answer("", 1, f" Couldn't connect to {host}:{port}\n Unable to init the socket connection\n")
    size, iterations = int(values.get("-s", "65536")), int(values.get("-n", "5000"))
    table = _table(name, nic, size, iterations, slower * _SHARE)
    return Answer(table if host else _WAITING + table)


def rate(hardware: Hardware, nic: SimulatedNic) -> float:
    """Gb/s: what collectives reach sets the pace where the state tells it, else the card's own rate."""
    if "network" not in hardware.bandwidth:
        return float(nic.rate_gbps)
    shared = bus_bandwidth(hardware, "network") * 8 / max(1, len(hardware.nics))
    return min(float(nic.rate_gbps), shared)


def agree(host: str, port: int, mine: float) -> float:
    """The rate of the slower of two cards that meet: a client's, which names a host, and a server's."""
    return min(mine, _call(host, port, mine) if host else _serve(port, mine))


def _options(arguments: Sequence[str]) -> tuple[dict[str, str], str]:
    values: dict[str, str] = {}
    host, words = "", iter(arguments)
    for word in words:
        if word in _VALUES:
            values[word] = next(words, "")
        elif not word.startswith("-"):
            host = word
    return values, host


def _serve(port: int, mine: float) -> float:
    with socket.create_server(("", port)) as server:
        server.settimeout(_PATIENCE)
        connection, _ = server.accept()
        with connection:
            return _exchange(connection, mine)


def _call(host: str, port: int, mine: float) -> float:
    with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
        return _exchange(connection, mine)


def _exchange(connection: socket.socket, mine: float) -> float:
    connection.settimeout(_PATIENCE)
    connection.sendall(f"{json.dumps(mine)}\n".encode())
    with connection.makefile(encoding="utf-8") as stream:
        return float(stream.readline() or "0")


def _table(name: str, nic: SimulatedNic, size: int, iterations: int, gbps: float) -> str:
    kind = "IB" if nic.kind == "infiniband" else "Ethernet"
    return (
        f"{_RULE}                    RDMA_Write BW Test\n"
        f" Dual-port       : OFF\t\tDevice         : {name}\n"
        " Number of qps   : 1\t\tTransport type : IB\n"
        " Connection type : RC\t\tUsing SRQ      : OFF\n"
        " PCIe relax order: ON\n ibv_wr* API     : ON\n TX depth        : 128\n CQ Moderation   : 1\n"
        f" Mtu             : 4096[B]\n Link type       : {kind}\n Max inline data : 0[B]\n"
        " rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n"
        f"{_RULE} local address: LID 0x01 QPN 0x0127 PSN 0x5ef2c6 (simulated)\n"
        f" remote address: LID 0x02 QPN 0x0127 PSN 0x32d17c (simulated)\n{_RULE}"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        f" {size:<11}{iterations:<15}{gbps:<19.2f}{gbps:<19.2f}{gbps / 8 / size * 1000:.6f}\n{_RULE}"
    )

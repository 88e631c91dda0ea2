"""Bandwidth of every card of this node: with itself, then with the same card of its neighbours.

InfiniBand and RoCE speak ib_write_bw, EFA fi_pingpong, which Amazon's installer brings.

Argument: the nodes, in one order for all. In each round a node is the server of one neighbour or its client,
on a few cards at once; each has a port of its own: no round waits for the end of another. Python 3.9 and
its standard library only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

SECONDS = 30.0  # for one card in one round; the exchange itself takes milliseconds
AT_ONCE = 4  # cards; each is two programs to start
SHORT = 200
CARDS = Path(os.environ.get("CLUSTERWRIGHT_CARDS", "/sys/class/infiniband"))
FIRST_PORT = 18600
EFA = Path(os.environ.get("CLUSTERWRIGHT_EFA", "/opt/amazon/efa/bin"))
DOMAIN = re.compile(r"^\s*domain: (\S+)", re.MULTILINE)


class Tool(NamedTuple):
    """A program that measures one card with another; both ends are started alike."""

    command: tuple[str, ...]
    serve: str
    """Option of the port that a server listens on, and below of the one that a client calls."""
    call: str
    figures: re.Pattern[str]
    gbps: float
    """What its figure is in Gb/s."""
    nobody: str
    """What a client says when nobody serves."""


VERBS = Tool(
    ("ib_write_bw", "-F", "--report_gbits", "-s", "65536", "-n", "5000"),
    "-p",
    "-p",
    re.compile(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", re.MULTILINE),
    1.0,
    "Couldn't connect",
)
# One message at a time: its figure is far below the rate, and means something beside those of other cards.
LIBFABRIC = Tool(
    (str(EFA / "fi_pingpong"), "-e", "rdm", "-p", "efa", "-S", "1048576", "-I", "1000"),
    "-B",
    "-P",
    re.compile(r"^\s*\d+[kmg]?\s+\S+\s+=?\S+\s+\S+\s+[\d.]+s\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s*$", re.MULTILINE),
    8 / 1000,
    "failed to connect",
)
# A card's own loopback goes through the card and not through memory (efa_test.sh of Amazon's installer).
ENVIRONMENT = {"FI_EFA_ENABLE_SHM_TRANSFER": "0"}


def found() -> tuple[Tool, list[str]]:
    """The program of this node's cards, and the cards in the order of their numbers: the rails."""
    verbs = [path.name for path in CARDS.glob("*") if layer(path) in ("InfiniBand", "Ethernet")]
    names = verbs or domains()
    order = sorted(names, key=lambda name: [int(part) if part.isdigit() else part for part in split(name)])
    return (VERBS if verbs else LIBFABRIC), order


def domains() -> list[str]:
    """EFA's cards as libfabric names them: each once, though for more than one of its fabrics."""
    command = [str(EFA / "fi_info"), "-p", "efa", "-t", "FI_EP_RDM"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(set(DOMAIN.findall(told)))


def layer(card: Path) -> str:
    try:
        return (card / "ports/1/link_layer").read_text().strip()
    except OSError:
        return ""


def split(name: str) -> list[str]:
    return [part for part in re.split(r"(\d+)", name) if part]


def start(tool: Tool, card: str, port: int, host: str) -> subprocess.Popen[str]:
    command = [
        *tool.command,
        "-d",
        card,
        tool.call if host else tool.serve,
        str(port),
        *([host] if host else []),
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **ENVIRONMENT},
    )


def end(process: subprocess.Popen[str], until: float) -> str:
    try:
        return str(process.communicate(timeout=max(0.1, until - time.monotonic()))[0])
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{process.communicate()[0]}no end within {SECONDS:.0f} s"


def client(tool: Tool, card: str, port: int, host: str) -> str:
    """Again while nobody listens: the server starts on another node at its own pace."""
    until, pause = time.monotonic() + SECONDS, 0.1
    while True:
        said = end(start(tool, card, port, host), until)
        if tool.nobody not in said or time.monotonic() > until - 1:
            return said
        time.sleep(pause)
        pause = min(2 * pause, 1.0)


def say(row: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(row, sort_keys=True) + "\n")


def figure(tool: Tool, said: str) -> dict[str, object]:
    """Gb/s on average, else the last word."""
    figures = tool.figures.findall(said)
    words = [line.strip() for line in said.splitlines() if line.strip()]
    if figures:
        return {"gbps": round(float(figures[-1]) * tool.gbps, 2), "said": ""}
    return {"gbps": None, "said": (words[-1] if words else "nothing")[:SHORT]}


def meet(tool: Tool, card: str, port: int, me: str, peer: str, serves: bool) -> str | None:
    """What the client said; a server says nothing, its client does."""
    if peer == me:
        server = start(tool, card, port, "")
        time.sleep(0.3)
        said = client(tool, card, port, "localhost")
        server.kill()
        server.communicate()
        return said
    if serves:
        end(start(tool, card, port, ""), time.monotonic() + SECONDS)
        return None
    return client(tool, card, port, peer)


def turns(nodes: list[str], me: str) -> list[tuple[str, bool]]:
    """Peer of each round, and whether this node serves it; a ring, so that each meets two neighbours."""
    place, count = nodes.index(me), len(nodes)
    found = [(me, True)]
    for first in (0, 1) if count > 2 else (0,):
        pairs = [(at % count, (at + 1) % count) for at in range(first, count, 2)]
        if count % 2:  # the last has nobody left to meet
            pairs = [pair for pair in pairs if pair[0] < pair[1]]
        for server, other in pairs:
            if place in (server, other):
                found.append((nodes[other if place == server else server], place == server))
                break
        else:
            found.append(("", False))
    return found


def main(nodes: list[str]) -> None:
    me = os.environ["SLURMD_NODENAME"]
    tool, names = found()
    program = shutil.which(tool.command[0]) or ""
    say({"gate": "fabric-pairs", "job": os.environ["SLURM_JOB_ID"], "node": me, "program": program})
    rails = names if program else []
    for turn, (peer, serves) in enumerate(turns(nodes, me)):
        if peer and rails:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                meetings = [
                    pool.submit(meet, tool, card, FIRST_PORT + 64 * turn + rail, me, peer, serves)
                    for rail, card in enumerate(rails)
                ]
            for rail, pending in enumerate(meetings):
                said = pending.result()
                if said is not None:
                    say(
                        {
                            "node": me,
                            "card": rails[rail].removesuffix("-rdm"),
                            "rail": rail,
                            "peer": peer,
                            **figure(tool, said),
                        }
                    )


if __name__ == "__main__":
    main(sys.argv[1].split(","))

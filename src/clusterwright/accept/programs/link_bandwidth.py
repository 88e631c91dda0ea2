"""ib_write_bw over every card of this node: with itself, then with the same card of its neighbours.

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

SECONDS = 30.0  # for one card in one round; the exchange itself takes milliseconds
AT_ONCE = 4  # cards; each is two programs to start
SHORT = 200
CARDS = Path(os.environ.get("CLUSTERWRIGHT_CARDS", "/sys/class/infiniband"))
FIRST_PORT = 18600
COMMAND = ("ib_write_bw", "-F", "--report_gbits", "-s", "65536", "-n", "5000")
FIGURES = re.compile(r"^\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", re.MULTILINE)


def cards() -> list[str]:
    """Those of InfiniBand and RoCE, in the order of their numbers: the rails."""
    found = [path.name for path in CARDS.glob("*") if layer(path) in ("InfiniBand", "Ethernet")]
    return sorted(found, key=lambda name: [int(part) if part.isdigit() else part for part in split(name)])


def layer(card: Path) -> str:
    try:
        return (card / "ports/1/link_layer").read_text().strip()
    except OSError:
        return ""


def split(name: str) -> list[str]:
    return [part for part in re.split(r"(\d+)", name) if part]


def start(card: str, port: int, host: str) -> subprocess.Popen[str]:
    command = [*COMMAND, "-d", card, "-p", str(port), *([host] if host else [])]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end(process: subprocess.Popen[str], until: float) -> str:
    try:
        return str(process.communicate(timeout=max(0.1, until - time.monotonic()))[0])
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{process.communicate()[0]}no end within {SECONDS:.0f} s"


def client(card: str, port: int, host: str) -> str:
    """Again while nobody listens: the server starts on another node at its own pace."""
    until, pause = time.monotonic() + SECONDS, 0.1
    while True:
        said = end(start(card, port, host), until)
        if "Couldn't connect" not in said or time.monotonic() > until - 1:
            return said
        time.sleep(pause)
        pause = min(2 * pause, 1.0)


def say(row: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(row, sort_keys=True) + "\n")


def figure(said: str) -> dict[str, object]:
    """Gb/s on average, else the last word."""
    figures = FIGURES.findall(said)
    words = [line.strip() for line in said.splitlines() if line.strip()]
    if figures:
        return {"gbps": float(figures[-1]), "said": ""}
    return {"gbps": None, "said": (words[-1] if words else "nothing")[:SHORT]}


def meet(card: str, port: int, me: str, peer: str, serves: bool) -> str | None:
    """What the client said; a server says nothing, its client does."""
    if peer == me:
        server = start(card, port, "")
        time.sleep(0.3)
        said = client(card, port, "localhost")
        server.kill()
        server.communicate()
        return said
    if serves:
        end(start(card, port, ""), time.monotonic() + SECONDS)
        return None
    return client(card, port, peer)


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
    program = shutil.which(COMMAND[0]) or ""
    say({"gate": "fabric-pairs", "job": os.environ["SLURM_JOB_ID"], "node": me, "program": program})
    rails = cards() if program else []
    for turn, (peer, serves) in enumerate(turns(nodes, me)):
        if peer and rails:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                found = [
                    pool.submit(meet, card, FIRST_PORT + 64 * turn + rail, me, peer, serves)
                    for rail, card in enumerate(rails)
                ]
            for rail, pending in enumerate(found):
                said = pending.result()
                if said is not None:
                    say({"node": me, "card": rails[rail], "rail": rail, "peer": peer, **figure(said)})


if __name__ == "__main__":
    main(sys.argv[1].split(","))

"""The real lldpd of each device, in a network namespace of its own, joined by veth as its cables are."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

Cable = tuple[tuple[str, str], tuple[str, str]]
"""Two devices, each with what it calls its end."""
Ask = Sequence[str]
"""The words that ask a device's lldpd, before what is asked."""
_BEGIN = """set -e
mount -t tmpfs none /run
mount -t tmpfs none /etc/lldpd.d
mkdir /run/lldpd
cat > /etc/lldpd.d/device.conf << end
configure system hostname $1
configure lldp tx-interval 1
configure lldp tx-hold 600
configure lldp portidsubtype ifname
end
echo there
read -r go
lldpd -d -k 2> /dev/null
"""
"""The shell stays: it is what ends with its parent, and all of the namespace with it."""
_SECONDS = 120.0


@contextmanager
def running(cables: Iterable[Cable]) -> Iterator[Mapping[str, Ask]]:
    """How to ask the lldpd of each device, once every interface has heard its neighbour."""
    cables = list(cables)
    ends = Counter(device for cable in cables for device, _ in cable)
    until = time.monotonic() + _SECONDS
    with ExitStack() as stack:
        held = {device: _namespace(stack, device) for device in sorted(ends)}
        inside = {device: _child(process.pid) for device, process in held.items()}
        _wire(cables, inside)
        asks = {
            device: ("nsenter", f"--mount=/proc/{pid}/ns/mnt", "lldpcli") for device, pid in inside.items()
        }
        for process in held.values():
            assert process.stdin
            process.stdin.write("go\n")
            process.stdin.flush()
        for device, ask in asks.items():
            _wait(ask, ends[device], until)
        yield asks


def _namespace(stack: ExitStack, device: str) -> subprocess.Popen[str]:
    words = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    process = subprocess.Popen(
        [*words, "sh", "-c", _BEGIN, "lldpd", device],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.callback(process.__exit__, None, None, None)
    stack.callback(process.kill)
    assert process.stdout and process.stdout.readline() == "there\n"
    return process


def _child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def _wire(cables: list[Cable], inside: Mapping[str, int]) -> None:
    joined, up = "", dict.fromkeys(inside, "")
    for (one, here), (other, there) in cables:
        joined += f"link add {here} netns {inside[one]} type veth peer name {there} netns {inside[other]}\n"
        up[one] += f"link set {here} up\n"
        up[other] += f"link set {there} up\n"
    _run("ip", "-batch", "-", text=joined)
    for device, words in up.items():
        _run("nsenter", f"--net=/proc/{inside[device]}/ns/net", "ip", "-batch", "-", text=words)


def _wait(ask: Ask, interfaces: int, until: float) -> None:
    """Until each has heard its neighbour, and before that until there is a daemon to ask."""
    while _heard(ask) != interfaces:
        assert time.monotonic() < until, ask
        time.sleep(0.1)


def _heard(ask: Ask) -> int:
    words = [*ask, "-f", "keyvalue", "show", "neighbors"]
    told = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30).stdout
    return told.count(".chassis.name=gpu-")


def _run(*words: str, text: str) -> None:
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False, timeout=30)
    assert not done.returncode, (words, done.stderr)

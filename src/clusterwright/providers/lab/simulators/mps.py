"""NVIDIA's MPS: a control daemon that answers on a socket of its own folder, and servers that it starts."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from .node import Answer, Node

_ABSENT = "Cannot find MPS control daemon process"
_THERE = "An instance of this daemon is already running"
_PATIENCE = 5.0


def control(node: Node, arguments: Sequence[str]) -> Answer:
    """`-d` and `-f` become the daemon; without them, commands from standard input go to one that is there."""
    if "-v" in arguments or "--version" in arguments:
        return Answer(f"CUDA MPS Control {node.library} (simulated by clusterwright)\n")
    folder = _folder("PIPE", "/tmp/nvidia-mps")
    if not set(arguments) & {"-d", "-f"}:
        return _asked(folder, sys.stdin.read().splitlines())
    if _send(folder, "get_server_list") is not None:
        return Answer(error=f"{_THERE}\n", status=1)
    return _started(folder, _folder("LOG", "/var/log/nvidia-mps"), foreground="-f" in arguments)


def server(_: Node, __: Sequence[str]) -> Answer:
    """Nobody but the control daemon starts it."""
    refusal = "the simulated nvidia-cuda-mps-server is started by nvidia-cuda-mps-control"
    return Answer(error=f"{refusal}\n", status=1)


def _folder(kind: str, default: str) -> Path:
    return Path(os.environ.get(f"CUDA_MPS_{kind}_DIRECTORY") or default)


def _asked(folder: Path, commands: Sequence[str]) -> Answer:
    said = ""
    for command in filter(None, map(str.strip, commands)):
        answer = _send(folder, command)
        if answer is None:
            return Answer(said, 1, f"{_ABSENT}\n")
        said += answer
    return Answer(said)


def _send(folder: Path, command: str) -> str | None:
    """What the daemon of a folder answers; None where none lives."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(_PATIENCE)
        try:
            channel.connect(str(folder / "control"))
            channel.sendall(f"{command}\n".encode())
            return channel.makefile().read()
        except OSError:
            return None


def _started(folder: Path, logs: Path, *, foreground: bool) -> Answer:
    try:
        for each in (folder, logs):
            each.mkdir(parents=True, exist_ok=True)
        log = os.open(logs / "control.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        (folder / "control").unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(folder / "control"))
        listening.listen()
    except OSError as problem:
        return Answer(error=f"Failed to start the control daemon: {problem}\n", status=1)
    if not foreground and os.fork():
        return Answer()
    os.setsid()
    if not foreground:
        _detach(log)
    (folder / "nvidia-cuda-mps-control.pid").write_text(f"{os.getpid()}\n", encoding="utf-8")
    os.write(log, f"Starting control daemon using socket {folder}/control (simulated)\n".encode())
    return _serve(listening, folder)


def _detach(log: int) -> None:
    nothing = os.open("/dev/null", os.O_RDONLY)
    for own, place in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(own, place)


def _serve(listening: socket.socket, folder: Path) -> NoReturn:
    _go_by("nvidia-cuda-mps-control")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    servers: list[int] = []
    while True:
        channel, _ = listening.accept()
        with channel:
            words = channel.makefile().readline().split()
            if words[:1] == ["quit"]:
                for each in servers:
                    os.kill(each, signal.SIGTERM)
                for name in ("control", "nvidia-cuda-mps-control.pid"):
                    (folder / name).unlink(missing_ok=True)
                os._exit(0)
            channel.sendall(_done(words, servers).encode())


def _done(words: list[str], servers: list[int]) -> str:
    if words[:1] == ["get_server_list"]:
        return "".join(f"{each}\n" for each in servers)
    if words[:1] == ["get_default_active_thread_percentage"]:
        return "100.0\n"
    if words[:2] == ["start_server", "-uid"]:
        if os.getuid() not in (0, int(words[2])):
            return f"Failed to start a server for user {words[2]}: the daemon is user {os.getuid()}'s\n"
        if not servers:
            servers.append(_new_server())
        return ""
    return f"the simulated nvidia-cuda-mps-control does not know: {' '.join(words)}\n"


def _new_server() -> int:
    child = os.fork()
    if not child:
        _go_by("nvidia-cuda-mps-server")
        while True:
            signal.pause()
    return child


def _go_by(name: str) -> None:
    Path("/proc/self/comm").write_text(name[:15], encoding="utf-8")

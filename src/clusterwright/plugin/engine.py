"""What the plugin says to the engine while it works, and how the engine's user stops it."""

from __future__ import annotations

import threading
from typing import Protocol

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

from clusterwright.event import Event


class Interrupted(Exception):
    """The user cancelled the update, or its time-out passed."""


class Log(Protocol):
    """What `pulumi up` shows while work goes on."""

    def status(self, urn: str, text: str) -> None:
        """A line beside the resource that the next one replaces."""

    def info(self, urn: str, text: str) -> None:
        """A line that stays."""

    def debug(self, text: str) -> None:
        """Shown by `pulumi up --debug` only."""


class Engine:
    """The log of the engine that started this plugin."""

    def __init__(self, address: str) -> None:
        self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def status(self, urn: str, text: str) -> None:
        self._log(engine_pb2.INFO, urn, text, ephemeral=True)

    def info(self, urn: str, text: str) -> None:
        self._log(engine_pb2.INFO, urn, text)

    def debug(self, text: str) -> None:
        self._log(engine_pb2.DEBUG, "", text)

    def _log(
        self, severity: engine_pb2.LogSeverity.ValueType, urn: str, text: str, *, ephemeral: bool = False
    ) -> None:
        request = engine_pb2.LogRequest(severity=severity, urn=urn, message=text, ephemeral=ephemeral)
        self._stub.Log(request, timeout=10)


class Progress:
    """Takes events to the engine. Once stopped, it ends the work at the work's next event."""

    def __init__(self, log: Log, urn: str) -> None:
        self._log = log
        self._urn = urn
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def __call__(self, event: Event) -> None:
        if self._stopped.is_set():
            raise Interrupted("interrupted; run it again and it goes on from here")
        words = (event.step, event.node, event.status, event.text)
        self._log.status(self._urn, " ".join(word for word in words if word))

"""A provider of any type of any cloud, for the real engine: it makes nothing and remembers nothing.

What is asked for is what is there; what only a cloud tells comes from the tables of tests/synthesis, and
which change replaces what from the catalogue. It writes every deed into $ECHO_LOG. Beside it may lie `SLOW`,
such as `Instance gpu1`: what is not made before the file is gone; and `CHANGED`, JSON: properties that
somebody else gave it, null for what is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from tests.synthesis.harness import MADE

from clusterwright.catalog.replacements import replacements

_INTERNAL = ("__defaults", "__id", "version")


class Echo(provider_pb2_grpc.ResourceProviderServicer):
    """Names are gRPC's."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lock = threading.Lock()

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version="7.0.0")

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: Any) -> Any:
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request: Any, context: Any) -> Any:
        changed = sorted(set(_differences("", _plain(request.old_inputs), _plain(request.news))))
        kind = request.urn.split("::")[2].split("$")[-1]
        try:
            replaced = [path for path in changed if replacements()[kind].replaces(path)]
        except KeyError as unknown:
            context.abort(
                grpc.StatusCode.INVALID_ARGUMENT, f"replacements.csv does not tell of {kind} {unknown}"
            )
        some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=some if changed else none, diffs=changed, replaces=replaced)

    def Create(self, request: Any, context: Any) -> Any:
        name, kind = _name(request.urn), request.urn.split("::")[2].split("$")[-1]
        made = {"id": f"{name}-id", **MADE[kind](name, _plain(request.properties))}
        identity = str(made.pop("id"))
        if request.preview:
            return provider_pb2.CreateResponse(
                id="", properties=_with(request.properties, dict.fromkeys(made, rpc.UNKNOWN))
            )
        self._did("create", request.urn)
        while self._beside("SLOW") == _title(request.urn):
            time.sleep(0.05)
        return provider_pb2.CreateResponse(id=identity, properties=_with(request.properties, made))

    def Update(self, request: Any, context: Any) -> Any:
        kind = request.urn.split("::")[2].split("$")[-1]
        made: dict[str, Any] = dict(MADE[kind](_name(request.urn), _plain(request.news)))
        made.pop("id", None)
        if "latestVersion" in made:
            made["latestVersion"] = (
                rpc.UNKNOWN if request.preview else _plain(request.olds)["latestVersion"] + 1
            )
        if not request.preview:
            self._did("update", request.urn)
        return provider_pb2.UpdateResponse(properties=_with(request.news, made))

    def Read(self, request: Any, context: Any) -> Any:
        changed = json.loads(self._beside("CHANGED") or "{}").get(_title(request.urn), {})
        if changed is None:
            return provider_pb2.ReadResponse()
        properties, inputs = (_with(given, changed) for given in (request.properties, request.inputs))
        return provider_pb2.ReadResponse(id=request.id, properties=properties, inputs=inputs)

    def Delete(self, request: Any, context: Any) -> Any:
        self._did("delete", request.urn)
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def _beside(self, name: str) -> str:
        with suppress(FileNotFoundError):
            return self._log.with_name(name).read_text().strip()
        return ""

    def _did(self, deed: str, urn: str) -> None:
        with self._lock, self._log.open("a") as log:
            log.write(f"{deed} {urn.split('::')[2].split('$')[-1]} {_name(urn)}\n")


def _name(urn: str) -> str:
    return urn.split("::")[-1]


def _title(urn: str) -> str:
    """`Instance gpu1`."""
    return f"{urn.split('::')[2].rpartition(':')[2]} {_name(urn)}"


def _plain(struct: Any) -> dict[str, Any]:
    found: dict[str, Any] = MessageToDict(struct)
    return {key: value for key, value in found.items() if key not in _INTERNAL}


def _with(properties: Any, made: Mapping[str, Any]) -> Any:
    both = Struct()
    both.CopyFrom(properties)
    for key, value in made.items():
        both[key] = value
    return both


def _differences(prefix: str, old: Any, new: Any) -> Iterator[str]:
    """Paths of what differs; lists as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(f"{prefix}.{key}" if prefix else key, old.get(key), new.get(key))
    elif old != new:
        yield prefix


def serve(log: Path) -> tuple[grpc.Server, int]:
    """A server that has begun, and its port."""
    server = grpc.server(ThreadPoolExecutor(16))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Echo(log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def main() -> None:
    server, port = serve(Path(os.environ["ECHO_LOG"]))
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    engine = os.getppid()
    while os.getppid() == engine:
        server.wait_for_termination(1)
    os._exit(0)


if __name__ == "__main__":
    main()

"""The plugin's gRPC server. The SDK's own sends the user a Python traceback; this one speaks in words."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Awaitable
from typing import Any

import grpc
import grpc.aio
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.provider import Provider
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from clusterwright import __version__
from clusterwright.finding import Refused
from clusterwright.plugin.engine import Engine, Interrupted


class PartlyMade(Exception):
    """It exists, but is not as it should be: the engine keeps it, so `up` resumes and `destroy` ends it."""

    def __init__(self, resource_id: str, properties: dict[str, PropertyValue], reason: str) -> None:
        super().__init__(reason)
        self.resource_id = resource_id
        self.properties = properties


def in_words(error: BaseException) -> str:
    """What a person reads: every finding on a line of its own."""
    if isinstance(error, Refused):
        return "\n".join(str(finding) for finding in error.findings)
    if isinstance(error, Interrupted | PartlyMade):
        return str(error)
    return f"{type(error).__name__}: {error} (`pulumi up --debug` shows where)"


class _Failure:
    """What gRPC wants of a status: code, details and trailing metadata."""

    def __init__(self, error: BaseException) -> None:
        self.code = grpc.StatusCode.UNKNOWN
        self.details = in_words(error)
        status = status_pb2.Status(code=self.code.value[0], message=self.details)
        if isinstance(error, PartlyMade):
            status.details.add().Pack(
                provider_pb2.ErrorResourceInitFailed(
                    id=error.resource_id,
                    properties=PropertyValue.marshal_map(error.properties),
                    reasons=[self.details],
                )
            )
        self.trailing_metadata = (("grpc-status-details-bin", status.SerializeToString()),)


class Servicer(ProviderServicer):
    """The SDK's translation between messages and `Provider`, with errors said in words."""

    def __init__(self, provider: Provider, engine: Engine) -> None:
        super().__init__([], __version__, provider, "")
        self._engine = engine

    async def Check(self, request: Any, context: Any) -> Any:
        return await self._answer(super().Check(request, context), context)

    async def Diff(self, request: Any, context: Any) -> Any:
        return await self._answer(super().Diff(request, context), context)

    async def Create(self, request: Any, context: Any) -> Any:
        return await self._answer(super().Create(request, context), context)

    async def Read(self, request: Any, context: Any) -> Any:
        return await self._answer(super().Read(request, context), context)

    async def Update(self, request: Any, context: Any) -> Any:
        return await self._answer(super().Update(request, context), context)

    async def Delete(self, request: Any, context: Any) -> Any:
        return await self._answer(super().Delete(request, context), context)

    async def _answer(self, answer: Awaitable[Any], context: Any) -> Any:
        try:
            return await answer
        except Exception as error:
            cause = error.__context__ or error  # the SDK raises a new error that holds the trace as text
            self._engine.debug("".join(traceback.format_exception(cause)))
            await context.abort_with_status(_Failure(cause))


def serve(provider: Provider, engine: Engine) -> None:
    """Print the port and serve for as long as the engine lives."""

    async def run() -> None:
        server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider, engine), server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        await _orphaned()
        await provider.cancel()
        await server.stop(None)

    asyncio.run(run())


async def _orphaned() -> None:
    """An engine that ends kills its plugins; one that is killed leaves them behind."""
    parent = os.getppid()
    while os.getppid() == parent:
        await asyncio.sleep(1)

"""One plugin, several kinds of resources: each request goes to the provider of its type."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pulumi.provider.experimental import provider as sdk

from clusterwright.plugin.schema import schema


class Kinds(sdk.Provider):
    """By type, such as `clusterwright:lab:Cluster`."""

    def __init__(self, kinds: Mapping[str, sdk.Provider]) -> None:
        self._kinds = kinds

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:
        return sdk.GetSchemaResponse(json.dumps(schema()))

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        return sdk.ConfigureResponse(supports_preview=True)

    async def diff_config(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        return sdk.DiffResponse(changes=False)  # `clusterwright:cluster` is the program's, not the provider's

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        return await self._kinds[request.type].check(request)

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        return await self._kinds[request.type].diff(request)

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        return await self._kinds[request.type].create(request)

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        return await self._kinds[request.type].read(request)

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        return await self._kinds[request.type].update(request)

    async def delete(self, request: sdk.DeleteRequest) -> None:
        await self._kinds[request.type].delete(request)

    async def cancel(self) -> None:
        for provider in self._kinds.values():
            await provider.cancel()

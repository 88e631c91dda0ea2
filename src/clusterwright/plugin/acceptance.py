"""The life of a `clusterwright:pull:Acceptance`: a stack is green when its nodes say they are as wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from clusterwright.finding import Refused
from clusterwright.plugin.engine import Log
from clusterwright.plugin.far import ACCEPTED, Acceptance, FarCluster, FarClusters
from clusterwright.plugin.server import PartlyMade, in_words
from clusterwright.plugin.working import Working

Properties = Mapping[str, PropertyValue]
_UNKNOWN = PropertyValue(rpc.UNKNOWN)
_TEXTS = ("file", "handoff", "provider", "region", "bucket", "url", "signer")


class AcceptanceProvider(sdk.Provider):
    """Acceptances as resources."""

    def __init__(self, clusters: FarClusters, log: Log) -> None:
        self._clusters = clusters
        self._working = Working(log)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """What nodes become besides the hand-off is an input, so that a change of it is seen."""
        file = request.new_inputs["file"]
        try:
            digest = await asyncio.to_thread(self._clusters.digest, Path(_text(file)))
        except Refused as refused:
            failures = [sdk.CheckFailure("file", str(finding)) for finding in refused.findings]
            return sdk.CheckResponse(request.new_inputs, failures)
        return sdk.CheckResponse({**request.new_inputs, "digest": PropertyValue(digest)})

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        old, new = request.old_state, request.new_inputs
        watched = ("handoff", "digest", "machines", "signer", "bucket", "url")
        changed = [key for key in watched if old.get(key) != new.get(key)]
        detailed = {
            key: sdk.PropertyDiff(sdk.PropertyDiffKind.UPDATE, input_diff=True)
            for key in changed
            if key not in request.ignore_changes
        }
        if any(state != ACCEPTED for state in _map(old.get("nodes")).values()):
            detailed["nodes"] = sdk.PropertyDiff(sdk.PropertyDiffKind.UPDATE, input_diff=False)
        return sdk.DiffResponse(changes=bool(detailed), diffs=list(detailed), detailed_diff=detailed)

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        if request.preview:
            return sdk.CreateResponse(None, {**request.properties, "nodes": _UNKNOWN})
        made = await self._accept(request.name, request.urn, request.properties, request.timeout, "")
        return sdk.CreateResponse(request.name, made)

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        if request.preview:
            return sdk.UpdateResponse({**request.news, "nodes": _UNKNOWN})
        before = _text(request.olds["handoff"])
        made = await self._accept(request.resource_id, request.urn, request.news, request.timeout, before)
        return sdk.UpdateResponse(made)

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        seen = await asyncio.to_thread(self._clusters.look, _cluster(request.inputs))
        found = {**request.properties, "nodes": _nodes(seen)}
        return sdk.ReadResponse(request.resource_id, found, dict(request.inputs))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        """Nothing: the store goes with its bucket, and what nodes are with their machines."""

    async def cancel(self) -> None:
        self._working.stop()

    async def _accept(
        self, name: str, urn: str, inputs: Properties, timeout: float, before: str
    ) -> dict[str, PropertyValue]:
        cluster = _cluster(inputs, before)
        try:
            work = partial(self._clusters.accept, cluster)
            accepted = await self._working.on(urn, timeout, work)
        except Exception as error:
            unknown = Acceptance(dict.fromkeys(cluster.machines, "not known"))
            raise PartlyMade(name, _unfinished(inputs, unknown, before), in_words(error)) from error
        if accepted.problem:
            raise PartlyMade(name, _unfinished(inputs, accepted, before), accepted.problem)
        return _outputs(inputs, accepted)


def _cluster(values: Properties, before: str = "") -> FarCluster:
    file, handoff, provider, region, bucket, url, signer = (_text(values[key]) for key in _TEXTS)
    machines = _map(values["machines"])
    return FarCluster(Path(file), handoff, provider, region, bucket, url, signer, machines, before)


def _outputs(inputs: Properties, seen: Acceptance) -> dict[str, PropertyValue]:
    return {**inputs, "nodes": _nodes(seen)}


def _unfinished(inputs: Properties, seen: Acceptance, before: str) -> dict[str, PropertyValue]:
    """Without its digest the next `up` finds it changed, also after a refresh, which forgets failures.

    It keeps the hand-off that nodes were accepted with: what a change costs them is told by that one."""
    return {**_outputs(inputs, seen), "digest": PropertyValue(""), "handoff": PropertyValue(before)}


def _nodes(seen: Acceptance) -> PropertyValue:
    return PropertyValue({node: PropertyValue(state) for node, state in sorted(seen.nodes.items())})


def _map(value: PropertyValue | None) -> dict[str, str]:
    rows = value.value if value is not None else None
    return {key: _text(row) for key, row in rows.items()} if isinstance(rows, Mapping) else {}


def _text(value: PropertyValue) -> str:
    return str(value.value)

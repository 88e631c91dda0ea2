"""The life of a `clusterwright:lab:Cluster`: check, diff, create, read, update, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from pulumi.provider.experimental import provider as sdk
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from clusterwright.finding import Refused
from clusterwright.plugin.engine import Log
from clusterwright.plugin.labs import Lab, Labs
from clusterwright.plugin.schema import OUTPUTS
from clusterwright.plugin.server import PartlyMade, in_words
from clusterwright.plugin.working import Working

Properties = Mapping[str, PropertyValue]
_RUNNING = "running"
_UNKNOWN = PropertyValue(rpc.UNKNOWN)
"""How the engine writes a value that only a later step knows; the SDK's own `Computed` cannot be sent."""


class LabProvider(sdk.Provider):
    """Labs of this machine as resources. Everything blocking runs beside the event loop."""

    def __init__(self, labs: Labs, log: Log) -> None:
        self._labs = labs
        self._log = log
        self._working = Working(log)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """The description itself becomes an input, so that a preview shows what changed in it."""
        file = request.new_inputs["file"]
        if file == _UNKNOWN:
            return sdk.CheckResponse(request.new_inputs)
        if not Path(_text(file)).is_absolute():
            reason = f"'{_text(file)}' is no absolute path, and the engine decides where the plugin runs"
            return sdk.CheckResponse(request.new_inputs, [sdk.CheckFailure("file", reason)])
        try:
            described = await asyncio.to_thread(self._labs.describe, Path(_text(file)))
        except Refused as refused:
            failures = [sdk.CheckFailure("file", str(finding)) for finding in refused.findings]
            return sdk.CheckResponse(request.new_inputs, failures)
        found = {"name": described.name, "description": described.text, "digest": described.digest}
        return sdk.CheckResponse({"file": file, **_properties(found)})

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        old, new = request.old_state, request.new_inputs
        changed = [
            key
            for key in ("name", "description", "digest")
            if old.get(key) != new.get(key) and key not in request.ignore_changes
        ]
        if "description" in changed:
            changed = [key for key in changed if key != "digest"]
        detailed = {key: sdk.PropertyDiff(_KINDS[key], input_diff=True) for key in changed}
        if not _all_running(old):
            detailed["nodes"] = sdk.PropertyDiff(sdk.PropertyDiffKind.UPDATE, input_diff=False)
        return sdk.DiffResponse(
            changes=bool(detailed),
            replaces=[key for key in detailed if key == "name"],
            diffs=list(detailed),
            detailed_diff=detailed,
        )

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        if request.preview:
            return sdk.CreateResponse(None, await self._preview(request.urn, request.properties))
        made = await self._up(request.urn, request.properties, request.timeout)
        return sdk.CreateResponse(_text(request.properties["name"]), made)

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        if request.preview:
            return sdk.UpdateResponse(await self._preview(request.urn, request.news))
        return sdk.UpdateResponse(await self._up(request.urn, request.news, request.timeout))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        lab = await asyncio.to_thread(self._labs.find, request.resource_id)
        if lab is None:
            return sdk.ReadResponse("")
        return sdk.ReadResponse(
            request.resource_id, {**request.properties, **_outputs(lab)}, dict(request.inputs)
        )

    async def delete(self, request: sdk.DeleteRequest) -> None:
        name = request.resource_id
        await self._working.on(request.urn, request.timeout, lambda report: self._labs.destroy(name, report))

    async def cancel(self) -> None:
        self._working.stop()

    async def _preview(self, urn: str, inputs: Properties) -> dict[str, PropertyValue]:
        if inputs["file"] != _UNKNOWN:
            for line in await asyncio.to_thread(self._labs.changes, Path(_text(inputs["file"]))):
                await asyncio.to_thread(self._log.info, urn, line)
        return {**inputs, **dict.fromkeys(OUTPUTS, _UNKNOWN)}

    async def _up(self, urn: str, inputs: Properties, timeout: float) -> dict[str, PropertyValue]:
        name, file = _text(inputs["name"]), Path(_text(inputs["file"]))
        try:
            lab = await self._working.on(urn, timeout, lambda report: self._labs.up(file, report))
        except Exception as error:
            left = await asyncio.to_thread(self._labs.find, name)
            if left is None:
                raise
            raise PartlyMade(name, _unfinished(inputs, left), in_words(error)) from error
        if lab.problem:
            raise PartlyMade(name, _unfinished(inputs, lab), lab.problem)
        return {**inputs, **_outputs(lab)}


_KINDS = {
    "name": sdk.PropertyDiffKind.UPDATE_REPLACE,
    "description": sdk.PropertyDiffKind.UPDATE,
    "digest": sdk.PropertyDiffKind.UPDATE,
}


def _text(value: PropertyValue) -> str:
    return str(value.value)


def _properties(values: Mapping[str, str]) -> dict[str, PropertyValue]:
    return {key: PropertyValue(value) for key, value in values.items()}


def _outputs(lab: Lab) -> dict[str, PropertyValue]:
    known = {"handoff": lab.handoff, "login": lab.login}
    return {**_properties(known), "nodes": PropertyValue(_properties(lab.nodes))}


def _unfinished(inputs: Properties, lab: Lab) -> dict[str, PropertyValue]:
    """Without its digest the next `up` finds it changed, also after a refresh, which forgets failures."""
    return {**inputs, **_outputs(lab), "digest": PropertyValue("")}


def _all_running(state: Properties) -> bool:
    nodes = state.get("nodes")
    if nodes is None or not isinstance(nodes.value, Mapping):
        return True
    return all(node.value == _RUNNING for node in nodes.value.values())

"""The life of a `clusterwright:pull:Acceptance`: green when nodes, and then the cluster, are accepted."""

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
_NOT_YET = dict.fromkeys(("nodes", "hostKeys", "gates", "members", "addresses"), _UNKNOWN)
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
        watched = ("handoff", "digest", "machines", "groups", "signer", "bucket", "url")
        changed = [key for key in watched if old.get(key) != new.get(key)]
        detailed = {
            key: sdk.PropertyDiff(sdk.PropertyDiffKind.UPDATE, input_diff=True)
            for key in changed
            if key not in request.ignore_changes
        }
        if any(state != ACCEPTED for state in _map(old.get("nodes")).values()):
            detailed["nodes"] = sdk.PropertyDiff(sdk.PropertyDiffKind.UPDATE, input_diff=False)
        if old.get("gates") != PropertyValue(ACCEPTED):
            detailed["gates"] = sdk.PropertyDiff(sdk.PropertyDiffKind.UPDATE, input_diff=False)
        return sdk.DiffResponse(changes=bool(detailed), diffs=list(detailed), detailed_diff=detailed)

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        if request.preview:
            return sdk.CreateResponse(None, {**request.properties, **_NOT_YET})
        made = await self._accept(request.name, request.urn, request.properties, request.timeout, {})
        return sdk.CreateResponse(request.name, made)

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        if request.preview:
            return sdk.UpdateResponse({**request.news, **_NOT_YET})
        olds = request.olds
        made = await self._accept(request.resource_id, request.urn, request.news, request.timeout, olds)
        return sdk.UpdateResponse(made)

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        seen = await asyncio.to_thread(self._clusters.look, _cluster(request.inputs, request.properties))
        found = {**request.properties, "nodes": _of(seen.nodes), "gates": PropertyValue(seen.gates)}
        return sdk.ReadResponse(request.resource_id, found, dict(request.inputs))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        """Nothing: the store goes with its bucket, and what nodes are with their machines."""

    async def cancel(self) -> None:
        self._working.stop()

    async def _accept(
        self, name: str, urn: str, inputs: Properties, timeout: float, olds: Properties
    ) -> dict[str, PropertyValue]:
        cluster = _cluster(inputs, olds)
        try:
            work = partial(self._clusters.accept, cluster)
            accepted = await self._working.on(urn, timeout, work)
        except Exception as error:
            unknown = Acceptance(
                dict.fromkeys({**cluster.machines, **cluster.members}, "not known"),
                cluster.host_keys,
                members=cluster.members,
                addresses=cluster.addresses,
            )
            raise PartlyMade(name, _unfinished(inputs, unknown, cluster.before), in_words(error)) from error
        if accepted.problem:
            raise PartlyMade(name, _unfinished(inputs, accepted, cluster.before), accepted.problem)
        return _outputs(inputs, accepted)


def _cluster(values: Properties, olds: Properties) -> FarCluster:
    """`olds`: what was so before; a host key holds as long as the node's machine is the same, and which
    machine has the name of a group's node is not known here."""
    file, handoff, provider, region, bucket, url, signer = (_text(values[key]) for key in _TEXTS)
    machines, were = _map(values["machines"]), _map(olds.get("machines"))
    known = _map(olds.get("hostKeys")).items()
    keys = {node: key for node, key in known if were.get(node) == machines.get(node)}
    before = _text(olds["handoff"]) if olds else ""
    builds = "becomes" in values and _text(values["becomes"]) == "image"
    return FarCluster(
        Path(file),
        handoff,
        provider,
        region,
        bucket,
        url,
        signer,
        machines,
        keys,
        builds,
        before,
        groups=_map(values.get("groups")),
        members=_map(olds.get("members")),
        addresses=_map(olds.get("addresses")),
        roll=_whole(values.get("roll")),
    )


def _outputs(inputs: Properties, seen: Acceptance) -> dict[str, PropertyValue]:
    said = {
        "nodes": _of(seen.nodes),
        "hostKeys": _of(seen.host_keys),
        "gates": PropertyValue(seen.gates),
        "members": _of(seen.members),
        "addresses": _of(seen.addresses),
    }
    return {**inputs, **said}


def _unfinished(inputs: Properties, seen: Acceptance, before: str) -> dict[str, PropertyValue]:
    """Without its digest the next `up` finds it changed, also after a refresh, which forgets failures.

    It keeps the hand-off that nodes were accepted with: what a change costs them is told by that one."""
    return {**_outputs(inputs, seen), "digest": PropertyValue(""), "handoff": PropertyValue(before)}


def _of(values: Mapping[str, str]) -> PropertyValue:
    return PropertyValue({key: PropertyValue(values[key]) for key in sorted(values)})


def _map(value: PropertyValue | None) -> dict[str, str]:
    rows = value.value if value is not None else None
    return {key: _text(row) for key, row in rows.items()} if isinstance(rows, Mapping) else {}


def _whole(value: PropertyValue | None) -> int:
    """The engine has no other number than a float."""
    return int(value.value) if value is not None and isinstance(value.value, float | int) else 0


def _text(value: PropertyValue) -> str:
    return str(value.value)

"""A Pulumi program as data: everything that it declares, with its edges and options.

Run twice. As a preview nothing is known that only a cloud tells, and every link shows as an unknown value
with its edge. As an update a strict table gives each resource what its cloud would, so that outputs resolve;
a type that is not in the table fails. A link that the update has not is one that a missing value lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pulumi
from google.protobuf.json_format import MessageToDict
from pulumi._types import input_type_py_to_pulumi_names
from pulumi.runtime import (
    MockCallArgs,
    MockResourceArgs,
    Mocks,
    rpc,
    set_all_config,
    set_mocks,
    settings,
)
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.proto import resource_pb2

from clusterwright.handoff import loads
from clusterwright.plugin.schema import ACCEPTANCE, schema

from . import made_aws, made_gcp

Made = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""What a cloud adds to a resource's inputs, from its name and those; `id` is the resource's own."""


def _accepted(_: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Members of groups, which nobody made one by one, are at an address like all others."""
    members = [node.name for node in loads(inputs["handoff"]).nodes if not node.address]
    return {
        "nodes": dict.fromkeys((*inputs["machines"], *members), "accepted"),
        "members": {name: f"i-{name}" for name in members},
        "addresses": {
            name: f"10.64.{16 + place // 250}.{place % 250 + 4}" for place, name in enumerate(members)
        },
    }


MADE: Mapping[str, Made] = {
    **made_aws.MADE,
    **made_gcp.MADE,
    ACCEPTANCE: _accepted,
}
UNKNOWN = "<unknown>"


@dataclass(frozen=True)
class Registered:
    """One resource as it was asked for."""

    urn: str
    type: str
    name: str
    custom: bool
    parent: str
    provider: str
    inputs: Mapping[str, Any]
    links: Mapping[str, tuple[str, ...]]
    """By property: the resources that its value comes from."""
    depends_on: tuple[str, ...]
    options: Mapping[str, Any]
    """`protect`, `retainOnDelete`, `ignoreChanges` …, those that are set."""


@dataclass(frozen=True)
class Synthesis:
    """Resources by type and name, and the stack's outputs, which only an update knows."""

    resources: tuple[Registered, ...]
    outputs: Mapping[str, Any]

    def of(self, type_: str) -> dict[str, Registered]:
        """By name."""
        return {one.name: one for one in self.resources if one.type == type_}


class _Made(Mocks):
    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        if not args.custom:
            return "", {}
        if args.typ not in MADE:
            raise AssertionError(f"no row in tests/synthesis says what a cloud makes of {args.typ}")
        made = {"id": f"{args.name}-id", **MADE[args.typ](args.name, args.inputs)}
        return str(made.pop("id")), {**args.inputs, **made}

    def call(self, args: MockCallArgs) -> Any:
        raise AssertionError(
            f"asks its cloud a question, so its answer is not in the description: {args.token}"
        )


class _Monitor(MockMonitor):
    def __init__(self, mocks: Mocks, preview: bool) -> None:
        super().__init__(mocks)
        self.seen: list[Registered] = []
        self._preview = preview

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (gRPC's name)
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == "pulumi:pulumi:Stack":
            return super().RegisterResource(request)
        self.seen.append(_registered(urn, request))
        if request.custom and request.type not in MADE:
            raise AssertionError(f"no row in tests/synthesis says what a cloud makes of {request.type}")
        if self._preview:
            return _preview_response(urn, request)
        return super().RegisterResource(request)


def _preview_response(urn: str, request: Any) -> Any:
    """As the engine answers in a preview: what was asked for, and no ID yet."""
    return resource_pb2.RegisterResourceResponse(urn=urn, id="", object=request.object)


_OPTIONS = (
    "protect",
    "retainOnDelete",
    "deleteBeforeReplace",
    "ignoreChanges",
    "replaceOnChanges",
    "deletedWith",
)


def _registered(urn: str, request: Any) -> Registered:
    said = MessageToDict(request)
    edges = {key: tuple(sorted(map(_short, deps.urns))) for key, deps in request.propertyDependencies.items()}
    linked = {urn for urns in edges.values() for urn in urns}
    options = {key: said[key] for key in _OPTIONS if said.get(key)}
    if said.get("aliases"):
        options["aliases"] = said["aliases"]
    return Registered(
        urn=_short(urn),
        type=request.type,
        name=request.name,
        custom=request.custom,
        parent=_short(request.parent),
        provider=_short(request.provider.rpartition("::")[0]),
        inputs=_plain(said.get("object", {})),
        links={key: urns for key, urns in sorted(edges.items()) if urns},
        depends_on=tuple(sorted(set(map(_short, request.dependencies)) - linked)),
        options=options,
    )


def _short(urn: str) -> str:
    """Type and name: a URN without what is the same for all, and without the types above it."""
    return "::".join(urn.split("$")[-1].split("::")[-2:])


def _plain(value: Any) -> Any:
    if value == rpc.UNKNOWN:
        return UNKNOWN
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def synthesise(
    program: Callable[[], None], *, preview: bool, config: Mapping[str, str] | None = None
) -> Synthesis:
    """What a program declares. Raises AssertionError for what the tables do not know."""
    monitor = _Monitor(_Made(), preview)
    set_mocks(monitor.mocks, project="clusterwright", stack="test", preview=preview, monitor=monitor)
    set_all_config(dict(config or {}))
    outputs: dict[str, Any] = {}

    @pulumi.runtime.test  # type: ignore[untyped-decorator]  # the SDK gives it no types
    def run() -> pulumi.Output[None] | None:
        root: Any = settings.get_root_resource()
        root.outputs = {}  # The SDK keeps one root for all programs of a process.
        program()
        return None if preview else pulumi.Output.all(**root.outputs).apply(outputs.update)

    run()
    return Synthesis(tuple(sorted(monitor.seen, key=lambda one: one.urn)), outputs)


def arguments(type_: str) -> frozenset[str]:
    """The properties that the SDK's own class takes for a type of resource."""
    package, module, kind = type_.split(":")
    if package == "clusterwright":
        return frozenset(schema()["resources"][type_]["inputProperties"]) | {"digest", "nodes"}
    if package == "pulumi":
        return frozenset(input_type_py_to_pulumi_names(import_module(f"pulumi_{kind}").ProviderArgs).values())
    args = getattr(import_module(f"pulumi_{package}.{module.partition('/')[0]}"), f"{kind}Args")
    return frozenset(input_type_py_to_pulumi_names(args).values())

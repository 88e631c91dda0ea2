"""What a rule on resources is, and what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource as a program asks for it. What only the cloud knows is not among its properties."""

    key: str
    """Type and name, `aws:ec2/instance:Instance::gpu-001`."""
    type: str
    name: str
    properties: Mapping[str, Any]
    """In the provider's own words, `instanceType`."""
    protect: bool = False
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By property: keys of the resources that its value comes from."""

    def get(self, path: str) -> Any:
        """The value at `metadataOptions.httpTokens`; None where there is none."""
        value: Any = self.properties
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True)
class Breach:
    """A resource that breaks a rule, and how."""

    rule: ResourceRule
    key: str
    what: str


Test = Callable[[Sequence[Resource]], Iterator[tuple[Resource, str]]]


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """One thing that no cluster may have."""

    name: str
    text: str
    """Why it matters: the function's docstring."""
    remedy: str
    source: str
    test: Test


def rule(name: str, *, remedy: str, source: str) -> Callable[[Test], ResourceRule]:
    """Turn a function from resources to those that break it, with the words, into a ResourceRule."""

    def declare(test: Test) -> ResourceRule:
        return ResourceRule(name, cleandoc(test.__doc__ or ""), remedy, source, test)

    return declare


def breaches(rules: Iterable[ResourceRule], resources: Sequence[Resource]) -> list[Breach]:
    """All of them, in the order of rules and resources."""
    return [Breach(one, found.key, what) for one in rules for found, what in one.test(resources)]

"""The examples together have every machine type of a cloud, and every option of a description."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from clusterwright.catalog.machines import catalog
from clusterwright.spec.base import Described
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import load

CLUSTERS = Path(__file__).parents[2] / "clusters"
CASES = CLUSTERS.parent / "tests/synthesis/cases"
STACKS = CLUSTERS.parent / "stacks/config"
Option = tuple[str, str, str]
"""A noun of the description, its key, and the word where it takes one of a few."""
NOT_SHOWN: set[Option] = {
    ("LabSite", "network", ""),
    ("AwsSite", "firewall", ""),
    ("GcpSite", "firewall", ""),
    ("LabSite", "firewall", ""),
    ("GcpSite", "shares", ""),
    ("LabSite", "shares", ""),
}
"""The lab picks a network that is free on its machine; an example cannot know one. A firewall is refused on
clouds (CW1771), and in a lab it is as on own machines, of which an example has it. Shares
of a site are for several: no example has Google Cloud as one of them, and a rehearsal takes them over."""


@cache
def examples() -> dict[str, ClusterSpec]:
    files = (file for folder in (CLUSTERS, CASES) for file in sorted(folder.glob("*.yaml")))
    return {file.stem: load(file).spec for file in files if not file.stem.endswith(".lock")}


def nouns(kind: type[Described] = Described) -> Iterator[type[Described]]:
    for child in kind.__subclasses__():
        yield child
        yield from nouns(child)


def words(annotation: Any) -> Iterator[str]:
    """Those of which a key takes one; a list or a mapping of them may have any."""
    if get_origin(annotation) in (list, dict):
        return
    if get_origin(annotation) is Literal:
        yield from (word for word in get_args(annotation) if isinstance(word, str))
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        yield from (member.value for member in annotation)
    elif not (isinstance(annotation, type) and issubclass(annotation, Described)):
        for part in get_args(annotation):
            yield from words(part)


def options() -> set[Option]:
    found: set[Option] = set()
    for noun in nouns():
        if noun.__name__.startswith("_"):
            continue
        for key, field in noun.model_fields.items():
            found |= {(noun.__name__, key, word) for word in [*words(field.annotation)] or [""]}
    return found


def said(value: Any) -> Iterator[Option]:
    """What one description says of everything in it; words also where they are the default."""
    if isinstance(value, Described):
        noun = type(value).__name__
        for key, field in type(value).model_fields.items():
            inner = getattr(value, key)
            choices = set(words(field.annotation))
            if choices:
                yield from ((noun, key, word) for word in choices & {str(inner)})
            elif key in value.model_fields_set:
                yield noun, key, ""
            yield from said(inner)
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from said(part)


def test_every_machine_type_of_a_cloud_is_in_an_example() -> None:
    used = {pool.machine for spec in examples().values() for pool in spec.pools.values()}
    sold = {name for name, kind in catalog().types.items() if kind.hardware.provider in {"aws", "gcp"}}
    assert sorted(sold - used) == []


def test_every_option_is_in_an_example() -> None:
    used = {option for spec in examples().values() for option in said(spec)}
    assert sorted(options() - used - NOT_SHOWN) == []
    assert options() - used >= NOT_SHOWN


def test_there_are_enough_of_clouds_and_each_says_what_it_is() -> None:
    public = {name: spec for name, spec in examples().items() if (CLUSTERS / f"{name}.yaml").exists()}
    sites = {name: spec.site.provider for name, spec in public.items() if spec.site}
    assert sum(provider in {"aws", "gcp"} for provider in sites.values()) >= 24
    for name, spec in public.items():
        if sites.get(name) in {"aws", "gcp"}:
            text = (CLUSTERS / f"{name}.yaml").read_text()
            assert spec.cluster == name, f"clusters/{name}.yaml is called otherwise in it"
            assert (STACKS / f"Pulumi.{name}.yaml").exists(), name
            assert text.startswith("# yaml-language-server: $schema=../schemas/cluster.schema.json\n# "), name

"""The table of what replaces what, held against what the clouds' own SDKs know and say."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from pulumi._types import input_type_py_to_pulumi_names

from clusterwright.catalog.replacements import replacements

REPLACES = re.compile(r"forces? (a )?new|forces? re-?creat|forces? replacement|immutable", re.IGNORECASE)
ONLY_SOMETIMES = {
    # Of other endpoints than interfaces, says the same text.
    ("aws:ec2/vpcEndpoint:VpcEndpoint", "privateDnsEnabled"),
}


@pytest.mark.parametrize("kind", sorted(kind for kind in replacements() if kind.startswith(("aws:", "gcp:"))))
def test_an_sdk_knows_every_property_and_does_not_say_otherwise(kind: str) -> None:
    package, module, name = kind.split(":")
    arguments = getattr(import_module(f"pulumi_{package}.{module.partition('/')[0]}"), f"{name}Args")
    names = {theirs: ours for ours, theirs in input_type_py_to_pulumi_names(arguments).items()}
    told = replacements()[kind]
    assert {path.partition(".")[0] for path in told.replace | told.update} <= names.keys()
    for path in told.update & names.keys():
        text = getattr(arguments, names[path]).fget.__doc__ or ""
        assert not REPLACES.search(text) or (kind, path) in ONLY_SOMETIMES, path

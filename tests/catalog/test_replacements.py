"""The table of what replaces what: sourced, and of every property that programs use."""

from __future__ import annotations

import pytest

from clusterwright.catalog.replacements import replacements, stops


def test_rows_are_sourced_and_say_one_thing() -> None:
    for kind, changes in replacements().items():
        assert changes.source and changes.date, kind
        assert not changes.replace & changes.update, kind
        assert changes.replace or changes.update, kind


def test_the_longest_property_decides() -> None:
    instance = replacements()["aws:ec2/instance:Instance"]
    assert instance.replaces("rootBlockDevice.encrypted")
    assert not instance.replaces("rootBlockDevice.volumeSize")
    assert instance.replaces("launchTemplate.version")
    with pytest.raises(KeyError):
        instance.replaces("unheardOf")


def test_what_stops_a_machine_does_not_replace_it() -> None:
    for kind, properties in stops().items():
        assert properties
        assert not properties & replacements()[kind].replace, kind

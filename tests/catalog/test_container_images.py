"""Container images of components: every release has each part, and says where that stands."""

from __future__ import annotations

import re

import pytest

from clusterwright.catalog import software
from clusterwright.catalog.container_images import images, images_of, parts_of


def test_every_row_has_its_source_and_names_a_tag() -> None:
    keys = [(row.component, row.version, row.part) for row in images()]
    assert keys == sorted(set(keys))
    for row in images():
        assert row.source and re.fullmatch(r"20\d\d-\d\d", row.date)
        assert re.fullmatch(r"[a-z0-9.-]+(/[a-z0-9._-]+)+:v[0-9.]+", row.image)
        assert row.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", row.sha256)


@pytest.mark.parametrize("component", sorted({row.component for row in images()}))
def test_every_release_that_can_be_chosen_has_all_its_parts(component: str) -> None:
    releases = {row.version for row in software.SoftwareCatalog().releases(component)}
    assert releases
    for version in releases:
        assert set(images_of(component, version)) == parts_of(component)


def test_a_digest_is_asked_for_where_it_is_known() -> None:
    [known] = [row for row in images() if row.sha256]
    assert known.reference == f"{known.image.removesuffix(':v1.0.15')}@sha256:{known.sha256}"
    assert images_of("cuda", "13.0") == {}

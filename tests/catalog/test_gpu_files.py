"""Device files of GPUs: the data itself."""

from __future__ import annotations

import re

from clusterwright.catalog.gpu_files import by_vendor, gpu_files
from clusterwright.catalog.machines import gpu_models, machines


def test_every_vendor_has_its_files_with_a_source() -> None:
    assert set(by_vendor()) == {model.vendor for model in gpu_models().values()}
    for row in by_vendor().values():
        assert row.source and re.fullmatch(r"\d{4}-\d{2}", row.date)
        assert row.file.startswith("/dev/") and row.control.startswith("/dev/")


def test_files_are_in_the_order_of_their_minors() -> None:
    amd, nvidia = machines()["mi300x-8gpu"], machines()["hgx-h100-8gpu"]
    assert gpu_files(amd) == tuple(f"/dev/dri/renderD{number}" for number in range(128, 136))
    assert gpu_files(nvidia) == tuple(f"/dev/nvidia{number}" for number in range(8))

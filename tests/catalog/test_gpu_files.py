"""Device files of GPUs: the data itself."""

from __future__ import annotations

import re

from clusterwright.catalog.gpu_files import by_vendor, files_of
from clusterwright.catalog.machines import gpu_models, machines


def test_every_vendor_has_its_files_with_a_source() -> None:
    assert set(by_vendor()) == {model.vendor for model in gpu_models().values()}
    for row in by_vendor().values():
        assert row.source and re.fullmatch(r"\d{4}-\d{2}", row.date)
        assert row.file.startswith("/dev/") and row.control.startswith("/dev/")


def test_files_are_in_the_order_of_their_minors() -> None:
    amd, nvidia = machines()["mi300x-8gpu"], machines()["hgx-h100-8gpu"]
    assert [files_of(amd).of(gpu) for gpu in amd.gpus] == [f"/dev/dri/renderD{n}" for n in range(128, 136)]
    assert [files_of(nvidia).of(gpu) for gpu in nvidia.gpus] == [f"/dev/nvidia{n}" for n in range(8)]

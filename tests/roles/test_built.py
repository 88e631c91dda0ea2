"""What nodes build from a source: which, for which GPUs, and what their package managers hear of it."""

from __future__ import annotations

import json

from clusterwright.bundle.build import NODE_JSON
from clusterwright.bundle.built import Build, together
from clusterwright.handoff import Handoff

from . import solved

SOURCE = "nccl-tests-2.17.6.tar.gz"


def test_a_pool_builds_for_its_own_gpus_and_no_package_manager_is_asked() -> None:
    made = solved.handoff("hgx-b200-8gpu", "ubuntu-24.04")
    wanted = solved.wanted(made)
    assert wanted.kind.nccl_tests == Build(SOURCE, "2.17.6", "13", ("10.0",))
    assert ("nccl-tests-2.17.6", "x86_64") in wanted.kind.archives
    assert {"g++", "make", "libopenmpi-dev"} <= set(wanted.packages)
    assert not any(package.startswith("nccl-tests") for package in wanted.packages)
    [text] = [file.content for file in wanted.own_files if file.path == NODE_JSON]
    stack = json.loads(text or "")["stack"]
    assert (stack["nccl_tests"]["version"], stack["nccl_tests"]["packages"]) == ("2.17.6", {})


def test_one_gpu_without_a_fabric_has_nothing_to_measure() -> None:
    made = solved.handoff("rtx4090-workstation", "debian-12")
    assert "nccl_tests" not in made.software["stacks"]["gpu"]
    assert solved.wanted(made).kind.nccl_tests is None


def test_a_pool_may_leave_them_out() -> None:
    made = solved.handoff("hgx-h100-8gpu", roles="{nccl_tests: skip}")
    kind = solved.wanted(made).kind
    assert (kind.nccl_tests, kind.archives) == (None, ())
    assert "g++" not in kind.packages


def test_an_image_serves_the_gpus_of_all_its_nodes() -> None:
    of = [Build(SOURCE, "2.17.6", "13", given) for given in (("9.0",), ("10.0",), ("9.0",))]
    assert together([*of, None]) == Build(SOURCE, "2.17.6", "13", ("9.0", "10.0"))
    assert together([*of, Build(SOURCE, "2.17.6", "13", ())]) == Build(SOURCE, "2.17.6", "13", ())
    assert together([None]) is None
    [image] = solved.bundle(solved.handoff("hgx-h100-8gpu")).images()
    assert image.kind.nccl_tests == Build(SOURCE, "2.17.6", "13", ("9.0",))


def of_mirror() -> Handoff:
    return solved.handoff("hgx-h100-8gpu", mirror="{url: 'http://mirror/', suite: ./, key: key.asc}")


def test_a_mirror_has_the_source_in_a_folder_of_its_own() -> None:
    made = of_mirror()
    rows = made.software["repositories"]
    assert set(rows) == {"mirror", "nccl-tests-2.17.6"}
    assert rows["nccl-tests-2.17.6"]["x86_64"]["url"] == "http://mirror/sources/"
    assert solved.wanted(made).kind.archives == (("nccl-tests-2.17.6", "x86_64"),)

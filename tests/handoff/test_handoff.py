"""The document: what it holds, that it reads back, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan, loads
from clusterwright.handoff.sections import document
from clusterwright.plan import plan
from clusterwright.plan.model import Ground
from clusterwright.spec.load import load
from clusterwright.spec.load import loads as description
from clusterwright.spec.machines import parse_machines
from clusterwright.spec.site import OnpremSite

ROOT = Path(__file__).parents[2]
EXAMPLES = [file for file in sorted((ROOT / "clusters").glob("*.yaml")) if not file.stem.endswith(".lock")]
FULL = """
cluster: full
site: {provider: onprem, network: 10.40.0.0/24}
domain: example.org
pools:
  head: {roles: [controller, storage], machine: generic-x86-16c}
  gpu:
    roles: [compute, login]
    machine: hgx-h100-8gpu
    count: 2
    features: [ndr, h100]
    partitions: [short, batch]
    racks: {nodes_per_rack: 2}
fabric: {topology: tree, nodes_per_leaf: 2}
scheduler:
  partitions: {batch: {default: true, max_time: 1 day, default_time: 2 h, priority: 3, exclusive: true}}
  rest: true
  release: '26.05'
  options: {KillWait: 60, MailDomain: example.org}
users: {ada: {uid: 2001, account: vision, admin: true}}
accounts: {vision: {description: "@nodes@", limits: {gpus: 8, wall_time: 1 day}}}
storage:
  shares:
    /home: {size: 1 TiB}
    /data: {kind: nfs, server: filer.example.org, export: /data}
surroundings: {http_proxy: 'http://proxy:3128', time_servers: [ntp]}
hooks: [{at: after-configure, run: steps/a.sh, pools: gpu}]
software:
  slurm_repository: {url: 'https://packages.example.org', key: keys/a.asc}
"""


def full(**ground: Any) -> Handoff:
    return from_plan(plan(description(FULL).spec, ground={"main": Ground(**ground)}))


@cache
def published() -> jsonschema.Draft202012Validator:
    """The schema checked once: that takes fifty times as long as to check a document against it."""
    schema = json.loads((ROOT / document.FILE).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda file: file.stem)
def test_examples_fit_the_published_schema_and_read_back(example: Path) -> None:
    handoff = from_plan(plan(load(example).spec))
    text = handoff.dumps()
    published().validate(json.loads(text))
    assert loads(text) == handoff
    assert loads(text).dumps() == text


def test_everything_that_can_be_described_fits_too() -> None:
    handoff = full(simulated=True, cgroup_plugin="cgroup/v1", cgroup_mountpoint="/sys/fs/cgroup/v1")
    text = handoff.dumps()
    jsonschema.Draft202012Validator.check_schema(document.schema())
    jsonschema.validate(json.loads(text), document.schema())
    assert loads(text) == handoff
    assert handoff.scheduler["cgroup"] == {"plugin": "cgroup/v1", "mountpoint": "/sys/fs/cgroup/v1"}
    assert handoff.scheduler["config_overrides"] is True


def test_the_published_schema_is_current() -> None:
    published = (ROOT / document.FILE).read_text()
    assert published == document.text(), "run: make docs"


def test_a_node_says_what_it_is() -> None:
    node = full().by_name["gpu-002"]
    assert (node.roles, node.gpus, node.address) == (("login", "compute"), 8, "10.40.0.4")
    assert (node.features, node.partitions) == (("h100", "ndr"), ("batch", "short"))
    assert (node.rack, node.switches) == ("gpu-rack-01", ("gpu-leaf-01", "spine"))
    assert full().hardware[node.machine].gpu_model == "NVIDIA H100 80GB HBM3"


def test_nodes_stand_one_to_a_line_so_that_a_diff_shows_nodes() -> None:
    lines = full().dumps().splitlines()
    assert [line for line in lines if '"gpu-002"' in line] == [lines[lines.index(' "nodes": [') + 3]]


def test_the_document_is_the_same_whatever_the_order_of_keys() -> None:
    reordered = FULL.replace(
        "{KillWait: 60, MailDomain: example.org}", "{MailDomain: example.org, KillWait: 60}"
    )
    assert from_plan(plan(description(reordered).spec)).dumps() == full().dumps()


def damaged() -> dict[str, str]:
    text = full().dumps()
    body = json.loads(text)
    without = {key: value for key, value in body.items() if key != "scheduler"}
    worse_node = {**body, "nodes": [{**body["nodes"][0], "gpus": "8"}]}
    return {
        "empty": "",
        "cut off": text[: len(text) // 2],
        "not JSON": "cluster: full",
        "a list": "[]",
        "a number": "1",
        "deep": "[" * 5000,
        "without a section": json.dumps(without),
        "with a section too many": json.dumps({**body, "extra": {}}),
        "nodes as a mapping": json.dumps({**body, "nodes": {}}),
        "a number as text": json.dumps(worse_node),
        "hardware of another shape": json.dumps({**body, "hardware": {"x": 1}}),
        "no version": json.dumps({key: value for key, value in body.items() if key != "version"}),
    }


@pytest.mark.parametrize("name", sorted(damaged()))
def test_a_damaged_document_is_refused_in_words(name: str) -> None:
    with pytest.raises(Refused) as refused:
        loads(damaged()[name], "full.handoff.json")
    assert {finding.code for finding in refused.value.findings} == {"CW2001"}
    assert all(finding.where.file == "full.handoff.json" for finding in refused.value.findings)


def test_a_document_of_another_version_is_refused_by_name() -> None:
    text = full().dumps().replace('"version": 1', '"version": 7')
    with pytest.raises(Refused, match="version 7, and this clusterwright reads version 1") as refused:
        loads(text)
    assert [finding.code for finding in refused.value.findings] == ["CW2002"]


def test_where_in_the_document_it_is_damaged_is_said() -> None:
    with pytest.raises(Refused) as refused:
        loads(damaged()["a number as text"])
    assert [finding.where.path for finding in refused.value.findings] == ["nodes.0.gpus"]


def own(machines: str) -> Handoff:
    loaded = description(FULL)
    file, findings = parse_machines(machines, "machines.csv")
    assert isinstance(loaded.spec.site, OnpremSite) and not findings
    loaded.spec.site.know(file)
    return from_plan(plan(loaded.spec, previous={"gpu-001": "10.40.0.9"}))


def test_own_machines_are_told_apart() -> None:
    before = own(
        "node,mac,address,bmc_address,bmc_credentials\ngpu-002,00005e005301,10.40.0.9,10.41.0.2,env:B\n"
    )
    assert before.machines == {
        "gpu-002": {
            "mac": "00:00:5e:00:53:01",
            "serial": None,
            "bmc": {"address": "10.41.0.2", "mac": None, "credentials": "env:B"},
        }
    }
    assert before.by_name["gpu-002"].address == "10.40.0.9"
    assert before.by_name["gpu-001"].address != "10.40.0.9", "a written address was another node's before"
    assert loads(before.dumps()) == before
    jsonschema.validate(json.loads(before.dumps()), document.schema())


def test_another_machine_in_its_place_is_one_line() -> None:
    first, second = (own(f"node,mac\ngpu-001,0c42a100000{n}\ngpu-002,0c42a1000009\n").dumps() for n in (1, 2))
    pairs = zip(first.splitlines(), second.splitlines(), strict=True)
    assert [before.strip()[:9] for before, after in pairs if before != after] == ['"gpu-001"']

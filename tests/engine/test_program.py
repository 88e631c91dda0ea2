"""The stack program on mocks: what it declares and what it hands off, without an engine."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks, set_all_config, set_mocks, settings

from clusterwright.handoff import loads

ROOT = Path(__file__).parents[2]
ONPREM = """
cluster: cellar
site: {provider: onprem, network: 10.20.0.0/24}
pools:
  head: {roles: [controller, login], machine: generic-x86-32c}
  gpu: {roles: compute, machine: hgx-h100-8gpu, nodes: "gpu[01-02]"}
"""
CLOUDY = """
cluster: cloudy
converge: pull
site: {provider: aws, region: us-east-2, zone: us-east-2a}
pools:
  head: {roles: [controller, login], machine: m7i.large}
  gpu: {roles: compute, machine: g5.xlarge, count: 2}
"""
HYBRID = """
cluster: hybrid
sites:
  cellar: {provider: onprem}
  cloud: {provider: aws, region: us-east-2, zone: us-east-2a, link: {gateway: tgw-0123456789abcdef0}}
pools:
  head: {roles: [controller, login], machine: generic-x86-32c, site: cellar}
  gpu: {roles: compute, machine: g5.xlarge, count: 2, site: cloud}
"""
TWO_CLOUDS = """
cluster: two-clouds
sites:
  one: {provider: aws, region: us-east-2, zone: us-east-2a}
  other: {provider: aws, region: us-west-2, zone: us-west-2b}
pools:
  head: {roles: [controller, login], machine: m7i.large, site: one}
  gpu: {roles: compute, machine: g5.xlarge, count: 2, site: other}
"""


class Lab(Mocks):
    """A provider that makes every cluster it is told to."""

    def __init__(self) -> None:
        self.declared: list[MockResourceArgs] = []

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        self.declared.append(args)
        return args.name, {**args.inputs, "handoff": "the document", "login": "10.66.0.3", "nodes": {}}

    def call(self, args: MockCallArgs) -> Any:
        raise AssertionError(args.token)


Synthesis = tuple[list[MockResourceArgs], dict[str, Any]]
"""Resources declared, and outputs by name."""
Run = Callable[..., Synthesis]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs stacks/__main__.py of a project whose stack names this description."""
    shutil.copytree(ROOT / "stacks", tmp_path / "stacks")

    def program(description: str, config: str = "cluster.yaml", **more: str) -> Synthesis:
        (tmp_path / "cluster.yaml").write_text(description)
        lab = Lab()
        set_mocks(lab, project="clusterwright", stack="test")
        values = {"cluster": config, **more} if config else more
        set_all_config({f"clusterwright:{key}": value for key, value in values.items()})
        found: dict[str, Any] = {}

        @pulumi.runtime.test  # type: ignore[untyped-decorator]
        def synthesise() -> pulumi.Output[None]:
            runpy.run_path(str(tmp_path / "stacks/__main__.py"), run_name="__main__")
            root: Any = settings.get_root_resource()
            return pulumi.Output.all(**root.outputs).apply(found.update)

        synthesise()
        return [one for one in lab.declared if one.typ != "pulumi:pulumi:Stack"], found

    return program


def test_lab_is_one_resource(run: Run, tmp_path: Path) -> None:
    (cluster,), outputs = run((ROOT / "clusters/lab.yaml").read_text())
    assert (cluster.typ, cluster.name) == ("clusterwright:lab:Cluster", "lab")
    assert cluster.inputs == {"file": str(tmp_path / "cluster.yaml")}
    assert outputs == {
        "cluster": "the document",
        "login_address": "10.66.0.3",
        "ssh_command": "clusterwright ssh lab",
    }


def test_own_machines_are_described_and_nothing_is_made(run: Run) -> None:
    declared, outputs = run(ONPREM)
    assert declared == []
    handoff = loads(outputs["cluster"])
    assert [node.name for node in handoff.nodes] == ["head", "gpu01", "gpu02"]
    assert outputs["login_address"] == handoff.by_name["head"].address
    assert outputs["ssh_command"] == f"ssh {handoff.by_name['head'].address}"


def test_two_clouds_are_refused_with_the_way_on(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=r"cluster\.yaml:3:1: sites: CW7100 .* of one cloud") as refused:
        run(TWO_CLOUDS)
    assert "`clusterwright up --lab cluster.yaml`" in str(refused.value)


def test_machines_beside_own_ones_that_nobody_could_open_are_refused(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=r"cluster\.yaml:3:1: sites: CW7106 .* clusterwright:operator"):
        run(HYBRID)


def test_machines_that_would_trust_nobody_are_refused(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=r"CW7102 .* `pulumi config set clusterwright:signer"):
        run(CLOUDY)


@pytest.mark.parametrize("asked", ["0", "slowly", "-1", "1.5"])
def test_a_roll_that_is_no_number_of_nodes_is_refused(run: Run, asked: str) -> None:
    with pytest.raises(
        pulumi.RunError, match=rf"CW7105 .*'{asked}'.* `pulumi config set clusterwright:roll 1`"
    ):
        run(CLOUDY, signer="ssh-ed25519 AAAA", roll=asked)


def test_cloud_without_its_sdk_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clusterwright.providers.stack.find_spec", lambda _: None)
    with pytest.raises(pulumi.RunError, match=r"CW7101 .* `pip install 'clusterwright\[aws\]'`"):
        run(CLOUDY)


def test_every_mistake_is_said_at_once(run: Run) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        run(ONPREM.replace("hgx-h100-8gpu", "hgx-h1oo-8gpu").replace("generic-x86-32c", "generic-x86-32d"))
    assert "'hgx-h1oo-8gpu'" in str(refused.value)
    assert "'generic-x86-32d'" in str(refused.value)


def test_stack_without_a_description_is_refused(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match="clusterwright:cluster"):
        run(ONPREM, config="")


def test_missing_description_is_named(run: Run) -> None:
    with pytest.raises(pulumi.RunError, match=r"absent\.yaml: CW1001"):
        run(ONPREM, config="absent.yaml")

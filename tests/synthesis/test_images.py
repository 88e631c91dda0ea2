"""Images: the machines that become them, and the machines that are made from them."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path

import pytest
import yaml

from clusterwright.bundle.userdata import LIMIT
from clusterwright.catalog.replacements import replacements
from clusterwright.finding import Refused
from clusterwright.operate.baked import baked
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.plan.builders import Recipe
from clusterwright.providers.stack import build

from .harness import Synthesis, arguments, synthesise
from .test_programs import ROOT, SIGNER

AWS, GCP = "aws-p5-16", "gcp-a4"
INSTANCE = {"aws": "aws:ec2/instance:Instance", "gcp": "gcp:compute/instance:Instance"}


def changed(folder: Path, case: str = AWS, **changes: object) -> Path:
    """A case with keys of its pools, of its software or of itself otherwise."""
    body = yaml.safe_load((ROOT / "clusters" / f"{case}.yaml").read_text())
    for path, value in changes.items():
        place = body
        *above, last = path.split("__")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump(body))
    return file


def recipes(file: Path) -> list[Recipe]:
    prepared = prepare(described(Source(file)))
    return [one.recipe for one in baked(prepared.handoff, prepared.files, file.parent)]


def program(file: Path, *, builds: bool = False) -> Synthesis:
    description = described(Source(file))
    prepared = prepare(description)
    asked = recipes(file) if builds else []

    def run() -> None:
        import pulumi

        for name, value in build(file, prepared.plan, description.loaded.where, asked).items():
            pulumi.export(name, value)

    return synthesise(run, preview=False, config={"clusterwright:signer": SIGNER})


@cache
def builders(case: str) -> Synthesis:
    return program(ROOT / "clusters" / f"{case}.yaml", builds=True)


@pytest.fixture(params=[AWS, GCP])
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_builder_becomes_an_image_when_it_is_done(case: str) -> None:
    made, [recipe] = builders(case), recipes(ROOT / "clusters" / f"{case}.yaml")
    [builder] = made.of(INSTANCE[case[:3]]).values()
    assert recipe.builder in str(builder.inputs)
    kind = "aws:ec2/amiFromInstance:AmiFromInstance" if case == AWS else "gcp:compute/image:Image"
    [image] = made.of(kind).values()
    assert image.inputs["name"] == f"clusterwright-{recipe.digest}"
    assert image.options["retainOnDelete"]
    copied = image if case == AWS else next(iter(made.of("gcp:compute/snapshot:Snapshot").values()))
    [done] = made.of("clusterwright:pull:Acceptance").values()
    assert done.urn in {*copied.depends_on, *(urn for urns in copied.links.values() for urn in urns)}
    assert done.inputs["becomes"] == "image"
    assert list(json.loads(made.outputs["images"])) == [recipe.digest]


def test_nothing_of_the_cluster_is_made_but_builders(case: str) -> None:
    types = {one.type for one in builders(case).resources}
    assert not [name for name in types if "fsx" in name or "efs" in name or "filestore" in name]
    assert not [one.name for one in builders(case).resources if one.options.get("protect")]


def test_resources_are_those_of_the_sdk_and_the_table(case: str) -> None:
    for one in builders(case).resources:
        assert not one.custom or set(one.inputs) <= arguments(one.type), one.urn
        for key in one.inputs if not one.type.startswith(("pulumi:", "clusterwright:")) else ():
            told = replacements()[one.type]
            assert any(name.partition(".")[0] == key for name in told.replace | told.update), (one.type, key)


def test_a_builder_is_told_to_seal_itself(case: str) -> None:
    [builder] = builders(case).of(INSTANCE[case[:3]]).values()
    text = builder.inputs["userData"] if case == AWS else builder.inputs["metadata"]["user-data"]
    assert len(text.encode()) <= LIMIT
    files = {one["path"]: one for one in yaml.safe_load(text)["write_files"]}
    seal = files["/usr/lib/clusterwright/gate"]["content"]
    assert b"ssh_host_" in gzip.decompress(base64.b64decode(seal))
    assert "/run/clusterwright-builder/key" in files["/etc/clusterwright/pull.json"]["content"]


def test_nodes_are_made_from_the_image_of_their_software(tmp_path: Path) -> None:
    file = changed(tmp_path, pools__gpu__image="built", pools__gpu__count=2)
    [recipe] = recipes(file)
    templates = program(file).of("aws:ec2/launchTemplate:LaunchTemplate")
    gpu = templates["gpu-001"]
    assert gpu.inputs["imageId"] == f"resolve:ssm:/clusterwright/images/{recipe.digest}"
    assert gpu.options["ignoreChanges"] == ["imageId"], "other software would replace machines that run"
    assert "/aws/service/" in templates["login"].inputs["imageId"]
    assert "ignoreChanges" not in templates["login"].options


def test_google_finds_it_by_name(tmp_path: Path) -> None:
    file = changed(tmp_path, GCP, pools__gpu__image="built", pools__gpu__count=1)
    [recipe] = recipes(file)
    asked = [one.inputs["bootDisk"] for one in program(file).of(INSTANCE["gcp"]).values()]
    images = {str(disk["initializeParams"]["image"]).rpartition("/")[2] for disk in asked}
    assert f"clusterwright-{recipe.digest}" in images


def test_the_digest_is_of_what_is_installed_and_of_nothing_else(tmp_path: Path) -> None:
    [one] = recipes(changed(tmp_path))
    more = changed(tmp_path, pools__gpu__count=3, users={"bob": {"uid": 2002}}, cluster="other")
    assert [again.digest for again in recipes(more)] == [one.digest]
    assert recipes(changed(tmp_path, software__versions={"driver": "570"}))[0].digest != one.digest


def test_an_image_of_other_software_is_refused(tmp_path: Path) -> None:
    [recipe] = recipes(changed(tmp_path))
    prepare(described(Source(changed(tmp_path, pools__gpu__image=f"built:{recipe.digest}"))))
    file = changed(tmp_path, pools__gpu__image=f"built:{recipe.digest}", software__versions={"driver": "570"})
    with pytest.raises(Refused) as refused:
        prepare(described(Source(file)))
    [finding] = refused.value.findings
    assert (finding.code, finding.where.path) == ("CW8090", "pools.gpu.image")
    assert recipe.digest in finding.what


def test_images_are_built_where_nodes_pull(tmp_path: Path) -> None:
    file = changed(tmp_path, converge="push")
    with pytest.raises(Refused, match="CW7104"):
        program(file, builds=True)

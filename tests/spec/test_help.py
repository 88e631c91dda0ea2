"""Templates, `explain FIELD`, and how little is imported to validate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from clusterwright.finding import Refused
from clusterwright.spec import shape
from clusterwright.spec.codes import CODES
from clusterwright.spec.explain import field
from clusterwright.spec.init import template, templates
from clusterwright.spec.load import load, loads

ROOT = Path(__file__).parents[2]
HEAVY = ["rich", "jinja2", "ansible_runner", "pulumi", "jsonschema", "ClusterShell"]


@pytest.mark.parametrize("name", templates())
def test_templates_are_valid_and_say_what_they_are_for(name: str) -> None:
    assert loads(template(name), name).spec.pools
    assert len(templates()[name]) > 20


def test_the_first_template_is_the_lab() -> None:
    assert next(iter(templates())) == "lab"
    assert {"lab", "homelab", "teams", "aws-p5", "gcp-a3-mega", "onprem", "onprem-racks"} == set(templates())


def test_an_unknown_template_is_refused_with_the_nearest() -> None:
    with pytest.raises(Refused, match=r"CW1132.*Did you mean 'homelab'\?"):
        template("homlab")


def test_a_field_by_name_or_star() -> None:
    named, starred = field("pools.gpu.count"), field("pools.*.count")
    assert (named.type, named.default) == ("whole number, 1 to 65536", "none")
    assert (
        named.meaning
        == starred.meaning
        == ("How many nodes. Give this or `nodes`; without both the pool has one node.")
    )
    assert yaml.safe_load(named.example) == {"pools": {"gpu": {"count": 2}}}


def test_a_field_with_a_unit() -> None:
    assert field("power_limit").type == "power with its unit, such as `40 kW`"
    assert field("pools.*.racks.nodes_per_rack").default == "required"


def test_a_noun_names_what_is_inside() -> None:
    assert field("pools.*").meaning.endswith(
        "Inside: roles, machine, count, nodes, site, features, partitions, versions, ansible_roles, "
        "capacity, image, install_to, disk, kept_from, placement, max_distance, group, mig, shards, mps, "
        "racks, purchase"
    )


def test_a_list_is_shown_as_a_list() -> None:
    assert yaml.safe_load(field("hooks.*.at").example) == {"hooks": [{"at": "before-configure"}]}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("pools.gpu.cuont", "Did you mean 'count'"),
        ("schedular", "Did you mean 'scheduler'"),
        ("pools.gpu.count.more", "'pools.gpu.count' is the last"),
        ("", "Known here: cluster"),
        ("a" * 10_000, "Known here: cluster"),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest(path: str, words: str) -> None:
    with pytest.raises(Refused, match="CW1101") as refused:
        field(path)
    assert words in refused.value.findings[0].remedy


def every_path(path: shape.Path = ()) -> list[shape.Path]:
    found = [path] if path else []
    parts = shape.at(path)
    for key in dict.fromkeys(key for part in parts for key in shape.keys(part)):
        found += every_path((*path, key))
    if any(True for part in parts for _ in shape.child(part, shape.ANY)):
        found += every_path((*path, shape.ANY))
    return found


def test_every_field_can_be_explained() -> None:
    paths = every_path()
    assert len(paths) >= 100
    for path in paths:
        help_text = field(".".join(map(str, path)))
        assert help_text.type
        assert help_text.default


def test_every_code_is_explained() -> None:
    for code, meaning in CODES.items():
        assert code.startswith(("CW10", "CW11", "CW167"))
        assert meaning.title
        assert meaning.why


def test_examples_are_loaded_without_heavy_imports() -> None:
    program = (
        "import sys; from clusterwright.spec.load import load; load(sys.argv[1]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    lab = str(ROOT / "clusters/lab.yaml")
    done = subprocess.run([sys.executable, "-c", program, lab], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert load(lab).spec.cluster == "lab"

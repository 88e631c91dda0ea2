"""What the bundle makes of every example, and of one fact changed at a time."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest

from clusterwright.bundle import directory, generated, shares
from clusterwright.bundle.build import NODE_JSON, Bundle
from clusterwright.bundle.shares import mount_unit
from clusterwright.bundle.wanted import Wanted
from clusterwright.catalog.changes import costs
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.plan.model import Ground
from clusterwright.render import render
from clusterwright.spec.load import load, loads

CLUSTERS = Path(__file__).parents[2] / "clusters"
EXAMPLES = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.stem.endswith(".lock")]
KEYS = {"/etc/slurm/slurm.key": b"k1", "/etc/munge/munge.key": b"k2", "/etc/slurm/jwt_hs256.key": b"k3"}
SMALL = """
cluster: small
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  login: {roles: login, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001, keys: ["ssh-ed25519 AAAA ada"], admin: true}
"""


def handoff_of(text: str) -> Handoff:
    return from_plan(plan(loads(text).spec, ground={"main": Ground(network="10.9.0.0/16", simulated=True)}))


def bundle_of(handoff: Handoff, keys: dict[str, bytes] | None = None) -> Bundle:
    texts = {path: f"text of {path}\n" for path in generated.attachments(handoff)}
    outside = dict.fromkeys((*shares.secrets(handoff), *directory.secrets(handoff)), b"secret")
    return Bundle(handoff, render(handoff), {**KEYS, **outside} if keys is None else keys, texts)


def image_of(handoff: Handoff) -> Wanted:
    """The only image of a cluster, as it is installed on its builder."""
    [image] = bundle_of(handoff).images()
    assert set(image.nodes) == set(handoff.by_name)
    return Wanted("builder", image.kind)


def small(more: str = "", old: str = "", new: str = "") -> dict[str, Wanted]:
    return dict(bundle_of(handoff_of(SMALL.replace(old, new) + more)).all())


def paths(wanted: Wanted) -> dict[str, Any]:
    return {file.path: file for file in wanted.files}


def running(wanted: Wanted) -> set[str]:
    return set(wanted.active_units)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_gives_every_node_something_whole(example: Path) -> None:
    try:
        handoff = from_plan(plan(load(example).spec, ground={"main": Ground(network="10.9.0.0/16")}))
    except Refused as refused:
        pytest.skip(f"cannot be planned without its provider: {refused}")
    for name, wanted in bundle_of(handoff).all().items():
        places = [file.path for file in wanted.files]
        assert len(places) == len(set(places)), name
        names = [unit.name for unit in wanted.units]
        assert len(names) == len(set(names)), name
        owed = {a.rpartition(":")[0] for file in wanted.files for a in file.affects}
        assert owed <= running(wanted), name


def test_the_same_input_gives_the_same_digests_and_nodes_differ() -> None:
    first, second = small(), small()
    assert {n: w.digest for n, w in first.items()} == {n: w.digest for n, w in second.items()}
    assert len({wanted.digest for wanted in first.values()}) == 4


def test_nodes_of_a_kind_share_everything_but_their_own_files() -> None:
    nodes = small()
    assert nodes["gpu-001"].kind is nodes["gpu-002"].kind
    assert [file.path for file in nodes["gpu-001"].own_files] == [NODE_JSON]


def test_every_unit_that_packages_bring_is_on_or_off() -> None:
    nodes = small()
    assert {"slurmctld", "slurmdbd", "mariadb", "prometheus"} <= running(nodes["controller"])
    assert {"slurmd", "clusterwright-gate", "home.mount"} <= running(nodes["gpu-001"])
    assert "sackd" in running(nodes["login"])
    for name, wanted in nodes.items():
        off = {unit.name for unit in wanted.units if not unit.active and not unit.enabled}
        assert {"slurmctld", "slurmd", "sackd"} <= off | running(wanted), name


def test_an_image_has_all_packages_and_runs_nothing() -> None:
    handoff = handoff_of(SMALL)
    image = image_of(handoff)
    for wanted in bundle_of(handoff).all().values():
        assert set(wanted.packages) <= set(image.packages)
    assert not image.active_units
    preset = paths(image)["/etc/systemd/system-preset/10-clusterwright.preset"].content
    assert "disable slurmctld.service\n" in preset
    assert "disable apt-daily.timer\n" in preset


@pytest.mark.parametrize(
    "more",
    [
        "accounts: {vision: {}, default: {}}\n",
        "scheduler: {options: {SchedulerPort: 1}}\n",
        "scheduler: {backup: {folder: /home/backups}}\n",
    ],
)
def test_an_image_outlives_changes_that_install_nothing(more: str) -> None:
    before = image_of(handoff_of(SMALL)).kind.digest
    assert image_of(handoff_of(SMALL + more)).kind.digest == before
    assert image_of(handoff_of(SMALL + "software: {packages: [htop]}\n")).kind.digest != before


def test_no_key_is_ever_in_what_is_wanted() -> None:
    nodes = bundle_of(handoff_of(SMALL), {"/etc/slurm/slurm.key": b"very secret"}).all()
    assert "very secret" not in repr(nodes)
    key = paths(nodes["gpu-001"])["/etc/slurm/slurm.key"]
    assert (key.content, key.mode, key.owner) == (None, 0o600, "slurm")


def test_another_key_is_another_digest() -> None:
    handoff = handoff_of(SMALL)
    one, two = (bundle_of(handoff, {"/etc/slurm/slurm.key": key}).all() for key in (b"1", b"2"))
    assert one["gpu-001"].digest != two["gpu-001"].digest


def test_nodes_of_an_ethernet_fabric_hear_their_neighbours_and_no_other_lldpd_is_touched() -> None:
    nodes = small(old="lab-h100", new="mi300x-8gpu-roce")
    assert "lldpd" in nodes["gpu-001"].packages and "lldpd" in running(nodes["gpu-001"])
    assert "lldpd" not in {unit.name for unit in nodes["controller"].units}


def test_an_older_release_gets_munge() -> None:
    node = small(more="software: {distribution: debian-12}\n")["gpu-001"]
    assert "munge" in running(node)
    assert paths(node)["/etc/munge/munge.key"].owner == "munge"
    assert "/etc/slurm/slurm.key" not in paths(node)


@pytest.mark.parametrize(
    ("more", "node", "path"),
    [
        (
            "surroundings: {http_proxy: 'http://proxy:3128'}\n",
            "login",
            "/etc/apt/apt.conf.d/80clusterwright-proxy",
        ),
        ("surroundings: {package_mirror: 'http://mirror/debian'}\n", "login", "/etc/apt/sources.list"),
        ("surroundings: {time_servers: [ntp.site]}\n", "login", "/etc/chrony/chrony.conf"),
        (
            "surroundings: {certificate_authorities: [ca/site.pem]}\n",
            "login",
            "/usr/local/share/ca-certificates/clusterwright-site.crt",
        ),
        ("scheduler: {rest: true}\n", "controller", "/etc/slurm/jwt_hs256.key"),
        ("scheduler: {backup: {folder: /home/b}}\n", "controller", "/usr/lib/clusterwright/state-backup"),
    ],
)
def test_a_wish_places_its_file(more: str, node: str, path: str) -> None:
    assert path not in paths(small()[node])
    assert path in paths(small(more)[node])


@pytest.mark.parametrize(
    ("more", "unit"),
    [
        ("scheduler: {accounting: false}\n", "mariadb"),
        ("software: {monitoring: false}\n", "prometheus"),
    ],
)
def test_what_is_switched_off_does_not_run(more: str, unit: str) -> None:
    assert unit in running(small()["controller"])
    assert unit not in running(small(more)["controller"])


def test_backups_of_a_share_wait_for_its_mount_and_go_with_the_wish() -> None:
    share = "storage: {shares: {/data: {kind: nfs, server: filer, export: /x}}}\n"
    wanted = small(f"{share}scheduler: {{backup: {{folder: /data/b, every: 2 h, keep: 3}}}}\n")["controller"]
    told = json.loads(paths(wanted)["/etc/clusterwright/backup.json"].content)
    assert (told["folder"], told["mount"], told["every"], told["keep"]) == ("/data/b", "/data", 7200, 3)
    assert "clusterwright-backup.timer" in running(wanted)
    plain = small()["controller"]
    assert [unit.active for unit in plain.units if unit.name == "clusterwright-backup.timer"] == [False]


def test_what_ends_before_its_jobs_is_reserved_by_the_controller() -> None:
    wanted = bundle_of(from_plan(plan(load(CLUSTERS / "aws-p5.yaml").spec))).all()["controller"]
    assert "clusterwright-ends" in running(wanted)
    assert "/usr/lib/clusterwright/reserve-ends" in paths(wanted)


def test_a_step_that_changed_is_a_change_where_it_runs() -> None:
    handoff = handoff_of(SMALL + "hooks: [{at: after-configure, run: a.sh, pools: gpu}]\n")
    old, new = (Bundle(handoff, render(handoff), KEYS, {"a.sh": text}).all() for text in ("echo 1", "echo 2"))
    assert {name for name in old if old[name].digest != new[name].digest} == {"gpu-001", "gpu-002"}


RESTARTING = {name: row.units for name, row in costs().items() if row.units}


@pytest.mark.parametrize("name", RESTARTING)
def test_what_diff_says_restarts_is_restarted(name: str) -> None:
    """A file that differs with the property owes it to the daemon, where that runs."""
    handoff = handoff_of(SMALL)
    section, key = name.split(".")
    other = dataclasses.replace(handoff, **{section: {**getattr(handoff, section), key: "another"}})
    daemons = ("slurmctld", "slurmd", "slurmdbd")
    before, after = ({*generated.started_with(made, daemons)} for made in (handoff, other))
    owed = {word for file in after - before for word in file.affects}
    assert owed == {f"{unit}:restart" for unit in RESTARTING[name]}
    for node in small().values():
        there = {path for path in paths(node) if path.startswith("/etc/clusterwright/started-with/")}
        assert {Path(path).stem for path in there} == running(node) & set(daemons)


def test_a_box_with_every_role_runs_no_second_kiosk() -> None:
    pool = "pools: {box: {roles: [controller, login, compute], machine: lab-h100}}\n"
    handoff = handoff_of(f"cluster: box\nsite: {{provider: lab}}\n{pool}")
    wanted = bundle_of(handoff).wanted(handoff.nodes[0])
    assert {"slurmctld", "slurmd"} <= running(wanted)
    assert "sackd" in {unit.name for unit in wanted.units if not unit.active}


def test_users_get_logins_keys_and_rights() -> None:
    node = small()["login"]
    ada = next(user for user in node.users if user.name == "ada")
    assert (ada.uid, ada.groups) == (2001, (generated.ADMINS,))
    assert paths(node)["/etc/clusterwright/authorized_keys/ada"].content == "ssh-ed25519 AAAA ada\n"
    accounting = small()["controller"].kind.accounting
    assert accounting is not None
    assert accounting["users"]["ada"] == {"account": "default", "admin": True}


def test_node_json_is_what_the_gate_reads() -> None:
    body = json.loads(paths(small()["gpu-001"])[NODE_JSON].content)
    assert (body["node"], len(body["hardware"]["gpus"]), body["mounts"]) == ("gpu-001", 8, ["/home"])
    assert "slurmd" in body["units"]


def test_shares_are_mount_units_on_all_but_their_server() -> None:
    share = "storage: {shares: {/home: {}, /data/sets: {kind: nfs, server: nas, export: /vol/1}}}\n"
    nodes = small(share)
    data = paths(nodes["gpu-001"])["/etc/systemd/system/data-sets.mount"].content
    assert "What=nas:/vol/1\n" in data
    assert {"home.mount", "data-sets.mount"} <= running(nodes["gpu-001"])
    assert "home.mount" not in running(nodes["controller"])
    assert "data-sets.mount" in running(nodes["controller"])


@pytest.mark.parametrize(
    ("path", "unit"),
    [("/home", "home.mount"), ("/data/a-b", r"data-a\x2db.mount"), ("/srv/.x", r"srv-.x.mount")],
)
def test_mount_units_are_named_as_systemd_escape_does(path: str, unit: str) -> None:
    assert mount_unit(path) == unit


def test_a_users_own_repository_brings_schedmds_packages() -> None:
    repository = "slurm_repository: {url: 'http://site/slurm', key: keys/site.asc}"
    text = f"software: {{{repository}}}\nscheduler: {{release: '25.11'}}\n"
    node = small(text)["gpu-001"]
    assert "slurm-smd-slurmd" in node.packages
    assert "slurmd" not in node.packages
    assert paths(node)["/etc/apt/keyrings/clusterwright-slurm.asc"].early


def test_ten_thousand_nodes_take_a_second_or_two() -> None:
    handoff = handoff_of(SMALL.replace("count: 2", "count: 10000"))
    bundle = Bundle(handoff, (), KEYS)
    start = time.process_time()
    digests = {name: wanted.digest for name, wanted in bundle.all().items()}
    assert len(set(digests.values())) == len(handoff.nodes)
    assert time.process_time() - start < 5


def test_hand_off_survives_the_round_trip() -> None:
    handoff = handoff_of(SMALL)
    nodes = bundle_of(handoff).all()
    again = bundle_of(dataclasses.replace(handoff)).all()
    assert {n: w.digest for n, w in nodes.items()} == {n: w.digest for n, w in again.items()}

"""What rendering promises, whatever the cluster."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from clusterwright.catalog.hardware import Hardware
from clusterwright.finding import Refused
from clusterwright.render import render

from . import examples
from .sample import H100, handoff

RELEASES = ("22.05", "23.11", "24.11", "25.11", "26.05")


def files(**scheduler: object) -> dict[str, str]:
    return {file.path: file.content for file in render(handoff(**scheduler))}  # type: ignore[arg-type]


def setting(text: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("release", ["21.08", "25.05", "24.11.5", ""])
def test_another_release_is_refused_by_name(release: str) -> None:
    with pytest.raises(Refused) as refused:
        render(handoff(release))
    (finding,) = refused.value.findings
    assert finding.code == "CW3001"
    assert f"'{release}'" in finding.what
    assert all(name in finding.remedy for name in RELEASES)


@pytest.mark.parametrize("example", examples.NAMES)
@pytest.mark.parametrize("release", RELEASES)
def test_same_bytes_sorted_and_complete(example: str, release: str) -> None:
    first, second = (render(examples.handoff(example, release)) for _ in range(2))
    assert first == second
    assert [file.path for file in first] == sorted({file.path for file in first})
    for file in first:
        assert file.path.startswith("/")
        assert file.content.endswith("\n")
        assert "\n\n\n" not in file.content
        assert not re.search(r"[ \t]$", file.content, flags=re.MULTILINE), file.path


@pytest.mark.parametrize("release", RELEASES)
def test_no_secret_is_rendered(release: str) -> None:
    for path, content in files(release=release, rest=True).items():
        assert "StoragePass" not in content, path
        assert not path.endswith(".key")


def test_only_the_controller_holds_the_configuration_where_sackd_fetches_it() -> None:
    roles = {file.path: file.roles for file in render(handoff("23.11"))}
    assert roles["/etc/slurm/slurm.conf"] == ("controller",)
    assert roles["/etc/default/sackd"] == ("login",)
    old = {file.path: file.roles for file in render(handoff("22.05"))}
    assert old["/etc/slurm/slurm.conf"] == ("controller", "login")
    assert "/etc/default/sackd" not in old


def test_authentication_follows_the_release() -> None:
    assert setting(files(release="22.05")["/etc/slurm/slurm.conf"], "AuthType") == ["auth/munge"]
    for release in RELEASES[1:]:
        rendered = files(release=release)
        assert setting(rendered["/etc/slurm/slurm.conf"], "AuthType") == ["auth/slurm"]
        assert setting(rendered["/etc/slurm/slurmdbd.conf"], "AuthType") == ["auth/slurm"]


def test_rest_needs_tokens_and_nothing_else_does() -> None:
    key = ["jwt_key=/etc/slurm/jwt_hs256.key"]
    for path in ("/etc/slurm/slurm.conf", "/etc/slurm/slurmdbd.conf"):
        assert setting(files(rest=True)[path], "AuthAltParameters") == key
        assert not setting(files()[path], "AuthAltParameters")


def test_without_accounting_there_is_no_database() -> None:
    rendered = files(accounting=False)
    assert not {path for path in rendered if "slurmdbd" in path or "mysql" in path}
    assert "AccountingStorage" not in rendered["/etc/slurm/slurm.conf"]
    assert "TRESBillingWeights" not in rendered["/etc/slurm/slurm.conf"]


def test_a_users_option_replaces_the_line_that_it_names() -> None:
    text = files(options={"resumetimeout": 1800, "DebugFlags": "NodeFeatures"})["/etc/slurm/slurm.conf"]
    assert not setting(text, "ResumeTimeout")
    assert text.endswith("\n# From the description\nDebugFlags=NodeFeatures\nresumetimeout=1800\n")
    assert "NodeName=" in text


def test_a_job_gets_its_share_of_the_machine() -> None:
    (partition,) = setting(files()["/etc/slurm/slurm.conf"], "PartitionName")
    assert "DefCpuPerGPU=24" in partition  # 192 / 8
    assert f"DefMemPerGPU={int(2 * 1024 * 1024 * 0.95) // 8}" in partition
    assert "MaxTime=UNLIMITED DefaultTime=60" in partition


def test_gpus_are_detected_only_where_the_driver_spells_the_type() -> None:
    base = handoff("24.11")
    gaming = replace(H100, gpu_type="rtx4090", gpu_model="NVIDIA GeForce RTX 4090")
    amd = replace(H100, gpu_type="mi300x", gpu_model="AMD Instinct MI300X", gpu_vendor="amd")

    def gres(hardware: Hardware) -> str:
        made = replace(base, hardware={**base.hardware, "h100": hardware})
        return next(file.content for file in render(made) if file.path == "/etc/slurm/gres.conf")

    assert "AutoDetect=nvidia" in gres(H100)
    assert "Type=rtx4090 File=/dev/nvidia[0-3] Cores=0-47" in gres(gaming)
    assert "Type=mi300x File=/dev/dri/renderD[132-135] Cores=48-95" in gres(amd)
    assert "AutoDetect" not in gres(gaming) + gres(amd)
    assert "Type=h100 File=/dev/nvidia[4-7] Cores=48-95" in files(release="23.11")["/etc/slurm/gres.conf"]


def test_gpus_that_are_cut_are_a_line_for_each_instance() -> None:
    cut = {"0": [{"profile": "3g.40gb", "start": 0}, {"profile": "1g.10gb", "start": 4}]}
    rendered = files(mig={"gpu": cut})
    assert "Gres=gpu:h100:7,gpu:h100_1g.10gb:1,gpu:h100_3g.40gb:1 " in rendered["/etc/slurm/slurm.conf"]
    gres = rendered["/etc/slurm/gres.conf"]
    assert "AutoDetect" not in gres  # what it detects is whole GPUs
    assert "Type=h100 File=/dev/nvidia[1-3] Cores=0-47" in gres
    instance = "/dev/nvidia0,/dev/mig/0.4-instance,/dev/mig/0.4-compute"
    assert f"Type=h100_1g.10gb MultipleFiles={instance} Cores=0-47" in gres


def test_gpus_that_jobs_share_are_counted_in_parts() -> None:
    rendered = files(shards={"gpu": 4})
    conf, gres = rendered["/etc/slurm/slurm.conf"], rendered["/etc/slurm/gres.conf"]
    assert "Gres=gpu:h100:8,shard:32 " in conf
    assert setting(conf, "GresTypes") == ["gpu,shard"]
    assert setting(conf, "AccountingStorageTRES") == ["gres/gpu,gres/shard"]
    assert gres.splitlines()[-2:] == [
        "NodeName=gpu-[001-002] AutoDetect=nvidia",
        "NodeName=gpu-[001-002] Name=shard Count=32",
    ]


def test_parts_by_mps_are_counted_and_its_programs_called() -> None:
    rendered, without = files(mps={"gpu": 100}), files()
    conf, gres = rendered["/etc/slurm/slurm.conf"], rendered["/etc/slurm/gres.conf"]
    assert "Gres=gpu:h100:8,mps:800 " in conf
    assert setting(conf, "GresTypes") == ["gpu,mps"]
    assert setting(conf, "TaskProlog") == ["/etc/slurm/task-prolog"]
    assert gres.splitlines()[-1] == "NodeName=gpu-[001-002] Name=mps Count=800"
    for program, word in (("prolog", "gpu-mps begin"), ("epilog", "gpu-mps end")):
        path = f"/etc/slurm/{program}"
        assert word in rendered[path] and "mps" not in without[path]


def test_a_node_that_plays_a_larger_machine_is_not_bound_to_cores_it_has_not() -> None:
    playing = files(config_overrides=True)
    assert setting(playing["/etc/slurm/slurm.conf"], "SlurmdParameters") == ["config_overrides"]
    assert setting(playing["/etc/slurm/cgroup.conf"], "ConstrainCores") == ["no"]
    real = files()
    assert not setting(real["/etc/slurm/slurm.conf"], "SlurmdParameters")
    assert setting(real["/etc/slurm/cgroup.conf"], "ConstrainCores") == ["yes"]


def test_control_groups_are_where_the_ground_says() -> None:
    text = files(cgroup={"plugin": "cgroup/v1", "mountpoint": "/run/cgroup-v1"})["/etc/slurm/cgroup.conf"]
    assert setting(text, "CgroupPlugin") == ["cgroup/v1"]
    assert setting(text, "CgroupMountpoint") == ["/run/cgroup-v1"]
    assert setting(text, "IgnoreSystemd") == ["yes"]


def test_monitoring_can_be_left_out() -> None:
    base = handoff("25.11")
    silent = replace(base, software={**base.software, "monitoring": False})
    assert not [file.path for file in render(silent) if "prometheus" in file.path]
    assert all("MetricsType" not in file.content for file in render(silent))
    assert any("MetricsType" in file.content for file in render(base))


def test_a_new_node_reloads_slurm_and_restarts_only_what_cannot_reload() -> None:
    for release, wanted in (("22.05", "slurmctld:restart"), ("23.11", "slurmctld:reload")):
        affects = {file.path: file.affects for file in render(handoff(release))}
        assert affects["/etc/slurm/slurm.conf"] == (wanted,)
        assert affects["/etc/hosts"] == ()


def test_time_and_size_grow_with_the_nodes_only() -> None:
    seconds = {}
    for count in (1_000, 10_000):
        made = handoff(count=count)
        started = time.process_time()
        rendered = {file.path: file.content for file in render(made)}
        seconds[count] = time.process_time() - started
        assert len(rendered["/etc/slurm/slurm.conf"]) < 4000
        assert rendered["/etc/hosts"].count("\n") == count + 7
    assert seconds[10_000] < 2


@pytest.mark.parametrize(("memory_gib", "pool"), [(2, "512M"), (16, "4096M"), (512, "4096M")])
def test_the_database_gets_what_slurmdbd_recommends_where_there_is_room(memory_gib: int, pool: str) -> None:
    base = handoff()
    controller = replace(base.hardware["small"], memory_mib=memory_gib * 1024)
    rendered = render(replace(base, hardware={**base.hardware, "small": controller}))
    text = next(file.content for file in rendered if file.path.endswith("60-slurm.cnf"))
    assert setting(text, "innodb_buffer_pool_size") == [pool]


def test_addresses_stand_in_the_order_of_the_names() -> None:
    base = handoff(count=4)
    moved = {"gpu-002": "10.66.7.9"}
    nodes = tuple(replace(node, address=moved.get(node.name, node.address)) for node in reversed(base.nodes))
    text = next(
        file.content for file in render(replace(base, nodes=nodes)) if file.path == "/etc/slurm/slurm.conf"
    )
    (line,) = setting(text, "NodeName")
    assert line.startswith("gpu-[001-004] NodeAddr=10.66.0.10,10.66.7.9,10.66.0.[12-13] CPUs=192 ")


def test_nodes_without_a_planned_address_are_found_by_name() -> None:
    base = handoff(count=2)
    nodes = tuple(replace(node, address="") if node.name == "gpu-002" else node for node in base.nodes)
    text = next(
        file.content for file in render(replace(base, nodes=nodes)) if file.path == "/etc/slurm/slurm.conf"
    )
    assert "NodeAddr" not in text

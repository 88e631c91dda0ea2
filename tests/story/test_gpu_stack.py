"""The GPU host stack in a lab: locked, installed, proven, broken on purpose, and exchanged."""

from __future__ import annotations

import json
import re

import pytest

from . import example_jobs
from .ground import DESCRIPTION, Desk

pytestmark = pytest.mark.lab
BUILT = "/opt/nccl-tests/build"
OLD, NEW = "595.58.03", "595.91.07"
KERNEL = "6.12.117"
WISH = (
    DESCRIPTION
    + f"software: {{versions: {{driver: {OLD}, gdrcopy: 2.5.2}}, containers: true, monitoring: false}}\n"
)
NEWER = """
mkdir -p /srv/newer/made/DEBIAN && cd /srv/newer
printf 'Package: nvidia-driver-cuda\\nVersion: 999-1\\nArchitecture: amd64\\n' > control
printf 'Maintainer: nobody <nobody@example.com>\\nDescription: newer\\n' >> control
cp control made/DEBIAN/ && dpkg-deb -b made newer.deb > /dev/null
{ cat control; echo Filename: ./newer.deb; stat -c 'Size: %s' newer.deb; } > Packages
sha256sum newer.deb | sed 's/ .*//; s/^/SHA256: /' >> Packages
echo 'deb [trusted=yes] file:/srv/newer ./' > /etc/apt/sources.list.d/newer.list && apt-get -qq update
apt-cache madison nvidia-driver-cuda | cut -d'|' -f2 | grep 999
apt-get -s dist-upgrade | grep -c '^Inst nvidia'
rm -r /srv/newer /etc/apt/sources.list.d/newer.list && apt-get -qq update
"""
VERSION = "nvidia-smi --query-gpu=driver_version --format=csv,noheader --id=0"
FOUND = {
    "gpu-missing": "gpus",
    "thermal-slowdown": "throttle",
    "nic-missing": "fabric-cards",
    "nic-down": "fabric-cards",
    "nic-slow": "fabric-cards",
    "driver-mismatch": "driver-loaded",
}


def test_what_is_locked_is_what_runs(desk: Desk) -> None:
    desk.describe(WISH)
    desk.run("lock", "cluster.yaml")
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert desk.on("gpu-001", VERSION).split() == [OLD]
    held = desk.on("gpu-001", "apt-mark showhold").split()
    assert {"nvidia-driver-cuda", "nvidia-fabricmanager", "libnccl2", "gdrdrv-dkms"} <= set(held)


def test_jobs_make_one_world_of_a_program_that_was_built_here(desk: Desk) -> None:
    """With the distribution's MPI: a real program beside the simulated ones of nccl-tests."""
    program = f"{BUILT}/mpi_world_perf"
    ranks = desk.as_user("srun", "--nodes=2", "--ntasks=4", "--gres=gpu:1", program).splitlines()
    assert sorted(ranks) == [f"rank {n} of 4 on gpu-00{n // 2 + 1}" for n in range(4)]
    alone = desk.as_user("srun", "--mpi=none", "--nodes=2", "--ntasks=2", "--gres=gpu:1", program)
    assert alone.count("rank 0 of 1") == 2


def test_what_a_node_built_is_looked_at_and_built_again(desk: Desk) -> None:
    stamp = f"{BUILT}/built.json"
    before = desk.on("gpu-002", f"cat {stamp}")
    assert json.loads(before) == {"version": "2.17.6", "cuda": "13", "capabilities": ["9.0"]}
    desk.on("gpu-002", f"rm {BUILT}/all_reduce_perf")
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert [name for name, node in nodes.items() if node["tasks"]] == ["gpu-002"]
    assert nodes["gpu-002"]["drift"] == ["nccl-tests: is not built"]
    assert desk.on("gpu-002", f"cat {stamp}") == before


def test_a_release_that_nobody_reviewed_is_seen_and_not_taken(desk: Desk) -> None:
    """As unattended upgrades, and whoever types it, would meet it."""
    assert desk.on("gpu-001", NEWER).split() == ["999-1", "0"]


def test_second_up_changes_nothing(desk: Desk) -> None:
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}
    assert desk.outcome("image", "build", "cluster.yaml") == {"cluster": "story", "ok": True, "built": []}


ONE = "--ntasks-per-node=1 --gpus-per-node=1"


def test_examples_run_in_containers_on_two_nodes(desk: Desk) -> None:
    example_jobs.place(desk)
    desk.as_user("sh", "-c", "cd examples; for job in */job.sh; do sbatch --test-only $job || exit; done")
    example_jobs.submit(desk, "pytorch-ddp", ONE, "--epochs 3")
    example_jobs.submit(desk, "jax", ONE, "--steps 40")
    example_jobs.submit(desk, "tensorflow", ONE, "--steps 40")
    workers = "--ntasks-per-node=2 --cpus-per-task=1"
    example_jobs.submit(desk, "analytics", workers, "--files 8 --records 1000")
    example_jobs.said(desk, "analytics", "8 files, 3 workers on 2 nodes\n")
    for example, last in (
        ("pytorch-ddp", "epoch 2 of 2 processes on cpu: loss "),
        ("jax", "step 40 of 2 processes, 2 devices (cpu): loss "),
        ("tensorflow", "step 40 of 2 workers: loss "),
    ):
        text = example_jobs.said(desk, example, last)
        assert float(text.partition(last)[2].split()[0]) < 0.01, text


def test_a_language_model_is_fine_tuned_on_cpus(desk: Desk) -> None:
    example_jobs.give(desk, "finetune-lora/lines.txt", "the quick brown fox jumps over the lazy dog\n" * 64)
    words = f"--model {example_jobs.MODEL} --text lines.txt --epochs 10 --batch 8"
    example_jobs.submit(desk, "finetune-lora", f"{ONE} --export=ALL,HF_HUB_OFFLINE=1", words)
    text = example_jobs.said(desk, "finetune-lora", "saved in adapter\n")
    first, *_, last = map(float, re.findall(r"'loss': '?([\d.]+)", text))
    assert last < first, text
    desk.as_user("test", "-s", "examples/finetune-lora/adapter/adapter_model.safetensors")


def test_an_elastic_job_saves_when_told_is_queued_again_and_goes_on_where_it_was(desk: Desk) -> None:
    job = example_jobs.submit(desk, "pytorch-elastic", ONE, "--steps 100000 --save-every 10 --pause 0.1")
    example_jobs.said(desk, "pytorch-elastic", "saved at step 20:")
    desk.as_user("scancel", "--batch", "--signal=USR1", job)
    # Slurm holds what was queued again for two minutes, and slurmd refuses a start in the second of the end.
    waits = f"scontrol show job -o {job} | grep -q 'JobState=PENDING.* Restarts=1'"
    desk.on("controller", f'timeout 600 sh -c "until {waits}; do sleep 0.3; done"')
    stopped = re.findall(r"saved at step (\d+)", example_jobs.said(desk, "pytorch-elastic", "saved"))[-1]
    desk.on("controller", f"sleep 2 && scontrol update JobId={job} StartTime=now")
    text = example_jobs.said(desk, "pytorch-elastic", f"\nfrom step {stopped} with ")
    assert int(stopped) > 20 and text.count("from step") == 2
    example_jobs.said(desk, "pytorch-elastic", f"saved at step {int(stopped) // 10 * 10 + 10}:")
    desk.as_user("scancel", job)


def test_a_container_is_told_of_the_fabric_and_a_users_word_comes_first(desk: Desk) -> None:
    look = r"echo \$NCCL_NET \$NCCL_DEBUG; cat /etc/nccl.conf"
    podman = f'podman --log-level=error run --rm --env=NCCL_DEBUG=INFO --rootfs $HOME/image sh -c "{look}"'
    said = desk.as_user("srun", "--quiet", "--gres=gpu:1", "sh", "-c", podman).splitlines()
    assert said[0] == "IB INFO"
    assert said[1:] == desk.on("gpu-001", "cat /etc/nccl.conf").splitlines()


@pytest.mark.parametrize(("fault", "gate"), FOUND.items(), ids=FOUND)
def test_a_fault_takes_its_node_out_of_the_queue_until_it_is_mended(
    desk: Desk, fault: str, gate: str
) -> None:
    desk.run("node", "break", "story", "gpu-002", fault, "--number", "1" if "driver" not in fault else "0")
    said = desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick", code=1)
    assert f"\nFAIL {gate}: " in f"\n{said}"
    assert f"clusterwright: gate {gate}:" in desk.run("status", "story")
    desk.run("node", "mend", "story", "gpu-002")
    desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick")
    assert "drained" not in desk.run("status", "story")


def test_a_gpu_with_memory_errors_is_exchanged_with_its_node(desk: Desk) -> None:
    """What the driver wrote to the kernel's log asks for a reset, also when nothing else shows the fault."""
    desk.run("node", "break", "story", "gpu-002", "ecc", "--number", "3")
    said = desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick", code=1)
    assert "FAIL ecc: " in said and "Xid 48" in said
    assert desk.outcome("node", "replace", "story", "gpu-002")["accepted"]


def test_a_slow_network_is_no_accepted_cluster(desk: Desk) -> None:
    desk.run("node", "break", "story", "gpu-002", "network-slow")
    said = desk.run("accept", "story", code=1)
    desk.run("node", "mend", "story", "gpu-002")
    assert "nccl" in said and "gpu-002: fabric-pairs failed" in said
    assert "clusterwright: accept fabric-pairs" in desk.run("status", "story", code=1)
    desk.run("node", "resume", "story", "gpu-002")
    desk.run("accept", "story")


def test_nothing_unreviewed_is_installed(desk: Desk) -> None:
    desk.describe(WISH.replace(OLD, f"{NEW}, kernel: {KERNEL}"))
    assert "CW8014" in desk.run("up", "cluster.yaml", code=2)
    assert desk.on("gpu-001", VERSION).split() == [OLD]


def test_a_newer_driver_disturbs_no_job_unasked(desk: Desk) -> None:
    desk.run("lock", "cluster.yaml")
    said = desk.run("diff", "cluster.yaml")
    assert "reboot  gpu-[001-002]" in said and "up --roll: gpu-001 of gpu first, then gpu-002" in said
    job = desk.submit("gpu-001")
    refused = desk.run("up", "cluster.yaml", code=2)
    assert "CW8006" in refused and "--roll" in refused
    busy = desk.outcome("up", "cluster.yaml", "--roll", "--wait", "1s", code=1)
    assert [row["code"] for row in busy["failed"]] == ["CW8019"]
    assert job in desk.running() and "drain" not in desk.run("status", "story")
    desk.as_user("scancel", job)


def test_a_driver_is_rolled_from_node_to_node_while_an_array_runs(desk: Desk) -> None:
    """The first node fails and stops it; then it is killed on its way; then it comes through."""
    options = ("--parsable", "--array=1-400%2", "--exclusive", "--gres=gpu:8")
    array = desk.as_user("sbatch", *options, "--wrap=sleep 4").strip()
    before = {node: desk.booted(node) for node in ("login", "gpu-001", "gpu-002")}

    first = desk.until("Install every package", "up", "cluster.yaml", "--roll", "--json")
    with desk.halted(first):  # held and empty: no prolog meets the fault, and no boot comes before it
        desk.run("node", "break", "story", "gpu-001", "nvlink-down")
    last, _ = first.communicate(timeout=600)
    assert first.returncode == 1
    [finding] = json.loads(last.strip().splitlines()[-1])["outcome"]["failed"]
    assert finding["code"] == "CW8018" and finding["path"] == "gpu-001" and "gate nvlink" in finding["what"]
    assert f"versions: {{driver: {OLD}" in finding["remedy"]
    assert "clusterwright: roll stopped: gate nvlink" in desk.run("status", "story", code=1)
    assert desk.on("gpu-002", VERSION).split() == [OLD] and desk.booted("gpu-002") == before["gpu-002"]
    once = desk.booted("gpu-001")
    assert once != before["gpu-001"]

    desk.run("node", "mend", "story", "gpu-001")
    desk.run("node", "resume", "story", "gpu-001")
    second = desk.until("Install every package", "up", "cluster.yaml", "--roll", "--json")
    desk.kill(second)
    assert "clusterwright: roll: driver" in desk.run("status", "story", code=1)
    assert desk.booted("gpu-002") == before["gpu-002"]

    desk.run("up", "cluster.yaml", "--roll", "--no-accept")
    assert {desk.on(node, VERSION).strip() for node in ("gpu-001", "gpu-002")} == {NEW}
    assert (desk.booted("login"), desk.booted("gpu-001")) == (before["login"], once)
    assert desk.booted("gpu-002") != before["gpu-002"]
    # Else a task that starts while scancel looks for those that wait is cancelled with them.
    desk.on("controller", "scontrol update PartitionName=gpu State=DOWN")
    desk.as_user("scancel", "--state=PENDING", array)
    desk.until_the_queue_is_empty()
    desk.on("controller", "scontrol update PartitionName=gpu State=UP")
    assert desk.begun_and_not_completed(array) == []
    outcome = desk.outcome("up", "cluster.yaml", "--roll")
    nodes = outcome["nodes"].values()
    assert outcome["accepted"] and {(node["status"], node["tasks"]) for node in nodes} == {("ok", 0)}


def test_the_new_kernel_has_its_modules_and_one_that_lacks_them_is_named(desk: Desk) -> None:
    module, gate = f"nvidia/{NEW} -k {KERNEL}-amd64", "/usr/lib/clusterwright/gate"
    assert f"nvidia/{NEW}, {KERNEL}-amd64, x86_64: installed" in desk.on("gpu-002", "dkms status")
    desk.on("gpu-002", f"dkms uninstall {module}")
    said = desk.on("gpu-002", gate, code=1)
    assert f"FAIL modules: expected module nvidia (driver) built for kernel {KERNEL}-amd64" in said
    assert f"dkms autoinstall -k {KERNEL}-amd64" in said
    desk.on("gpu-002", f"dkms install {module} && {gate}")


def test_an_older_driver_is_refused_in_place_and_rolled_by_making_nodes_anew(desk: Desk) -> None:
    desk.describe(WISH)
    desk.run("lock", "cluster.yaml")
    refused = desk.run("up", "cluster.yaml", "--roll", code=2)
    assert "CW8017" in refused and f"driver: {NEW}" in refused and "--rebuild gpu" in refused
    assert desk.on("gpu-002", VERSION).split() == [NEW]
    outcome = desk.outcome("up", "cluster.yaml", "--roll", "--rebuild", "gpu")
    assert outcome["accepted"] and outcome["created"] == ["gpu-001", "gpu-002"]
    assert {desk.on(node, VERSION).strip() for node in ("gpu-001", "gpu-002")} == {OLD}


def test_gpus_are_cut_into_instances_in_place(desk: Desk) -> None:
    now = (desk.folder / "cluster.yaml").read_text()
    desk.describe(now.replace("count: 2}", "count: 2, mig: {gpus: {0: {1g.10gb: 7}, 1: {3g.40gb: 2}}}}"))
    assert "drain" in desk.run("diff", "cluster.yaml")
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    visible = desk.as_user("srun", "--gres=gpu:h100_1g.10gb:1", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
    assert visible.split() == ["0"]  # of those that the job's devices let it see
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


def test_an_instance_that_is_gone_is_named_and_made_again(desk: Desk) -> None:
    desk.on("gpu-002", "nvidia-smi mig -i 0 -gi 9 -dci; nvidia-smi mig -i 0 -gi 9 -dgi")
    said = desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick", code=1)
    assert "FAIL mig: expected 1g.10gb at slice 2 of /dev/nvidia0, seen no such instance" in said
    assert "clusterwright: gate mig:" in desk.run("status", "story")
    desk.on("gpu-002", "systemctl restart clusterwright-mig && /usr/lib/clusterwright/gate --quick")
    assert "drained" not in desk.run("status", "story")

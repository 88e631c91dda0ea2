"""The life of real nodes: boot, work, break, heal, and leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import world

from clusterwright.finding import Refused
from clusterwright.providers.lab import process, state
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import Lab, list_labs
from clusterwright.providers.lab.logs import logs

pytestmark = pytest.mark.lab


def test_two_nodes_boot_work_and_leave_nothing(lab: Lab) -> None:
    first, second = world.up(lab, world.nodes(lab, "n1", "n2"))

    up = "hostname; systemctl is-system-running --wait; journalctl --sync"
    assert world.on(first, up).split() == ["n1", "running"]
    assert "1 received" in world.on(first, f"ping -c 1 -W 60 {second.address}")
    world.on(first, "echo together > /home/note")
    assert world.on(second, "cat /home/note") == "together\n"
    assert "Reached target multi-user.target" in "\n".join(logs(lab, "n1"))
    assert "Welcome to Debian" in "\n".join(logs(lab, "n1", console=True))
    assert [status.name for status in list_labs(lab.home)] == ["demo"]

    lab.destroy()
    assert world.traces(lab) == []
    lab.destroy()


def test_a_second_ensure_leaves_what_runs_and_boots_what_is_new(lab: Lab) -> None:
    world.up(lab, world.nodes(lab, "n1"))
    before = lab.machine("n1").pid()
    targets = world.up(lab, world.nodes(lab, "n1", "n2"))
    assert lab.machine("n1").pid() == before
    assert [world.on(target, "hostname") for target in targets] == ["n1\n", "n2\n"]

    lab.remove_nodes(["n2"])
    assert lab.machine("n1").pid() == before
    assert [node.name for node in lab.status().nodes] == ["n1"]


def test_a_node_without_power_boots_again_with_its_files(lab: Lab) -> None:
    [target] = world.up(lab, world.nodes(lab, "n1"))
    world.on(target, "echo kept > /root/note; sync")
    lab.kill("n1")
    assert [node.state for node in lab.status().nodes] == ["stopped"]
    [again] = world.up(lab, world.nodes(lab, "n1"))
    assert world.on(again, "cat /root/note") == "kept\n"


def test_a_hung_node_is_seen_and_destroyed(lab: Lab) -> None:
    [target] = world.up(lab, world.nodes(lab, "n1"))
    lab.freeze("n1")
    assert [node.state for node in lab.status().nodes] == ["frozen"]
    lab.thaw("n1")
    assert world.on(target, "echo thawed") == "thawed\n"
    lab.freeze("n1")
    lab.destroy()
    assert world.traces(lab) == []


def test_two_labs_live_side_by_side(lab: Lab) -> None:
    other = Lab(lab.home, "other")
    [mine] = world.up(lab, world.nodes(lab, "n1"))
    [theirs] = world.up(other, world.nodes(other, "n1"))
    assert not lab.reserve().subnet.overlaps(other.reserve().subnet)
    lab.destroy()
    assert world.traces(other) != []
    assert world.on(theirs, "hostname") == "n1\n"
    assert "exit 255" in world.on(mine, "true")


def test_after_a_reboot_of_the_host_the_lab_comes_back(lab: Lab) -> None:
    network = lab.reserve()
    world.up(lab, world.nodes(lab, "n1"))
    lab.kill("n1")
    subprocess.run(["ip", "link", "delete", network.bridge], check=True)
    subprocess.run(["nft", "delete", "table", "ip", f"clusterwright_{lab.key}"], check=True)
    [target] = world.up(lab, world.nodes(lab, "n1"))
    assert world.on(target, "hostname") == "n1\n"


@pytest.mark.parametrize("after_s", [0.3, 0.6, 0.8, 1.0, 1.3])
def test_killed_at_any_moment_it_finishes_when_run_again(lab: Lab, after_s: float) -> None:
    caller = _ensure_elsewhere(lab.home)
    time.sleep(after_s)
    caller.send_signal(signal.SIGKILL)
    caller.communicate()
    targets = world.up(lab, world.nodes(lab, "n1", "n2"))
    assert [world.on(target, "hostname") for target in targets] == ["n1\n", "n2\n"]
    lab.destroy()
    assert world.traces(lab) == []


@pytest.mark.parametrize("after_s", [0.4, 0.7, 0.9])
def test_killed_at_any_moment_it_is_destroyed_whole(lab: Lab, after_s: float) -> None:
    caller = _ensure_elsewhere(lab.home)
    time.sleep(after_s)
    caller.send_signal(signal.SIGKILL)
    caller.communicate()
    lab.destroy()
    assert world.traces(lab) == []


def test_a_second_process_is_refused_by_name(lab: Lab) -> None:
    script = "import sys, time; {setup}\nwith lab.locked():\n print('held', flush=True); time.sleep(60)"
    holder = _python(lab.home, script)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Refused, match=f"CW7030 process {holder.pid} is working on lab demo"):
        lab.ensure([], world.silent)
    holder.kill()
    holder.communicate()
    lab.reserve()


def test_a_corrupted_state_is_refused_and_still_destroyed(lab: Lab) -> None:
    world.up(lab, world.nodes(lab, "n1"))
    (lab.folder / "state.json").write_text('{"version": 1, "na')
    with pytest.raises(Refused, match="CW7031"):
        lab.reserve()
    assert lab.status().subnet is None
    lab.destroy()
    assert world.traces(lab) == []


def test_a_lab_whose_files_are_gone_is_still_destroyed(lab: Lab) -> None:
    world.up(lab, world.nodes(lab, "n1"))
    lab.folder.rename(lab.home.state / "elsewhere")
    lab.destroy()
    subprocess.run(["rm", "-rf", str(lab.home.state / "elsewhere")], check=True)
    assert world.traces(lab) == []


def test_a_process_that_only_has_the_number_of_a_node_is_spared() -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        assert process.send(bystander.pid, "cw-00000000-n1", signal.SIGKILL, 0.2)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_node_that_cannot_boot_is_named_with_its_console(lab: Lab, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    (empty / "usr/lib/systemd").mkdir(parents=True)
    os.mknod(empty / "usr/lib/systemd/systemd", 0o600 | 0o020000, 0)  # an overlay's whiteout
    with pytest.raises(Refused, match="CW7010 node n1 did not answer") as refusal:
        lab.ensure(world.nodes(lab, "n1"), world.silent, image=empty)
    assert "console ends: (empty)" not in str(refusal.value)


def _ensure_elsewhere(home: LabHome) -> subprocess.Popen[str]:
    return _python(
        home,
        "import sys; {setup}\nimport world\nworld.up(lab, world.nodes(lab, 'n1', 'n2'))",
    )


def _python(home: LabHome, script: str) -> subprocess.Popen[str]:
    setup = (
        f"sys.path.insert(0, {str(Path(__file__).parent)!r}); from pathlib import Path; "
        "from clusterwright.providers.lab.home import LabHome; "
        "from clusterwright.providers.lab.lab import Lab; "
        f"lab = Lab(LabHome(Path({str(home.cache)!r}), Path({str(home.state)!r})), 'demo')"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script.replace("{setup}", setup)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_names_of_labs_come_from_their_folders(home: LabHome) -> None:
    assert state.names(home) == []

"""`clusterwright up`, `status` and `destroy` of a cluster on a cloud: the real command on the real engine."""

from __future__ import annotations

import json
import os
import re
import signal
import tarfile
from dataclasses import replace

import pytest

from .somebody import CLOUDY, Operator

pytestmark = pytest.mark.engine


def test_life_of_a_cluster_that_is_killed_interrupted_changed_and_destroyed(operator: Operator) -> None:
    operator.describe(CLOUDY)

    # Killed while a machine is made: the engine lives on to end it and holds the state. Killed as well, its
    # lock is taken away, and `up` goes on. Interrupted, it ends well.
    with operator.held_at("Instance gpu2") as killed:
        killed.kill()
    _, errors = operator.run("up", "cloudy.yaml", code=2)
    [holder] = re.findall(r"CW8080 process (\d+) on ", errors)
    os.kill(int(holder), signal.SIGKILL)
    with operator.held_at("Instance gpu2") as interrupted:
        errors = operator.interrupt(interrupted)
    assert interrupted.returncode == 130
    assert "interrupted: ends what is under way" in errors
    assert "interrupted; `clusterwright up cloudy.yaml` goes on from here" in errors

    # On to the end. Then there is nothing to do.
    output, errors = operator.run("up", "cloudy.yaml", "--roll", "--batch", "2")
    assert "cloudy accepted: 3 nodes" in output
    assert (operator.root / "labs/ROLL").read_text() == "2"
    assert "Instance gpu2: CW8093 warning: was being made when an earlier run was killed" in errors
    assert operator.made("Instance gpu2") == 2, "once by the run that was killed"
    before = operator.deeds
    output, _ = operator.run("up", "cloudy", "--json")
    last = json.loads(output.splitlines()[-1])["outcome"]
    assert (last["ok"], last["accepted"], last["resources"]) == (True, True, {})
    assert operator.deeds == before

    # One node anew, when its jobs have ended: nothing else is touched. Slurm is asked through the door.
    operator.run("node", "replace", "cloudy", "gpu1")
    done = operator.deeds.removeprefix(before).splitlines()
    assert done == [f"{deed} aws:ec2/instance:Instance gpu1" for deed in ("delete", "create")]
    assert re.findall(r"nodename=gpu1 state=(\w+)", operator.door) == ["drain", "down"]
    before = operator.deeds
    output, _ = operator.run("up", "cloudy", "--json")
    assert json.loads(output.splitlines()[-1])["outcome"]["resources"] == {}
    operator.describe(CLOUDY.replace("gpu[1-2]", "gpu[1-3]"))
    _, errors = operator.run("node", "replace", "cloudy", "gpu1", code=2)
    assert "CW8161" in errors
    operator.describe(CLOUDY)
    assert operator.deeds == before
    operator.run("node", "resume", "cloudy", "gpu1")
    assert operator.door.count("state=resume") == 1
    assert operator.run("logs", "cloudy", "gpu1")[0] == "slurmd: the node says this\n"
    operator.run("diagnose", "cloudy", "--out", "why.tar.gz")
    with tarfile.open(operator.root / "why.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"stack/resources.json", "store.txt", "nodes/gpu2/said.txt", "nodes/head/slurm.txt"} <= names

    # Nothing in the clear, and nothing that others may read.
    stack = operator.state / "stack"
    passphrase = (stack / "passphrase").read_text()
    assert [(stack / name).stat().st_mode & 0o077 for name in ("passphrase", "backend")] == [0, 0]
    texts = [file.read_text() for file in (stack / "state").rglob("*.json")]
    assert texts
    assert not [text for text in texts if passphrase in text]

    # What somebody else changed is found.
    (operator.root / "CHANGED").write_text(json.dumps({"Instance gpu1": None}))
    output, _ = operator.run("status", "cloudy", "--drift", code=1)
    assert "drift: Instance gpu1 is gone" in output
    (operator.root / "CHANGED").unlink()

    # Gone, but for what is protected; and that when it is said.
    output, errors = operator.run("destroy", "cloudy", "--yes", code=1)
    assert "kept: Volume head" in output
    assert "Volume head: CW8085" in errors
    output, _ = operator.run("destroy", "cloudy", "--yes", "--unprotect")
    assert "cloudy is gone" in output
    assert not operator.state.exists()


def test_nothing_is_made_for_nodes_whose_packages_cannot_be_had(operator: Operator) -> None:
    """g5.8xlarge has EFA, whose packages are in no repository; nobody listens at that proxy."""
    nowhere = {"https_proxy": "http://127.0.0.1:9", "no_proxy": "localhost,127.0.0.1"}
    cut_off = replace(operator, environment={**operator.environment, **nowhere})
    cut_off.describe(CLOUDY.replace("g5.4xlarge", "g5.8xlarge"))
    _, errors = cut_off.run("up", "cloudy.yaml", code=2)
    assert "CW8295" in errors and "vendor-files" in errors
    assert cut_off.deeds == ""

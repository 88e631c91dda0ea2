"""A Capacity Block's end, from the description to what a real slurmctld starts and what it does not."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clusterwright.bundle.collection import root
from clusterwright.catalog.blocks import block_ends, minutes_early
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.render import ends, render
from clusterwright.spec.load import load

from . import sample
from .daemons import Stage, place, skip_without_cgroup_v1, stage, start_controller, start_node
from .test_daemons import await_words, carrying, playing

PROGRAM = root() / "roles/slurm_controller/files/reserve-ends"


def test_no_job_may_run_ten_minutes_before_amazon_takes_the_machines() -> None:
    handoff = from_plan(plan(load(root() / "clusters" / "aws-p5.yaml").spec))
    [file] = ends.files(handoff)
    assert file.roles == ("controller",)
    row = {"nodes": "gpu-[001-008]", "last": "2026-12-14T10:50:00Z"}  # the block ends at 11:30
    assert json.loads(file.content) == {"gpu": row}
    assert ends.files(replace(handoff, scheduler={**handoff.scheduler, "ends": {}})) == ()


def test_each_family_has_one_sourced_row_and_all_others_one() -> None:
    families = [row.family for row in block_ends()]
    assert len(families) == len(set(families)) and "*" in families
    assert all(row.source and re.fullmatch(r"20\d\d-\d\d-\d\d", row.date) for row in block_ends())
    assert (minutes_early("p5.48xlarge"), minutes_early("p6e-gb200.36xlarge")) == (30, 60)


def say(made: Stage, folder: Path, **lasts: datetime) -> str:
    """The program's words on a file with these times, by pool; its scontrol is the stage's."""
    rows = {pool: {"nodes": "gpu-001", "last": f"{at:%Y-%m-%dT%H:%M:%SZ}"} for pool, at in lasts.items()}
    (folder / "ends.json").write_text(json.dumps(rows))
    scontrol = folder / "scontrol"
    scontrol.write_text(f'#!/bin/sh\nexec {shlex.join(made.inside(("scontrol",)))} "$@"\n')
    scontrol.chmod(0o755)
    argv = [sys.executable, str(PROGRAM), str(folder / "ends.json")]
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


@pytest.mark.slurm
def test_jobs_start_only_where_they_end_in_time(tmp_path: Path) -> None:
    skip_without_cgroup_v1()
    now, handoff = datetime.now(UTC), playing("24.11")
    with stage(carrying("24.11"), handoff, tmp_path, sample.H100) as made:
        place(made, render(handoff))
        start_controller(made, handoff)
        start_node(made, "gpu-001")
        await_words(made, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
        assert say(made, tmp_path, gpu=now + timedelta(hours=2)).startswith("gpu: no job on gpu-001 from ")
        assert say(made, tmp_path, gpu=now + timedelta(hours=2)) == "", "it is there"
        shown = made.run("scontrol", "show", "reservation", "--oneliner")
        assert "ReservationName=clusterwright-ends-gpu" in shown
        assert "MAINT" in shown and "IGNORE_JOBS" in shown
        job = ("srun", "--nodelist=gpu-001", "--immediate=5")
        can = ("srun", "--quiet", "--nodelist=gpu-001", "--immediate=120")
        assert made.run(*can, "--time=60", "hostname") == "gpu-001\n"
        assert "gpu-001\n" not in made.run(*job, "--time=180", "hostname"), "it would not end in time"

        assert "no job on gpu-001" in say(made, tmp_path, gpu=now - timedelta(minutes=1))
        assert "gpu-001\n" not in made.run(*job, "--time=1", "hostname"), "it has begun"
        assert say(made, tmp_path, gpu=now - timedelta(minutes=1)) == ""
        assert say(made, tmp_path, gpu=now + timedelta(hours=5)).startswith("gpu: no job"), (
            "the block was extended"
        )
        assert made.run(*can, "--time=60", "hostname") == "gpu-001\n"
        assert say(made, tmp_path) == "gpu: released\n"
        assert "No reservations" in made.run("scontrol", "show", "reservation")

"""Kernel settings of the host that labs need; the last lab gives back what they were before."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from clusterwright.providers.lab import state
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import write_atomically
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.process import MACHINES, running_machines


@dataclass(frozen=True, slots=True)
class Setting:
    """A number under /proc/sys, and the least that a lab can live with."""

    name: str
    path: Path
    least: int


FORWARDING = Setting("ip_forward", Path("/proc/sys/net/ipv4/ip_forward"), 1)
# Every systemd takes some ten; the usual 128 for all of root's processes end with the twelfth busy node.
INOTIFY_INSTANCES = Setting("inotify_instances", Path("/proc/sys/fs/inotify/max_user_instances"), 4096)


def raise_to_need(home: LabHome, setting: Setting) -> None:
    """Raise the setting where it is too low; the first lab to do so notes what it was."""
    with state.shared_resource(home, "kernel"):
        before = setting.path.read_text()
        if int(before) >= setting.least:
            return
        if not _former(home, setting).exists():
            write_atomically(_former(home, setting), before)
        setting.path.write_text(str(setting.least))


def give_back(home: LabHome) -> None:
    """Make the settings what they were before the first lab, unless somebody else lives with them now.

    Whoever has a bridge on this machine may have come to need what the lab raised. A lab makes its own before
    it looks at the settings, so under their lock none is missed that counts on them. Only a lab in another
    network namespace has its bridge out of sight, and not its nodes.
    """
    with state.shared_resource(home, "kernel"):
        bridges = json.loads(run(["ip", "-json", "link", "show", "type", "bridge"]) or "[]")
        alone = not bridges and not running_machines(MACHINES)
        for setting in (FORWARDING, INOTIFY_INSTANCES):
            former = _former(home, setting)
            if former.exists():
                if alone:
                    setting.path.write_text(former.read_text())
                former.unlink()


def _former(home: LabHome, setting: Setting) -> Path:
    return home.state / f"former_{setting.name}"

"""The only caller of ansible-runner: one playbook, its events as they come, one result per node."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clusterwright.bundle.collection import root
from clusterwright.converge.result import NodeResult, NodeStatus
from clusterwright.event import Event, Report, Status

_FORKS = 64
_PROGRAM = Path(__file__).with_name("ansible_playbook.py")


Hear = Callable[[str, str, Mapping[str, Any]], None]
"""Node, task and result."""


@dataclass
class _Progress:
    """What one node has said so far."""

    tasks: int = 0
    changed: int = 0
    broken: NodeStatus | None = None
    failed_task: str = ""
    message: str = ""

    def result(self) -> NodeResult:
        status: NodeStatus = self.broken or ("changed" if self.changed else "ok")
        return NodeResult(status, self.tasks, self.changed, self.failed_task, self.message)


@dataclass
class Run:
    """One run of one playbook in a private folder."""

    folder: Path
    report: Report
    check: bool = False
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Answers by the prompt, as a pattern; they are never written anywhere."""
    hear: Hear | None = None
    """Told what a task said on a node, beside what it came to."""
    progress: dict[str, _Progress] = field(default_factory=dict)

    def play(
        self, playbook: str, inventory: Path, nodes: Collection[str], extra: Mapping[str, str] | None = None
    ) -> Mapping[str, NodeResult]:
        """Every node gets a result, also one that Ansible never spoke of."""
        import ansible_runner  # a tenth of a second that an `up` with nothing to do is spared

        self.progress = {node: _Progress() for node in nodes}
        arguments = ["--limit", ",".join(sorted(nodes))] + (["--check", "--diff"] if self.check else [])
        arguments += ["--ask-pass", "--ask-become-pass"] if self.passwords else []
        done = ansible_runner.run(
            private_data_dir=str(self.folder),
            project_dir=str(self.folder),
            playbook=playbook,
            inventory=str(inventory),
            forks=min(max(len(nodes), 1), _FORKS),
            extravars=dict(extra or {}),
            cmdline=" ".join(arguments),
            envvars=_environment(self.folder),
            passwords=dict(self.passwords),
            suppress_env_files=bool(self.passwords),
            event_handler=self._on_event,
            quiet=True,
        )
        if done.status == "canceled":  # ansible-runner takes the signal for itself
            raise KeyboardInterrupt
        results = {node: progress.result() for node, progress in self.progress.items()}
        # Without an exit status Ansible was killed, or never began: no news is not good news.
        ended_well = done.status == "successful"
        told = any(result.status in ("failed", "unreachable") for result in results.values())
        if not ended_well and not told:
            message = _last_lines(done)
            results = {node: NodeResult("failed", failed_task=playbook, message=message) for node in nodes}
        return results

    def _on_event(self, event: Mapping[str, Any]) -> bool:
        kind, data = event["event"], event.get("event_data", {})
        progress = self.progress.get(data.get("host", ""))
        if progress is not None and kind in _HANDLED:
            result = data.get("res") or {}
            if self.hear:
                self.hear(data["host"], str(data.get("task", "")), result)
            progress.tasks += 1
            status = _HANDLED[kind]
            if status == "ok" and result.get("changed"):
                progress.changed += 1
                status = "changed"
            elif status in ("failed", "unreachable") and not data.get("ignore_errors"):
                progress.broken = "failed" if status == "failed" else "unreachable"
                progress.failed_task, progress.message = str(data.get("task", "")), _message(result)
            text = f"{data.get('task', '')}{': ' + progress.message if progress.broken else ''}"
            self.report(Event("converge", status, text, data["host"]))
        return True


_HANDLED: Mapping[str, Status] = {
    "runner_on_ok": "ok",
    "runner_on_failed": "failed",
    "runner_on_unreachable": "unreachable",
}


def _environment(folder: Path) -> dict[str, str]:
    """The operator's own Ansible settings never reach a run."""
    return {
        "PATH": f"{folder}/bin:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_PIPELINING": "True",
        # Else every module writes its arguments, whole files among them, to the node's journal.
        "ANSIBLE_NO_TARGET_SYSLOG": "True",
        "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto",
        "ANSIBLE_SSH_RETRIES": "1",
        "ANSIBLE_HOST_KEY_CHECKING": "True",
        "ANSIBLE_TIMEOUT": "10",
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
        # The strategy `free` looks at every host each time: a millisecond, its default, is a core of looking.
        "ANSIBLE_INTERNAL_POLL_INTERVAL": "0.01",
    }


def link_collection(folder: Path) -> None:
    """Make the checkout or the installed package visible to Ansible as `clusterwright.cluster`."""
    (folder / "ansible.cfg").touch()
    ansible = folder / "bin" / "ansible-playbook"
    ansible.parent.mkdir(exist_ok=True)
    program = shlex.join([sys.executable, "-P", str(_PROGRAM)])
    ansible.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    ansible.chmod(0o700)
    place = folder / "collections" / "ansible_collections" / "clusterwright"
    place.mkdir(parents=True, exist_ok=True)
    link = place / "cluster"
    if not link.is_symlink():
        link.symlink_to(root())


_NOTHING_SAID = "non-zero return code"
"""What Ansible says of a command that said itself what was wrong."""


def _message(result: Mapping[str, Any]) -> str:
    told = "" if result.get("msg") == _NOTHING_SAID else result.get("msg")
    said = str(told or result.get("stderr") or result.get("stdout") or result.get("msg") or "").strip()
    return " ".join([said, *map(str, result.get("failures") or ())])  # dnf names there what it does not find


def _last_lines(done: Any) -> str:
    """What ansible-playbook said when it never got as far as a node."""
    with done.stdout as stream:
        lines = [line for line in stream.read().splitlines() if line.strip()]
    return "\n".join(lines[-8:]) or f"ansible-playbook ended with {done.rc}"

"""Push: bring nodes to what they should be, over SSH, with the collection's roles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from clusterwright.bundle.archives import NO_PACKAGES, Packages
from clusterwright.bundle.wanted import Wanted
from clusterwright.converge import inventory
from clusterwright.converge.result import Converged, NodeResult
from clusterwright.converge.runner import Run, link_collection
from clusterwright.converge.target import Target
from clusterwright.event import Report
from clusterwright.handoff import Handoff

Phase = Literal["install", "configure", "all"]
HookPoint = Literal["before-configure", "after-configure", "before-accept"]

_PLAYBOOKS: Mapping[Phase, str] = {
    "install": "clusterwright.cluster.install",
    "configure": "clusterwright.cluster.configure",
    "all": "clusterwright.cluster.site",
}
_HOOK_SCRIPT = "clusterwright.cluster.hook"


def push(
    handoff: Handoff,
    targets: Sequence[Target],
    wanted: Mapping[str, Wanted],
    *,
    run_dir: Path,
    report: Report,
    phase: Phase = "all",
    incomplete: Collection[str] = (),
    keys: Mapping[str, bytes] | None = None,
    packages: Packages = NO_PACKAGES,
    description_folder: Path | None = None,
    check: bool = False,
) -> Converged:
    """Run the roles on `targets`. A node that fails or does not answer stops no other.

    Nothing is skipped: whoever knows that a node is as wanted (`verify`) leaves it out of `targets`.
    With phase `configure`, the `incomplete` among them are installed first; then all are configured together,
    because a new node's daemons ask a controller that has to know the node by then.
    `keys` are secrets by their path on the node, `packages` those that no repository has. Hooks are found
    beside the description.
    """
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    link_collection(run_dir)
    hosts = inventory.write(run_dir, handoff, targets, wanted, keys or {}, packages)
    try:
        run = _Push(handoff, Run(run_dir, report, check), hosts, description_folder)
        run.nodes = {target.name: NodeResult("ok") for target in targets}
        if phase != "install":
            run.hooks("before-configure")
        if phase == "configure":
            run.step(_PLAYBOOKS["install"], among=incomplete)
        run.step(_PLAYBOOKS[phase])
        if phase != "install":
            run.hooks("after-configure")
        return Converged(run.nodes)
    finally:
        inventory.forget_keys(run_dir)


def run_hooks(
    handoff: Handoff,
    targets: Sequence[Target],
    wanted: Mapping[str, Wanted],
    at: HookPoint,
    *,
    run_dir: Path,
    report: Report,
    description_folder: Path,
) -> Converged:
    """Only the hooks of one point, for instance before acceptance."""
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    link_collection(run_dir)
    hosts = inventory.write(run_dir, handoff, targets, wanted, {})
    run = _Push(handoff, Run(run_dir, report), hosts, description_folder)
    run.nodes = {target.name: NodeResult("ok") for target in targets}
    run.hooks(at)
    return Converged(run.nodes)


class _Push:
    """One push: its steps, each on the nodes that came through the ones before."""

    def __init__(self, handoff: Handoff, run: Run, hosts: Path, folder: Path | None) -> None:
        self._handoff = handoff
        self._run = run
        self._hosts = hosts
        self._folder = folder
        self.nodes: dict[str, NodeResult] = {}

    def step(
        self, playbook: str, among: Collection[str] | None = None, extra: Mapping[str, str] | None = None
    ) -> None:
        """On the nodes that came through so far, or on the ones of `among` that did."""
        healthy = [name for name, result in self.nodes.items() if result.status in ("ok", "changed")]
        chosen = healthy if among is None else [name for name in healthy if name in among]
        if chosen:
            for name, result in self._run.play(playbook, self._hosts, chosen, extra).items():
                self.nodes[name] = _sum(self.nodes[name], result)

    def hooks(self, at: HookPoint) -> None:
        for hook in self._handoff.cluster["hooks"]:
            if hook["at"] != at:
                continue
            path = (self._folder or Path.cwd()) / hook["run"]
            among = self._of_pools(hook["pools"])
            if path.suffix == ".sh":
                self.step(_HOOK_SCRIPT, among, {"clusterwright_hook": str(path)})
            else:
                self.step(str(path), among)

    def _of_pools(self, pools: Collection[str]) -> Collection[str] | None:
        """Names of the pools' nodes; a hook that names no pool is for every node."""
        if not pools:
            return None
        known = self._handoff.by_name
        return [name for name in self.nodes if name in known and known[name].pool in pools]


def _sum(before: NodeResult, now: NodeResult) -> NodeResult:
    status = "changed" if now.status == "ok" and before.status == "changed" else now.status
    return NodeResult(
        status, before.tasks + now.tasks, before.changed + now.changed, now.failed_task, now.message
    )

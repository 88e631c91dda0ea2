"""`node replace` on a cloud: these machines are made anew, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.operate.node import DRAIN_SECONDS
from clusterwright.operate.queue import Queue
from clusterwright.operate.stack.changes import Changes, is_of_cloud, node_of, title
from clusterwright.operate.stack.known import Known
from clusterwright.operate.stack.told import members_of
from clusterwright.operate.stack.up import StackOutcome, apply, is_applied, preview
from clusterwright.operate.stack.way import OnCloud
from clusterwright.operate.stack.work import StackWork
from clusterwright.plan.gcp.names import machine_name

if TYPE_CHECKING:
    from clusterwright.providers.engine.steps import Step

_SHOWN = 6


@dataclass(frozen=True)
class Replacement:
    """Of nodes of a stack whose lock is held."""

    work: StackWork
    names: tuple[str, ...]
    disturb: bool
    """Whether jobs on them may be lost."""

    def run(self, report: Report) -> StackOutcome:
        """Jobs end first, then the machines go; each node proves itself and the cluster itself, as at `up`.

        Killed anywhere, run again it goes on. Raises Refused before a job or a machine is touched."""
        self._refuse_other_changes()
        machines = self._machines()
        compute = [name for name in self.names if "compute" in self.work.prepared.handoff.by_name[name].roles]
        queue = self._queue(report) if compute else None
        changes = preview(self.work, report, machines)
        self._refuse_others(changes)
        if queue:
            self._empty(queue, compute, report)
        return apply(self.work, changes, report, machines)

    def _machines(self) -> tuple[str, ...]:
        urns, members = _urns(self.work), members_of(self.work.before)
        if grouped := [
            _one_of_many(name, members[name], self.work.name) for name in self.names if name in members
        ]:
            raise Refused(grouped)
        missing = [name for name in self.names if name not in urns]
        if missing:
            what = f"{', '.join(missing)} has no machine that could be replaced"
            remedy = f"Run `clusterwright up {self.work.name}`: it makes what is missing"
            raise refuse("CW8013", Where(path=missing[0]), what, remedy)
        return tuple(urns[name] for name in self.names)

    def _refuse_other_changes(self) -> None:
        """All nodes are told what the description says: one that nobody applied would reach them unasked."""
        if not is_applied(self.work):
            raise refuse(
                "CW8161",
                Where(str(self.work.source.file)),
                "this is not the description that the cluster was last accepted with",
                f"Run `clusterwright up {self.work.name}` first, or write it as it was",
            )

    def _refuse_others(self, changes: Changes) -> None:
        """Whatever else is no more as it was made would be mended along with it, unasked."""
        others = [title(step.type, step.name) for step in changes.steps if self._is_another(step)]
        if others:
            shown = ", ".join(dict.fromkeys(others[:_SHOWN])) + (" …" if len(others) > _SHOWN else "")
            raise refuse(
                "CW8161",
                Where(path=self.work.name),
                f"something else would change as well: {shown}",
                f"Run `clusterwright up {self.work.name}`, which mends all of it, or name these nodes too",
            )

    def _is_another(self, step: Step) -> bool:
        """What is attached to a machine has its node's name, or ends with it."""
        if not is_of_cloud(step.type):
            return False
        if node := node_of(step.type, step.name, self.work.name):
            return node not in self.names
        return not any(step.name == name or step.name.endswith(f"-{name}") for name in self.names)

    def _queue(self, report: Report) -> Queue | None:
        """None where Slurm cannot be asked, and jobs may be lost."""
        try:
            return OnCloud(Known(self.work.name, self.work.before, self.work.stack)).queue()
        except Refused as refusal:
            if self.disturb:
                report(Event("drain", "skipped", "Slurm cannot be asked; jobs on the nodes end with them"))
                return None
            remedy = "Mend the way in, or add --disturb: then jobs on these nodes end with them"
            raise Refused(
                Finding("CW8162", one.where, f"whether jobs run on them is not known: {one.what}", remedy)
                for one in refusal.findings
            ) from refusal

    def _empty(self, queue: Queue, nodes: list[str], report: Report) -> None:
        """Down when nothing runs there: the machine that comes back registers, and takes jobs again."""
        if not self.disturb:
            queue.hold(nodes, "replaced")
            for name in nodes:
                report(Event("drain", "started", "gets no new jobs", name))
            left = queue.wait_until_empty(
                nodes, DRAIN_SECONDS, lambda words: report(Event("drain", "progress", words))
            )
            if left:
                what, remedy = "jobs still run on it after a week", "End them, or add --disturb"
                raise Refused(Finding("CW8006", Where(path=name), what, remedy) for name in left)
        queue.take_away(nodes)
        for name in nodes:
            report(Event("drain", "ok", "no job is left on it", name))


def _one_of_many(node: str, machine: str, cluster: str) -> Finding:
    what = f"its machine is {machine}, which a group keeps and the stack does not know one by one"
    ends = (
        f"gcloud compute instances delete {machine_name(cluster, node)} --zone {machine.split('/')[3]}"
        if machine.startswith("projects/")
        else f"aws autoscaling terminate-instance-in-auto-scaling-group --instance-id {machine}"
        " --no-should-decrement-desired-capacity"
    )
    remedy = f"Drain it, run `{ends}`, and then `clusterwright up {cluster}`"
    return Finding("CW8153", Where(path=node), what, remedy)


def _urns(work: StackWork) -> Mapping[str, str]:
    named = ((node_of(one.type, one.name, work.name), one.urn) for one in work.before.resources)
    return {node: urn for node, urn in named if node}

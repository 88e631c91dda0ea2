"""The images that the machines of a cluster boot over the network, in the course of a verb's work."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.converge.target import Target
from clusterwright.event import Report
from clusterwright.operate.netboot.build import Images
from clusterwright.operate.netboot.deliver import built, deliver, sweep
from clusterwright.operate.own.trust import Trust
from clusterwright.operate.work import Work
from clusterwright.render.boot import server


def images_of(work: Work) -> Images:
    """None, where machines are of a lab or start from their disks."""
    images = work.prepared.plan.images
    key = Trust(work.home).key.with_suffix(".pub").read_text().strip() if images else ""
    return Images(work.prepared.plan, work.desired, key)


def served(work: Work, targets: Mapping[str, Target], report: Report) -> None:
    """Before scripts name them: on the controller, where that is there."""
    controller = server(work.handoff)
    if controller and controller.name in targets and work.prepared.plan.images:
        deliver(images_of(work), targets[controller.name], report)


def swept(work: Work, report: Report) -> None:
    """When scripts name others: what was there for those before."""
    controller, now = server(work.handoff), built(work.handoff)
    if controller and (now or (work.before and built(work.before))):
        sweep(work.machines.targets(work.handoff)[controller.name], now, report)

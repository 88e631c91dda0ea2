"""Bring running machines to what they should be: verify first, and push only where something differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from clusterwright.bundle.wanted import Image, Wanted
from clusterwright.converge.push import push
from clusterwright.converge.result import NodeResult
from clusterwright.converge.target import Target
from clusterwright.converge.verify import Verified, verify
from clusterwright.event import Event, Report
from clusterwright.finding import Refused, Where, refuse
from clusterwright.operate.desired import Desired
from clusterwright.operate.dropped import dropped


def install(desired: Desired, image: Image, builder: Target, report: Report) -> None:
    """Install everything that a node made from the image may need on a builder."""
    wanted = Wanted(builder.name, image.kind)
    run = desired.home.new_run("bake")
    done = push(
        desired.handoff,
        [builder],
        {builder.name: wanted},
        run_dir=run,
        report=report,
        phase="install",
        keys=desired.lent,
        packages=desired.packages([image.kind], report),
    )
    for result in done.broken.values():
        if gone := dropped(desired.handoff, result.message):
            raise Refused([gone])
        raise refuse(
            "CW8005",
            Where(path="image"),
            f"the image could not be installed: {result.failed_task}: {result.message}",
            f"The whole record is in {run}; run the same command again once it is mended",
        )


def configure(
    desired: Desired,
    targets: Mapping[str, Target],
    report: Report,
    *,
    full: bool,
    seen: Mapping[str, Verified] = MappingProxyType({}),
) -> Mapping[str, NodeResult]:
    """Converge `targets`. With `full`, every task runs on every node; else only where something differs.

    `seen` is what some of them answered just now, and are not asked again.
    """
    known = {name: seen[name] for name in targets if name in seen and not seen[name].unreachable}
    unknown = [target for name, target in targets.items() if name not in known]
    found = {**known, **verify(unknown, desired.wanted)}
    results: dict[str, NodeResult] = {}
    differing: list[str] = []
    for name, node in sorted(found.items()):
        if node.unreachable:
            results[name] = NodeResult("unreachable", message=node.unreachable)
            report(Event("verify", "unreachable", node.unreachable, name))
        elif full or not node.ok:
            differing.append(name)
            if node.applied:
                for drifted in node.drift:
                    report(Event("verify", "progress", drifted, name))
        else:
            results[name] = NodeResult("ok", observed=node.observed)
            report(Event("verify", "ok", "as wanted", name))
    if differing:
        incomplete = _incomplete(found, differing, full)
        done = push(
            desired.handoff,
            [targets[name] for name in differing],
            desired.wanted,
            run_dir=desired.home.new_run("up"),
            report=report,
            phase="all" if incomplete == differing else "configure",
            incomplete=incomplete,
            keys=desired.keys,
            packages=desired.packages([desired.wanted[name].kind for name in incomplete], report),
            description_folder=desired.folder,
        )
        for name, result in done.nodes.items():
            gone = dropped(desired.handoff, result.message) if result.status == "failed" else None
            message = f"{gone.what}. {gone.remedy}" if gone else result.message
            seen_before = found[name]
            drift = seen_before.drift if seen_before.applied else ()
            results[name] = replace(result, message=message, drift=drift, observed=seen_before.observed)
    return results


def _incomplete(found: Mapping[str, Verified], names: Sequence[str], full: bool) -> list[str]:
    """The package manager runs only where a package is missing, or when everything was asked for."""
    return [name for name in names if full or found[name].packages or found[name].loose]

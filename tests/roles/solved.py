"""Nodes of clusters whose software was solved, as the bundle makes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clusterwright.bundle import generated
from clusterwright.bundle.build import Bundle
from clusterwright.bundle.facts import facts
from clusterwright.bundle.role import Facts
from clusterwright.bundle.wanted import Wanted
from clusterwright.finding import Where
from clusterwright.handoff import Handoff, Node, from_plan
from clusterwright.plan import plan
from clusterwright.plan.outline import Outline
from clusterwright.plan.software.asked import asked
from clusterwright.plan.software.solve import answer
from clusterwright.render import render
from clusterwright.spec.load import loads

_KEYS = dict.fromkeys(("/etc/slurm/slurm.key", "/etc/munge/munge.key", "/etc/slurm/jwt_hs256.key"), b"k")
_PROVIDERS = {
    "aws": "{provider: aws, region: us-east-1, zone: us-east-1a}",
    "gcp": "{provider: gcp, project: demo-project, region: us-central1, zone: us-central1-a}",
    "onprem": "{provider: onprem, network: 10.60.0.0/22}",
}
_TEXT = """
cluster: probe
site: {site}
pools:
  controller: {{roles: [controller, login], machine: {small}, {one}}}
  gpu: {{roles: compute, machine: {machine}, {two}, ansible_roles: {roles}}}
software: {{distribution: {distribution}, versions: {versions}, containers: {containers}, mirror: {mirror}}}
{more}
"""
_SMALL = {"aws": "m7i.2xlarge", "gcp": "n2-standard-8", "onprem": "generic-x86-16c"}


@cache
def handoff(
    machine: str,
    distribution: str = "debian-13",
    versions: str = "{}",
    more: str = "",
    provider: str = "onprem",
    containers: bool = False,
    roles: str = "{}",
    mirror: str = "null",
) -> Handoff:
    own = provider == "onprem"
    text = _TEXT.format(
        site=_PROVIDERS[provider],
        small=_SMALL[provider],
        machine=machine,
        one="nodes: ctl1" if own else "count: 1",
        two='nodes: "gpu[1-4]"' if own else "count: 4",
        distribution=distribution,
        versions=versions,
        containers=str(containers).lower(),
        more=more,
        roles=roles,
        mirror=mirror,
    )
    spec = loads(text).spec
    lock = answer(asked(Outline(spec, {}), lambda path: Where(path=path)))
    return from_plan(plan(spec, lock=lock))


def bundle(made: Handoff, vendors_keys: Mapping[str, str] | None = None) -> Bundle:
    texts = {path: f"text of {path}\n" for path in generated.attachments(made)} | dict(vendors_keys or {})
    return Bundle(made, render(made), _KEYS, texts)


def compute(made: Handoff) -> Node:
    return made.with_role("compute")[0]


def wanted(made: Handoff) -> Wanted:
    return bundle(made).wanted(compute(made))


def known(made: Handoff) -> Facts:
    return facts(made, compute(made))


def files(made: Handoff) -> dict[str, str]:
    return {file.path: file.content or "" for file in wanted(made).files}

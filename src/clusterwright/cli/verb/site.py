"""`clusterwright site`: the way between the sites of a rehearsal."""

from __future__ import annotations

import argparse
import json

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FINE

_ABOUT = """Cut a site of a rehearsal off the others, and join them again.

A lab of several sites has a network for each, and this machine is the router between them. Which jobs go on
without the link, and what becomes of the others, is seen there before it happens to a real one."""


def add(verbs: Verbs) -> None:
    parser = verbs.add("site", None, _ABOUT, examples={"clusterwright site cut hybrid-lab amazon": ""})
    actions = Verbs(parser, "what to do")
    cut = actions.add(
        "cut",
        _run_cut,
        "Let nothing pass between a site and the others.\n\n"
        "This machine still reaches the nodes of all sites. `up` leaves it as it is; `site join` ends it.",
        examples={"clusterwright site cut hybrid-lab amazon": ""},
    )
    add_target(cut)
    cut.add_argument("site", metavar="SITE", help="its name in the description")
    join = actions.add(
        "join",
        _run_join,
        "Let everything pass between all sites again.",
        examples={"clusterwright site join hybrid-lab": ""},
    )
    add_target(join)


def _run_cut(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.sites import cut

    others = cut(Cluster.named(arguments.cluster), arguments.site)
    _show({"cut": [arguments.site], "from": list(others)}, as_json=arguments.json)
    return FINE


def _run_join(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.sites import join

    _show({"joined": list(join(Cluster.named(arguments.cluster)))}, as_json=arguments.json)
    return FINE


def _show(done: dict[str, list[str]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(done))
    else:
        print(", ".join(f"{what} {' and '.join(sites)}" for what, sites in done.items()))

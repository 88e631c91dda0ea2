"""The whole command line, put together from its verbs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches

from clusterwright import __version__
from clusterwright.cli.arguments import Verbs, add_json, teach
from clusterwright.cli.verb import (
    accept,
    backup,
    bmc,
    bootstrap,
    bundle,
    cabling,
    completion,
    destroy,
    diagnose,
    diff,
    explain,
    image,
    init,
    inventory,
    leaks,
    list,
    lock,
    logs,
    machines,
    node,
    plan,
    provision,
    racks,
    render,
    site,
    ssh,
    status,
    survey,
    up,
    validate,
    verify,
)

_DESCRIBE = (init, inventory, machines, validate, lock, plan, racks, cabling, render, bundle, diff, explain)
_OPERATE = (
    survey,
    bootstrap,
    bmc,
    provision,
    up,
    status,
    accept,
    verify,
    ssh,
    logs,
    node,
    site,
    backup,
    diagnose,
    destroy,
)
_REST = (leaks, list, image, completion)
_ABOUT = """One description of a GPU cluster in, a proven Slurm cluster out."""
_EPILOG = """begin here:
  clusterwright init lab.yaml             write a description to start from
  clusterwright plan lab.yaml             see what it would become
  clusterwright up lab.yaml               make it on this machine, as a lab of real systemd nodes
  clusterwright ssh lab -- sinfo          use it
  clusterwright VERB --help               what a verb does, with examples

Wherever CLUSTER stands, give a cluster's name or its description file.
exit codes: 0 fine, 1 work failed or a bug in clusterwright, 2 a mistake in what was given
"""


class _Parser(argparse.ArgumentParser):
    """An argparse that knows the nearest word."""

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = get_close_matches(str(value), known, n=1)
        words = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(known)}"
        raise argparse.ArgumentError(action, f"'{value}' is unknown; {words}")


def build() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="clusterwright",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clusterwright {__version__}")
    add_json(parser)
    parser.set_defaults(run=teach(parser), resumes=False, takes_command=False)
    verbs = Verbs(parser, "verbs")
    for verb in (*_DESCRIBE, *_OPERATE, *_REST):
        verb.add(verbs)
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Words in, arguments out. `json` is always there, wherever `--json` stood, and so is `command`."""
    end = words.index("--") if "--" in words else len(words)
    parser = build()
    arguments = parser.parse_args(words[:end])
    arguments.json = getattr(arguments, "json", False)
    arguments.command = words[end + 1 :]
    if arguments.command and not arguments.takes_command:
        parser.error(f"this verb runs no command: {' '.join(words[end:])}")
    return arguments

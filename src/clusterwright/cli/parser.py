"""The whole command line, put together from its verbs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from clusterwright import __version__
from clusterwright.cli.arguments import Verbs, add_json, teach
from clusterwright.cli.verb import completion, explain, init, list, plan, render, validate

_VERBS = (init, validate, plan, render, explain, list, completion)
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


def build() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clusterwright",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clusterwright {__version__}")
    add_json(parser)
    parser.set_defaults(run=teach(parser), resumes=False)
    verbs = Verbs(parser, "verbs")
    for verb in _VERBS:
        verb.add(verbs)
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Words in, arguments out. `json` is always there, wherever `--json` stood."""
    arguments = build().parse_args(words, argparse.Namespace())
    arguments.json = getattr(arguments, "json", False)
    return arguments

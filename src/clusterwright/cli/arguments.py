"""How a verb joins the command line: its words, its examples and what runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    Subparsers = Any

Run = Callable[[argparse.Namespace], int]


class Verbs:
    """Verbs of one parser; `node` has verbs of its own."""

    def __init__(self, parser: argparse.ArgumentParser, title: str) -> None:
        self.parser = parser
        self._subparsers: Subparsers = parser.add_subparsers(
            title=title, metavar="VERB", dest=argparse.SUPPRESS
        )

    def add(
        self,
        name: str,
        run: Run | None,
        about: str,
        *,
        examples: Mapping[str, str],
        resumes: bool = False,
        takes_command: bool = False,
    ) -> argparse.ArgumentParser:
        """`about`: its first line is the one in the list of verbs. `resumes`: run again, it goes on.

        `takes_command`: what follows `--` is a command of the user's.
        """
        summary = about.partition("\n")[0]
        parser = self._subparsers.add_parser(
            name,
            help=summary.rstrip("."),
            description=about,
            epilog=_written(examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if run is not None:
            add_json(parser)
        parser.set_defaults(run=run or teach(parser), resumes=resumes, takes_command=takes_command)
        return parser


def teach(parser: argparse.ArgumentParser) -> Run:
    """For a verb that needs another word: say which there are."""

    def run(_: argparse.Namespace) -> int:
        parser.print_help(sys.stderr)
        return 2

    return run


def _written(examples: Mapping[str, str]) -> str:
    """A command and what it is for, in two columns."""
    width = max(map(len, examples))
    lines = (f"  {command:<{width}}   {purpose}".rstrip() for command, purpose in examples.items())
    return "\n".join(["examples:", *lines])


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,
        help="print JSON; long work prints an object a line",
    )


def add_target(parser: argparse.ArgumentParser, metavar: str = "CLUSTER", nargs: str | None = None) -> None:
    """The cluster that a verb is about."""
    words = "the cluster's name or its description file"
    if nargs is None:
        parser.add_argument("cluster", metavar=metavar, help=words)
    else:
        parser.add_argument("cluster", metavar=metavar, help=words, nargs=nargs)


def add_rehearsal(parser: argparse.ArgumentParser) -> None:
    """`--lab` and `--nodes`: any description, played in the lab at a smaller size."""
    parser.add_argument(
        "--lab",
        action="store_true",
        help="rehearse it in the lab, whatever its provider: each node simulates its machine type",
    )
    parser.add_argument(
        "--nodes",
        metavar="POOL=COUNT",
        action="append",
        default=[],
        help="with --lab: how many nodes of a pool (default: 2 of each compute pool, 1 of the others)",
    )


def add_rolling(parser: argparse.ArgumentParser) -> None:
    """`--roll` and how, and `--rebuild`."""
    add = parser.add_argument
    add("--roll", action="store_true", help="what disturbs jobs waits for them, one node after another")
    add("--batch", metavar="N", type=int, help="with --roll: N nodes of a pool at a time, after its first")
    add("--wait", metavar="TIME", help="with --roll: how long jobs may take to end (default: as they may)")
    add("--failures", metavar="N", type=int, help="with --roll: go on until more than N nodes failed")
    add(
        "--rebuild",
        metavar="POOL",
        action="append",
        default=[],
        help="make this pool's nodes anew where a version would have to go down",
    )

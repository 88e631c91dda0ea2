"""`clusterwright completion`: completion for the shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

_ABOUT = """Print completion for a shell.

Load it once from the shell's start file, or place it where the shell looks for completions."""

_FILES = ("FILE", "CLUSTER", "OLD", "NEW")
_FOLDERS = ("DIR",)


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "completion",
        run,
        _ABOUT,
        examples={
            'eval "$(clusterwright completion bash)"': "in ~/.bashrc",
            "clusterwright completion zsh > ~/.zfunc/_clusterwright": "once, for zsh",
        },
    )
    parser.set_defaults(whole=verbs.parser)
    parser.add_argument("shell", choices=["bash", "zsh", "tcsh"], help="which shell")


def run(arguments: argparse.Namespace) -> int:
    import shtab

    places = {**dict.fromkeys(_FILES, shtab.FILE), **dict.fromkeys(_FOLDERS, shtab.DIRECTORY)}
    for action in _actions(arguments.whole):
        if action.metavar in places:
            # shtab reads an attribute that argparse's own type does not have.
            action.complete = places[action.metavar]  # type: ignore[attr-defined]  # shtab reads it
    print(shtab.complete(arguments.whole, arguments.shell))
    return FINE


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _actions(child)

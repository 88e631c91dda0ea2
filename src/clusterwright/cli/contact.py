"""Options of the verbs that reach own machines before clusterwright was let in."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.finding import Where, refuse

if TYPE_CHECKING:
    from clusterwright.operate.own.batches import Batches
    from clusterwright.operate.own.contact import Contact


def add_contact(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--user", metavar="USER", default="root", help="who may log in there now (default root)")
    add("--port", metavar="PORT", type=int, default=22, help="of their SSH servers (default 22)")
    add("--identity", metavar="KEY", help="private key that opens them")
    add("--ask-password", action="store_true", help="ask for USER's password")
    add("--password-file", metavar="FILE", help="its first line; readable for you alone, or /dev/fd/N")
    add("--ask-become-password", action="store_true", help="ask for sudo's, where it is another one")
    add("--become-password-file", metavar="FILE", help="the same for sudo's")
    add(
        "--known-hosts",
        metavar="FILE",
        action="append",
        default=[],
        help="host keys that you vouch for (default: your own ~/.ssh/known_hosts)",
    )
    add("--accept-new", action="store_true", help="take the host keys that machines show, and note them")


def add_batches(parser: argparse.ArgumentParser) -> None:
    """`--serial` and `--max-fail-percentage`."""
    add = parser.add_argument
    add("--serial", metavar="N", default="64", help="machines at a time, a number or N%% of all (default 64)")
    add(
        "--max-fail-percentage",
        metavar="P",
        type=float,
        default=25.0,
        help="begin no other batch once more than P percent of one failed (default 25)",
    )


def batches(arguments: argparse.Namespace) -> Batches:
    from clusterwright.operate.own.batches import Batches

    return Batches(arguments.serial, arguments.max_fail_percentage)


def contact(arguments: argparse.Namespace) -> Contact:
    from clusterwright.operate.own.contact import Contact

    own = Path.home() / ".ssh" / "known_hosts"
    files = [Path(file).absolute() for file in arguments.known_hosts] or ([own] if own.exists() else [])
    who = f"{arguments.user}'s password: "
    return Contact(
        user=arguments.user,
        port=arguments.port,
        key=Path(arguments.identity).expanduser().absolute() if arguments.identity else None,
        password=_secret(arguments.password_file, "--ask-password" if arguments.ask_password else "", who),
        become_password=_secret(
            arguments.become_password_file,
            "--ask-become-password" if arguments.ask_become_password else "",
            "sudo's password: ",
        ),
        known_hosts=tuple(files),
        accept_new=arguments.accept_new,
    )


def _secret(file: str | None, option: str, prompt: str) -> str:
    from clusterwright.operate.own.contact import secret_in

    if file:
        return secret_in(file)
    if not option:
        return ""
    if not sys.stdin.isatty():
        what, remedy = "nobody is here to be asked", "Give a file, or /dev/fd/N of a pipe, instead"
        raise refuse("CW8185", Where(path=option), what, remedy)
    return getpass.getpass(prompt)

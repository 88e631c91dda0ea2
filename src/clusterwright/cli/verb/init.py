"""`clusterwright init`: a description to start from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE
from clusterwright.finding import Where, refuse

_ABOUT = """Write a description to start from.

The file is commented, validates as it is, and is yours to edit."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "init",
        run,
        _ABOUT,
        examples={
            "clusterwright init": "write cluster.yaml for a lab on this machine",
            "clusterwright init --list": "see what templates there are",
            "clusterwright init --template onprem-racks racks.yaml": "",
            "clusterwright init --template aws-p5 -": "print it",
            "clusterwright init --from-slurm /etc/slurm/slurm.conf site.yaml": "own machines",
        },
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="cluster.yaml",
        help="file to write, `-` to print it (default: cluster.yaml)",
    )
    parser.add_argument("--template", default="lab", help="which one (default: lab)")
    parser.add_argument(
        "--from-slurm",
        metavar="CONF",
        help="begin with the nodes, partitions and settings of a slurm.conf; what cannot be said is named",
    )
    parser.add_argument("--list", action="store_true", help="list the templates and what they are for")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it is there")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.spec.init import template, templates

    if arguments.list:
        _list(templates(), as_json=arguments.json)
        return FINE
    text = _from_slurm(arguments) if arguments.from_slurm else template(arguments.template)
    if arguments.file == "-":
        print(text, end="")
        return FINE
    _write(Path(arguments.file), text, force=arguments.force)
    if arguments.json:
        begun = "from_slurm" if arguments.from_slurm else "template"
        print(json.dumps({"file": arguments.file, begun: getattr(arguments, begun)}))
    else:
        print(f"wrote {arguments.file}; look at what it becomes with `clusterwright plan {arguments.file}`")
    return FINE


def _from_slurm(arguments: argparse.Namespace) -> str:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.operate.own.from_slurm import from_slurm

    begun = from_slurm(Path(arguments.from_slurm))
    show(begun.findings, as_json=arguments.json, stream=True)
    return begun.text


def _list(known: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(known, indent=1))
        return
    width = max(map(len, known))
    for name, about in known.items():
        print(f"{name:<{width}}  {about}")


def _write(file: Path, text: str, *, force: bool) -> None:
    try:
        with file.open("w" if force else "x") as stream:
            stream.write(text)
    except FileExistsError:
        remedy = "Name another file, or overwrite it with --force"
        raise refuse("CW9002", Where(str(file)), "the file is there already", remedy) from None
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise refuse("CW9003", Where(str(file)), what, "Name a file that you may write") from error

"""`clusterwright image`: what labs were baked to, and room for others."""

from __future__ import annotations

import argparse
import json
from datetime import datetime

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

_ABOUT = """List and remove the images that labs are made from.

Each change of what is installed bakes another one of about 1 GB. An image that was removed is baked
again when a lab needs it."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "image", None, _ABOUT, examples={"clusterwright image remove --unused": "all that no lab stands on"}
    )
    actions = Verbs(parser, "what to do")
    actions.add(
        "list",
        _run_list,
        "List images, those that no lab stands on first.",
        examples={"clusterwright image list": "", "clusterwright image list --json": "for a program"},
    )
    removing = actions.add(
        "remove",
        _run_remove,
        "Remove images.\n\nNever one that nodes of a lab stand on.",
        resumes=True,
        examples={
            "clusterwright image remove 41e4fe1f0eae5e0b": "",
            "clusterwright image remove --unused": "",
        },
    )
    which = removing.add_mutually_exclusive_group(required=True)
    which.add_argument("digests", metavar="DIGEST", nargs="*", default=[], help="as `image list` has it")
    which.add_argument("--unused", action="store_true", help="all that no lab stands on")


def _run_list(arguments: argparse.Namespace) -> int:
    from clusterwright.providers.lab.home import LabHome
    from clusterwright.providers.lab.stock import stock

    found = stock(LabHome.of_user())
    if arguments.json:
        rows = [
            {"digest": image.digest, "size": image.size, "baked": int(image.baked), "labs": list(image.labs)}
            for image in found
        ]
        print(json.dumps(rows, indent=1))
        return FINE
    for image in found:
        baked = datetime.fromtimestamp(image.baked).strftime("%Y-%m-%d %H:%M")
        print(f"{image.digest}  {image.size / 1e6:6.0f} MB  {baked}  {', '.join(image.labs) or 'unused'}")
    print(f"{len(found)} images, {sum(image.size for image in found) / 1e6:.0f} MB")
    return FINE


def _run_remove(arguments: argparse.Namespace) -> int:
    from clusterwright.providers.lab.home import LabHome
    from clusterwright.providers.lab.stock import remove, stock

    home = LabHome.of_user()
    known = {image.digest: image for image in stock(home)}
    unused = [digest for digest, image in known.items() if not image.labs]
    digests = unused if arguments.unused else arguments.digests
    remove(home, digests)
    freed = sum(known[digest].size for digest in set(digests))
    if arguments.json:
        print(json.dumps({"removed": sorted(set(digests)), "freed": freed}))
    else:
        print(f"{len(set(digests))} images removed, {freed / 1e6:.0f} MB free again")
    return FINE

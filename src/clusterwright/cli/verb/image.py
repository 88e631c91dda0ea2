"""`clusterwright image`: what labs and machines of clouds are made from, and room for others."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.operate.built import CloudImages
    from clusterwright.operate.netboot.stock import Stocked as StockedForNetwork

_ABOUT = """Build, list and remove the images that labs, and machines of clouds, are made from.

Each change of what is installed makes another one. A lab's are on this machine, about 1 GB each, and
what was removed is baked again when a lab needs it; so are those that own machines boot over their
network. A cloud's are found by the tag or label that names what went into them; `--of FILE` says which
cloud."""

_BUILDS = """Build what the nodes of a description are made from.

A lab's image is baked on this machine, and so is one that own machines boot over their network: with a
kernel, an initramfs and this cluster's login; `up` brings it to their controller. In a cloud a machine
installs everything, seals itself and is copied; then it goes. Pools with `image: built` are made from it."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "image", None, _ABOUT, examples={"clusterwright image remove --unused": "all that no lab stands on"}
    )
    actions = Verbs(parser, "what to do")
    building = actions.add(
        "build",
        _run_build,
        _BUILDS,
        resumes=True,
        examples={"clusterwright image build clusters/aws-p5.yaml": ""},
    )
    building.add_argument("file", metavar="FILE", help="the description")
    actions.add(
        "list",
        _run_list,
        "List images, those that nothing stands on first.",
        examples={
            "clusterwright image list": "of labs",
            "clusterwright image list --of clusters/aws-p5.yaml": "in its region",
            "clusterwright image list --json": "for a program",
        },
    ).add_argument("--of", metavar="FILE", help="a description: the images in its cloud")
    removing = actions.add(
        "remove",
        _run_remove,
        "Remove images.\n\nNever one that nodes of a lab, or machines of a cloud, stand on.",
        resumes=True,
        examples={
            "clusterwright image remove 41e4fe1f0eae5e0b": "",
            "clusterwright image remove --unused": "",
            "clusterwright image remove --of clusters/aws-p5.yaml --unused": "but what it wants now",
        },
    )
    removing.add_argument("--of", metavar="FILE", help="a description: the images in its cloud")
    which = removing.add_mutually_exclusive_group(required=True)
    which.add_argument("digests", metavar="DIGEST", nargs="*", default=[], help="as `image list` has it")
    which.add_argument("--unused", action="store_true", help="all that nothing stands on")


def _run_build(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.built import cloud_images
    from clusterwright.operate.netboot.images import images_of
    from clusterwright.operate.source import Source
    from clusterwright.operate.work import begun

    source = Source(Path(arguments.file))
    cloud = cloud_images(source)
    with progress(as_json=arguments.json) as report:
        if cloud:
            from clusterwright.operate.stack.images import build

            name, made = cloud.cluster, build(source, cloud, report)
        else:
            with begun(source) as work:
                name = work.handoff.name
                made = images_of(work).build(report) or work.bake(set(work.handoff.by_name), report)
    if arguments.json:
        print(json.dumps({"outcome": {"cluster": name, "ok": True, "built": list(made)}}))
    else:
        print("\n".join(f"{digest}  built" for digest in made) or "every image is there already")
    return FINE


def _run_list(arguments: argparse.Namespace) -> int:
    if cloud := _cloud(arguments):
        return _list_built(cloud, as_json=arguments.json)
    from clusterwright.operate.netboot.stock import stock as stock_for_network
    from clusterwright.providers.lab.home import LabHome
    from clusterwright.providers.lab.stock import stock

    found, booted = stock(LabHome.of_user()), stock_for_network(LabHome.of_user())
    if arguments.json:
        rows = [
            {"digest": image.digest, "size": image.size, "baked": int(image.baked), "labs": list(image.labs)}
            for image in found
        ]
        print(json.dumps(rows + [_booted_row(image) for image in booted], indent=1))
        return FINE
    for image in found:
        baked = datetime.fromtimestamp(image.baked).strftime("%Y-%m-%d %H:%M")
        print(f"{image.digest}  {image.size / 1e6:6.0f} MB  {baked}  {', '.join(image.labs) or 'unused'}")
    for one in booted:
        row, made = one.manifest, datetime.fromtimestamp(one.manifest.built).strftime("%Y-%m-%d %H:%M")
        words = f"{'booted' if one.used else 'unused'}, {row.image} of {row.cluster}"
        print(f"{row.digest}  {one.size / 1e6:6.0f} MB  {made}  {words}")
    sizes = [*(image.size for image in found), *(one.size for one in booted)]
    print(f"{len(sizes)} images, {sum(sizes) / 1e6:.0f} MB")
    return FINE


def _run_remove(arguments: argparse.Namespace) -> int:
    if cloud := _cloud(arguments):
        return _remove_built(cloud, arguments)
    from clusterwright.operate.netboot import stock as network
    from clusterwright.providers.lab.home import LabHome
    from clusterwright.providers.lab.stock import remove, stock

    home = LabHome.of_user()
    labs, booted = stock(home), network.stock(home)
    sizes = {image.digest: image.size for image in labs} | {row.manifest.digest: row.size for row in booted}
    unused = [image.digest for image in labs if not image.labs]
    unused += [row.manifest.digest for row in booted if not row.used]
    digests = unused if arguments.unused else arguments.digests
    of_network = {row.manifest.digest for row in booted} & {*digests}
    network.refuse_used(booted, of_network)
    remove(home, {*digests} - of_network)
    network.remove(home, of_network)
    freed = sum(sizes[digest] for digest in set(digests))
    if arguments.json:
        print(json.dumps({"removed": sorted(set(digests)), "freed": freed}))
    else:
        print(f"{len(set(digests))} images removed, {freed / 1e6:.0f} MB free again")
    return FINE


def _booted_row(image: StockedForNetwork) -> dict[str, object]:
    row = image.manifest
    labels = {"digest": row.digest, "size": image.size, "baked": row.built, "labs": []}
    return {**labels, "image": row.image, "cluster": row.cluster, "kernel": row.kernel, "booted": image.used}


def _cloud(arguments: argparse.Namespace) -> CloudImages | None:
    if not arguments.of:
        return None
    from clusterwright.operate.built import cloud_images
    from clusterwright.operate.source import Source

    return cloud_images(Source(Path(arguments.of)))


def _list_built(cloud: CloudImages, *, as_json: bool) -> int:
    found = cloud.stock.known()
    missing = [digest for digest in cloud.wanted if digest not in {image.digest for image in found}]
    if as_json:
        rows = [{**asdict(image), "wanted": image.digest in cloud.wanted} for image in found]
        print(json.dumps({"images": rows, "missing": missing}, indent=1, sort_keys=True))
        return FINE
    for image in found:
        state = "wanted" if image.digest in cloud.wanted else "not wanted"
        state = state if image.ready else "not ready"
        used = f"{len(image.machines)} machines" if image.machines else "unused"
        print(f"{image.digest}  {image.gib:4} GiB  {image.made[:16]}  {state}, {used}  {image.name}")
    for digest in missing:
        print(f"{digest}  not there: `clusterwright image build` makes it")
    return FINE


def _remove_built(cloud: CloudImages, arguments: argparse.Namespace) -> int:
    from clusterwright.providers.built import remove

    unused = [
        image.digest
        for image in (cloud.stock.known() if arguments.unused else ())
        if not image.machines and image.digest not in cloud.wanted
    ]
    gone = remove(cloud.stock, unused if arguments.unused else arguments.digests)
    if arguments.json:
        print(json.dumps({"removed": [image.digest for image in gone]}))
    else:
        print(f"{len(gone)} images removed, {sum(image.gib for image in gone)} GiB")
    return FINE

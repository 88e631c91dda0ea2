"""`clusterwright machines`: which machine types there are."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.catalog.choice import Wish

_ABOUT = """Find a machine type for a pool.

Every type that the catalog knows, or those that fit what is asked for: the cheapest GPU first. Prices are
those of the machine alone, without disks, traffic and taxes, at the date that stands beside them. With a
MACHINE: all that is known of it, and which interface goes on which of its network cards."""
_PROVIDERS = ("aws", "gcp", "onprem", "lab")


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "machines",
        run,
        _ABOUT,
        examples={
            "clusterwright machines --gpu H100 --fabric 3200": "types for large training jobs",
            "clusterwright machines --gpu H200 --region us-east-2": "sold in that region",
            "clusterwright machines --gpus 8 --max-price 20": "eight GPUs or more, at most $20 an hour",
            "clusterwright machines p5.48xlarge": "its cards, interfaces, disks, prices and zones",
        },
    )
    parser.add_argument("machine", metavar="MACHINE", nargs="?", help="a machine type, to see all of it")
    parser.add_argument("--provider", choices=_PROVIDERS, help="only of this provider")
    parser.add_argument("--gpu", metavar="NAME", help="its GPU, for instance H100, or 'A100 80GB'")
    parser.add_argument("--gpus", metavar="N", type=int, help="at least so many GPUs in one machine")
    parser.add_argument("--fabric", metavar="GBPS", type=int, help="at least so many Gbit/s between machines")
    parser.add_argument("--region", metavar="REGION", help="sold in this region")
    parser.add_argument(
        "--max-price", metavar="USD", type=float, help="at most so much for a machine and hour"
    )


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.catalog.machines import catalog

    if arguments.machine:
        return _one(arguments)
    from clusterwright.catalog.choice import choose
    from clusterwright.cli.terminal import machine_table

    wish = _wish(arguments)
    choice = choose(catalog(), wish)
    if arguments.json:
        print(json.dumps([machine_table.as_json(one) for one in choice.fitting], indent=1))
    else:
        machine_table.print_choice(choice)
    return FINE


def _one(arguments: argparse.Namespace) -> int:
    from clusterwright.catalog.machines import catalog
    from clusterwright.cli.terminal import machine_sheet
    from clusterwright.finding import Where, refuse

    kind = catalog().types.get(arguments.machine)
    if kind is None:
        near = (
            ", ".join(catalog().nearest(arguments.machine)) or "run `clusterwright machines` for all of them"
        )
        where, remedy = Where(path=arguments.machine), f"Nearest: {near}"
        raise refuse("CW9008", where, f"no machine type '{arguments.machine}' is known", remedy)
    if arguments.json:
        print(json.dumps(machine_sheet.as_json(catalog(), kind), indent=1))
    else:
        machine_sheet.print_sheet(catalog(), kind)
    return FINE


def _wish(arguments: argparse.Namespace) -> Wish:
    """What was asked for. A name that no row knows is a slip, not a wish that nothing fits."""
    from difflib import get_close_matches

    from clusterwright.catalog.choice import Wish, gpu_names, names_gpu, regions
    from clusterwright.catalog.machines import catalog
    from clusterwright.finding import Where, refuse

    gpu, region = arguments.gpu, arguments.region
    if gpu and not any(names_gpu(gpu, catalog(), kind) for kind in catalog().types.values()):
        remedy = f"There are: {', '.join(gpu_names(catalog()))}"
        raise refuse("CW9009", Where(path=f"--gpu {gpu}"), f"no machine type has a GPU '{gpu}'", remedy)
    if region and region not in regions(catalog()):
        near = get_close_matches(region, sorted(regions(catalog())), n=3)
        remedy = (
            f"Nearest: {', '.join(near)}" if near else "Write it as its cloud does, for instance us-east-2"
        )
        raise refuse(
            "CW9010", Where(path=f"--region {region}"), f"no row tells of a region '{region}'", remedy
        )
    return Wish(arguments.provider, gpu, arguments.gpus, arguments.fabric, region, arguments.max_price)

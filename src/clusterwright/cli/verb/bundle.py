"""`clusterwright bundle`: everything that a site without a way out needs, in one folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.operate.offline.collect import Collected

_ABOUT = """Collect every package of a cluster for a site that reaches nothing else.

Packages of the lock and of the roles with all that they depend on, from the distribution and the
vendors, and Python's wheels, in one folder that any web server can serve: checked against the
vendors' keys, signed with yours, with the SHA-256 of everything. What is there already is not
fetched again. Says at the end what the description needs."""
_SERVER = "http://MIRROR"


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "bundle",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright bundle aws-p5.yaml --offline --out site": "site/DIGEST is the bundle",
            "clusterwright bundle aws-p5.yaml --offline --out site --key me@example.com": "signed with this",
            "clusterwright bundle --lab aws-p5.yaml --offline --out site": "with simulated vendors' packages",
        },
    )
    add_target(parser)
    parser.add_argument(
        "--offline", action="store_true", required=True, help="for a site without a way out; the one kind yet"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="folder to collect in")
    parser.add_argument(
        "--key",
        metavar="KEY",
        help="a name in your gpg keyring, or the file of a secret key (default: the first of the keyring)",
    )
    parser.add_argument(
        "--from",
        metavar="URL",
        dest="origin",
        help="where the distribution's packages come from (default: where this machine has them from)",
    )
    parser.add_argument(
        "--from-security",
        metavar="URL",
        dest="security",
        help="where its security updates come from (default without --from: where this machine has them)",
    )
    parser.add_argument(
        "--from-key",
        metavar="FILE",
        type=Path,
        help="the public key of --from and --from-security, where it is not the distribution's own",
    )
    parser.add_argument(
        "--url", metavar="URL", default=_SERVER, help="where DIR will be served, for what is said at the end"
    )
    parser.add_argument("--no-wheels", action="store_true", help="leave Python's wheels out")
    add_rehearsal(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import source
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.offline.collect import Wishes, collect
    from clusterwright.operate.offline.subject import subject
    from clusterwright.operate.prepare import described
    from clusterwright.plan.software import beside

    wanted = source(arguments.cluster, arguments)
    about = subject(described(wanted), str(beside(wanted.file)))
    wishes = Wishes(
        out=Path(arguments.out),
        key=arguments.key,
        mirror=arguments.origin,
        security=arguments.security,
        mirror_key=arguments.from_key,
        wheels=not arguments.no_wheels,
    )
    with progress(as_json=arguments.json) as report:
        collected = collect(about, wishes, report)
    _show(collected, f"{arguments.url.rstrip('/')}/{collected.folder.name}", as_json=arguments.json)
    return FAILED if collected.findings else FINE


def _show(collected: Collected, url: str, *, as_json: bool) -> None:
    from clusterwright.cli.terminal.findings import show

    lines = _lines(collected, url)
    if as_json:
        body = {
            "folder": str(collected.folder),
            "files": collected.files,
            "size": collected.size,
            "description": lines,
            "findings": [finding.as_json() for finding in collected.findings],
        }
        print(json.dumps(body))
        return
    show(collected.findings, as_json=False)
    incomplete = ", not complete" if collected.findings else ""
    print(f"{collected.folder}: {collected.files} files, {collected.size / 1e6:.0f} MB{incomplete}")
    copied = f", with {collected.folder}/key.asc copied beside it" if collected.mirrored else ""
    print(f"In the description{copied}:\n")
    print("\n".join(lines))


def _lines(collected: Collected, url: str) -> list[str]:
    """For the description."""
    lines = ["surroundings:", f"  package_mirror: {url}/distribution"]
    if collected.secured:
        lines.append(f"  security_mirror: {url}/security")
    if collected.mirrored or collected.images:
        lines.append("software:")
    if collected.mirrored:
        lines.append(f"  mirror: {{url: '{url}', key: key.asc}}")
    if collected.images:
        lines.append(f"  image_source: {url}/images@{collected.images}")
    return lines

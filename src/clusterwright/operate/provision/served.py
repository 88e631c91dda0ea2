"""Whether the controller has each machine start what the description says, before any is switched."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from clusterwright.finding import Finding, Where
from clusterwright.handoff import Node
from clusterwright.operate.netboot.heard import UNITS
from clusterwright.operate.own.site import OwnSite
from clusterwright.operate.remote import NO_ANSWER, run_on
from clusterwright.render.boot import ROOT, script_of, server
from clusterwright.spec.nodeset import fold
from clusterwright.spec.pool import BUILT

_NOT_SERVED = 9
_RUNNING = " && ".join(f"systemctl --quiet is-active {unit}" for unit in UNITS)
_LISTED = (
    f"{{ {_RUNNING}; }} || exit {_NOT_SERVED}; cd {ROOT}; "
    "{ sha256sum nodes/*.ipxe; ls -d images/*.ipxe images/*/root.squashfs; } 2>/dev/null; true"
)
_UP = "Run `clusterwright up FILE --no-accept` first"


def unserved(site: OwnSite, nodes: Sequence[Node]) -> Iterator[Finding]:
    """What is missing there. Findings of machines that lack the same are one."""
    controller = server(site.handoff)
    if controller is None or not nodes:
        return
    said = run_on(site.targets[controller.name], _LISTED)
    if said.code:
        yield _silent(controller.name) if said.code == NO_ANSWER else _idle(controller.name)
        return
    listed = [line.split() for line in said.output.splitlines()]
    scripts = {words[1]: words[0] for words in listed if len(words) == 2}
    images = {words[0] for words in listed if len(words) == 1}
    lacks: dict[str, list[str]] = {}
    for node, path, digest in _scripts(site, nodes):
        if scripts.get(path) != digest:
            words = "another script than the description's" if path in scripts else "no script"
            lacks.setdefault(f"{controller.name} has {words} for it", []).append(node.name)
        elif (image := _image(site.image(node))) not in images:
            lacks.setdefault(f"{ROOT}/{image} is not on {controller.name}", []).append(node.name)
    for what, names in lacks.items():
        yield Finding("CW8302", Where(path=fold(names)), what, _UP)


def _silent(controller: str) -> Finding:
    what = "does not let clusterwright in, and is what machines boot from"
    remedy = f"Run `clusterwright bootstrap FILE {controller}`, then `clusterwright up FILE --no-accept`"
    return Finding("CW8301", Where(path=controller), what, remedy)


def _idle(controller: str) -> Finding:
    return Finding("CW8301", Where(path=controller), f"{' and '.join(UNITS)} do not both run there", _UP)


def _scripts(site: OwnSite, nodes: Sequence[Node]) -> Iterator[tuple[Node, str, str]]:
    """Each machine's script, as a path below what is served, and the SHA-256 that it is to have."""
    contents: Mapping[str, str | None] = {file.path: file.content for file in site.desired.files}
    for node in nodes:
        path = script_of(site.handoff.machines[node.name]["mac"])
        digest = hashlib.sha256((contents.get(path) or "").encode()).hexdigest()
        yield node, path.removeprefix(f"{ROOT}/"), digest


def _image(named: str) -> str:
    kind, _, digest = named.partition(":")
    return f"images/{digest}.ipxe" if kind == BUILT else f"images/{named}/root.squashfs"

"""Images on the controller: brought before a script names them, taken away when none does."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.netboot import stock
from clusterwright.operate.netboot.build import Images
from clusterwright.operate.netboot.stock import FILES, Manifest
from clusterwright.operate.remote import run_on
from clusterwright.render.boot import ROOT
from clusterwright.render.templates import fill
from clusterwright.spec.pool import BUILT

FOLDER = f"{ROOT}/images"
_PIECE = 64 * 1024**2
"""So much is lost at most when a connection ends."""
_SECONDS = 600.0
_SWEEP = r"""cd {folder} 2>/dev/null || exit 0
for script in *.ipxe; do
  case " {kept} " in *" ${{script%.ipxe}} "*) ;; *) rm -f "$script" ;; esac
done
for image in */manifest.json .*.partial; do
  name=${{image%/manifest.json}}
  [ ! -e "$name" ] || grep -qs "/images/$name\$" ./*.ipxe || {{ rm -r "$name" && echo "$name"; }}
done
"""


def start_script(manifest: Manifest) -> str:
    """What a machine's own script goes on with; that has set `base` and `arguments`."""
    return fill(
        "boot/image-start.ipxe.j2", image=manifest.image, content=manifest.content, files=manifest.files
    )


def deliver(images: Images, controller: Target, report: Report) -> None:
    """Have every image of the plan on the controller. Refuses one that is neither there nor here."""
    for one in images.wanted():
        manifest = stock.find(images.home, one.digest)
        there = run_on(controller, f"cat {FOLDER}/{one.image}.ipxe").output
        if manifest is None and not there:
            what = f"the image {one.image} is neither on {controller.name} nor on this machine"
            remedy = "Run `clusterwright image build FILE`, then the same again"
            raise refuse("CW8253", Where(path="image"), what, remedy)
        if manifest and there != start_script(manifest):
            _bring(manifest, stock.folder(images.home, one.digest), controller, report)


def built(handoff: Handoff) -> set[str]:
    """Digests of the images that machines are told to boot."""
    boots = [site["boot"] for site in handoff.site.values() if "boot" in site]
    named = {image.partition(":") for boot in boots for image in boot["images"].values()}
    return {digest for kind, _, digest in named if kind == BUILT}


def sweep(controller: Target, kept: Collection[str], report: Report) -> None:
    """Take away what no script names any more; a machine that is just fetching it begins again."""
    done = run_on(controller, _SWEEP.format(folder=FOLDER, kept=" ".join(sorted(kept))), timeout=_SECONDS)
    for name in done.output.split():
        report(Event("image", "changed", f"removed {name}", controller.name))


def _bring(manifest: Manifest, source: Path, controller: Target, report: Report) -> None:
    place = f"{FOLDER}/.{manifest.content}.partial"
    _done(controller, f"mkdir -p {place}")
    names = (*FILES, "manifest.json")
    total, sent = sum((source / name).stat().st_size for name in names), 0
    for name in names:
        for size in _pieces(controller, source / name, f"{place}/{name}"):
            sent += size
            text = f"image {manifest.image}: {sent / 1e6:.0f} of {total / 1e6:.0f} MB"
            report(Event("image", "progress", text, controller.name))
    sums = "\n".join(f"{digest}  {name}" for name, digest in sorted(manifest.files.items()))
    check = f"cd {place} && printf '%s\\n' '{sums}' | sha256sum --check --quiet --strict"
    if run_on(controller, check, timeout=_SECONDS).code:
        run_on(controller, f"rm -r {place}")
        what = f"the image {manifest.image} is not what it was when it came to {controller.name}"
        raise refuse("CW8254", Where(path=controller.name), what, "Run the same command again")
    whole, script = f"{FOLDER}/{manifest.content}", f"{FOLDER}/{manifest.image}.ipxe"
    text = start_script(manifest).replace("'", "'\\''")
    _done(
        controller,
        f"chmod -R a+rX {place} && rm -rf {whole} && mv -T {place} {whole} && sync -f {whole}"
        f" && printf %s '{text}' >{script}.new && mv -f {script}.new {script}",
    )
    report(Event("image", "changed", f"image {manifest.image} is there", controller.name))


def _pieces(controller: Target, file: Path, to: str) -> Iterator[int]:
    """Append what is not there yet, piece by piece; the size of each."""
    size = file.stat().st_size
    there = run_on(controller, f"stat -c %s {to} 2>/dev/null || echo 0").output.strip()
    at = int(there) if there.isdecimal() and int(there) <= size else 0
    if not at:
        _done(controller, f": >{to}")
    yield at
    with file.open("rb") as stream:
        stream.seek(at)
        while piece := stream.read(_PIECE):
            _done(controller, f"cat >>{to}", piece)
            yield len(piece)


def _done(controller: Target, command: str, data: bytes = b"") -> None:
    argv = controller.argv(command)
    done = subprocess.run(argv, input=data, capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()[-300:] or f"exit status {done.returncode}"
        what = f"the image could not be brought to {controller.name}: {words}"
        raise refuse(
            "CW8254", Where(path=controller.name), what, "Run the same command again once it is mended"
        )

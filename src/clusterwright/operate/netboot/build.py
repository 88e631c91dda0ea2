"""Build the images that a site's machines boot: as a lab's are baked, with a kernel and an initramfs."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import shlex
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from clusterwright.bundle.collection import root as collection
from clusterwright.bundle.login import ADMIN
from clusterwright.bundle.wanted import Image
from clusterwright.catalog.distributions import distribution
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.operate.configure import install
from clusterwright.operate.desired import Desired
from clusterwright.operate.lab.machines import target_of
from clusterwright.operate.netboot import files, squash, stock
from clusterwright.operate.netboot.stock import Manifest
from clusterwright.plan.model import ClusterPlan
from clusterwright.providers.lab import ssh, state
from clusterwright.providers.lab.files import link, remove_tree
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing
from clusterwright.providers.lab.image import built
from clusterwright.providers.lab.rootfs import Base, ensure_base

_FOLDER = "/var/tmp/clusterwright-image"


@dataclass(frozen=True)
class Wanted:
    """An image that machines of the description boot."""

    digest: str
    """Of all that goes in."""
    image: str
    """As the machines' scripts name it."""
    software: Image


@dataclass(frozen=True)
class Images:
    """Those of one description: `up` brings them to the controller, `image build` makes them."""

    plan: ClusterPlan
    desired: Desired
    public_key: str
    home: LabHome = field(default_factory=LabHome.of_user)

    def wanted(self) -> list[Wanted]:
        """One for each software."""
        if not self.plan.images:
            return []
        images = {name: image for image in self.desired.bundle.images() for name in image.nodes}
        named = {digest: images[node] for node, digest in sorted(self.plan.images.items())}
        return [Wanted(digest_of(image, self.public_key), image, what) for image, what in named.items()]

    def build(self, report: Report) -> tuple[str, ...]:
        """Digests of what was built. Killed at any moment, the next run begins that image anew."""
        absent = [one for one in self.wanted() if not stock.find(self.home, one.digest)]
        if absent and (unmet := [*missing(self.home), *self._unmet()]):
            raise Refused(unmet)
        for one in absent:
            with state.shared_resource(self.home, f"image-{one.digest}"):
                if not stock.find(self.home, one.digest):
                    self._build(one, report)
        return tuple(one.digest for one in absent)

    def _unmet(self) -> Iterator[Finding]:
        if not shutil.which("mksquashfs"):
            what, remedy = "the program mksquashfs is not installed", "Install the package squashfs-tools"
            yield Finding("CW8250", Where(path="mksquashfs"), what, remedy)
        handoff, here = self.desired.handoff, platform.machine()
        for node in sorted(self.plan.images):
            needed = handoff.hardware[handoff.by_name[node].machine].architecture
            if needed != here:
                what = f"its image is for {needed}, and this machine is of {here}"
                yield Finding("CW8251", Where(path=node), what, f"Build it on a machine of {needed}")

    def _build(self, one: Wanted, report: Report) -> None:
        report(Event("image", "started", "installing everything that its nodes may need, with a kernel"))
        told = partial(_told, report)
        base = _base(self.desired)
        kernels: list[str] = []

        def configure(builder: ssh.Target) -> None:
            target = target_of(builder)
            install(self.desired, one.software, target, report)
            report(Event("image", "progress", "a kernel, an initramfs and a login"))
            kernels.append(equip(self.desired, target, self.public_key))

        with built(self.home, one.digest, configure, told, base, simulated=False) as upper:
            link(upper, "/etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf")
            partial_folder = self.home.netboot / f".{one.digest}.partial"
            remove_tree(partial_folder)
            partial_folder.mkdir(parents=True)
            report(Event("image", "progress", "packing it"))
            found = squash.pack((upper, ensure_base(self.home, told, base)), partial_folder)
            name = self.desired.handoff.software["distribution"]
            cluster = self.desired.handoff.name
            made = Manifest(one.digest, one.image, cluster, name, kernels[0], int(time.time()), found)
            stock.write(partial_folder, made)
            partial_folder.rename(stock.folder(self.home, one.digest))
        report(Event("image", "ok", f"built {one.digest}"))


def digest_of(image: str, public_key: str) -> str:
    """An image is named by its software, and kept by that and the key that opens its machines."""
    return hashlib.sha256(json.dumps([image, public_key]).encode()).hexdigest()[:16]


def equip(desired: Desired, builder: Target, public_key: str) -> str:
    """The kernel's release; the builder then has all that a machine needs to boot, and nothing of itself."""
    packages = distribution(desired.handoff.software["distribution"]).parts["boot-image"].packages
    admit = (collection() / "playbooks" / "files" / "bootstrap-admit.sh").read_text()
    told = {
        "NODE": builder.name,
        "ADDRESS": "",
        "ADMIN": ADMIN,
        "KEY": public_key,
        "FILES": "",
        "CHECK": "no",
    }
    login = "\n".join(f"{name}={shlex.quote(value)}" for name, value in {**told, "AUTHORITY": ""}.items())
    script = (
        f"set -e; mkdir -p {_FOLDER}; tar -x -C {_FOLDER} --no-same-owner; cd {_FOLDER}\n"
        f"./equip {_FOLDER} {shlex.join(packages)}\n"
        "sh login >login.said || { cat login.said >&2; exit 1; }\n"
        f"./seal; cd /; rm -r {_FOLDER}\n"
    )
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        _add(tar, "login", f"{login}\n{admit}".encode())
        for name, content in files.contents():
            _add(tar, name, content)
    done = subprocess.run(builder.argv(script), input=stream.getvalue(), capture_output=True, check=False)
    said = done.stdout.decode(errors="replace").split()
    if done.returncode or "kernel" not in said:
        words = done.stderr.decode(errors="replace").strip()[-500:]
        what = f"the image could not be made to boot: {words or f'exit status {done.returncode}'}"
        raise refuse("CW8252", Where(path="image"), what, "Run the same command again once it is mended")
    return said[said.index("kernel") + 1]


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    row = tarfile.TarInfo(name)
    row.size = len(content)
    row.mode = 0o755 if content.startswith(b"#!") else 0o644
    tar.addfile(row, io.BytesIO(content))


def _base(desired: Desired) -> Base:
    surroundings = desired.handoff.cluster["surroundings"]
    mirrors = surroundings["package_mirror"] or "", surroundings["security_mirror"] or ""
    return Base(distribution(desired.handoff.software["distribution"]).codename, *mirrors)


def _told(report: Report, subject: str, text: str) -> None:
    report(Event("image", "progress", text if subject in ("base", "image") else f"{subject} {text}"))

"""An image: what configuring a node from the base left behind, kept as one overlay layer under a digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from clusterwright.finding import Refused
from clusterwright.providers.lab import state
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import BUILDER_PREFIX, Lab
from clusterwright.providers.lab.machine import Bind, LabNode
from clusterwright.providers.lab.rootfs import DEFAULT_BASE, Base, OnEvent, mark_updated
from clusterwright.providers.lab.ssh import Target

_BUILDER = "builder"
# What is the builder's own or says when it ran. Package lists stay: a node can install without fetching them.
_NOT_IN_AN_IMAGE = (
    "etc/hostname",
    "etc/hosts",
    "etc/machine-id",
    "etc/resolv.conf",
    "etc/ssh/ssh_host_ed25519_key",
    "etc/ssh/ssh_host_ed25519_key.pub",
    "etc/systemd/network/10-lab.network",
    "root/.ansible",
    "root/.bash_history",
    "root/.ssh",
    "var/cache/apt/archives",
    "var/lib/systemd/random-seed",
    "var/log/journal",
    "run",
    "tmp",
    "usr/sbin/policy-rc.d",
    "var/tmp",
)
_NO_DAEMON_STARTS = (
    r"printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d"
)


def image_path(home: LabHome, digest: str) -> Path | None:
    """The image's layer, when it has been baked."""
    layer = home.images / digest
    return layer if layer.is_dir() else None


def bake(
    home: LabHome,
    digest: str,
    configure: Callable[[Target], None],
    on_event: OnEvent,
    base: Base = DEFAULT_BASE,
    binds: Sequence[Bind] = (),
) -> Path:
    """The image of this digest; when absent, `configure` makes it on a node that reaches packages.

    Killed at any moment it leaves at most the builder's lab, which the next bake destroys first.
    """
    with state.shared_resource(home, f"image-{digest}"):
        return image_path(home, digest) or _bake(home, digest, configure, on_event, base, binds)


def images(home: LabHome) -> list[str]:
    """Digests of all images."""
    if not home.images.is_dir():
        return []
    return sorted(path.name for path in home.images.iterdir() if not path.name.startswith("."))


def _bake(
    home: LabHome,
    digest: str,
    configure: Callable[[Target], None],
    on_event: OnEvent,
    base: Base,
    binds: Sequence[Bind],
) -> Path:
    with built(home, digest, configure, on_event, base, binds) as upper:
        return _freeze(home, digest, upper)


@contextmanager
def built(
    home: LabHome,
    digest: str,
    configure: Callable[[Target], None],
    on_event: OnEvent,
    base: Base = DEFAULT_BASE,
    binds: Sequence[Bind] = (),
    *,
    simulated: bool = True,
) -> Iterator[Path]:
    """What `configure` left behind on a node of the base, as a layer that says nothing of the node.

    Whoever takes it holds what stands for the digest; the node is gone when the block ends."""
    _destroy_left_builders(home)
    lab = Lab(home, f"{BUILDER_PREFIX}{digest[:16]}")
    with lab.locked():
        on_event("image", f"baking {digest}")
        home.package_archives.mkdir(parents=True, exist_ok=True)
        node = LabNode(_BUILDER, lab.reserve().subnet[2], simulated=simulated)
        archives = Bind(home.package_archives, "/var/cache/apt/archives")
        try:
            [target] = lab.ensure([node], on_event, binds=[archives, *binds], base=base)
            # A package's daemon is not to start while it is installed: it has no configuration yet.
            run(target.ssh_command(_NO_DAEMON_STARTS))
            with state.package_archives(home):
                configure(target)
            lab.stop_nodes([_BUILDER])
            upper = lab.machine(_BUILDER).upper
            _forget(upper)
            mark_updated(upper)
            yield upper
        finally:
            lab.destroy()
        on_event("image", f"baked {digest}")


def _destroy_left_builders(home: LabHome) -> None:
    """A builder that nobody holds belongs to a bake that was killed."""
    for name in state.names(home):
        if name.startswith(BUILDER_PREFIX):
            with suppress(Refused):
                Lab(home, name).destroy()


def _forget(upper: Path) -> None:
    for name in _NOT_IN_AN_IMAGE:
        remove_tree(upper / name)
    for log in (upper / "var/log").rglob("*"):
        if log.is_file() and not log.is_symlink():
            log.write_bytes(b"")


def _freeze(home: LabHome, digest: str, upper: Path) -> Path:
    partial, layer = home.images / f".{digest}.partial", home.images / digest
    remove_tree(partial)
    partial.parent.mkdir(parents=True, exist_ok=True)
    # `mv` keeps the overlay's marks (whiteouts, opaque folders) also where cache and state are on two disks.
    run(["mv", "-T", str(upper), str(partial)])
    # The layer is only written once: on the disk before its name says that it is complete.
    run(["sync", "--file-system", str(partial)])
    partial.rename(layer)
    return layer

"""podman, for the images of GPUDirect-TCPXO that no lab can pull: what they place, and their receive daemon.

Every other image is the real podman's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from .node import Answer, Node

_REAL = "/usr/bin/podman"
_LOADED = "/var/lib/clusterwright/images"
"""Images that an offline bundle brought."""
_PLUGIN, _DAEMON = "nccl-plugin-gpudirecttcpx-dev", "tcpgpudmarxd-dev"
_CONTAINER = "receive-datapath-manager"
_SERVICE = "tcpgpudmarxd"
LIBRARIES = Path("/var/lib/tcpxo/lib64")
_READY = "Buffer manager initialization complete (simulated)\n"
_PROFILE = "# Simulated by clusterwright: what the release sets beside the names of the cards.\n" + "".join(
    f"export {name}={value}\n"
    for name, value in (
        ("NCCL_BUFFSIZE", "8388608"),
        ("NCCL_CROSS_NIC", "0"),
        ("NCCL_FASTRAK_NUM_FLOWS", "2"),
        ("NCCL_FASTRAK_USE_LLCM", "1"),
        ("NCCL_FASTRAK_USE_SNAP", "1"),
        ("NCCL_NVLSTREE_MAX_CHUNKSIZE", "131072"),
        ("NCCL_PROTO", "Simple,LL128"),
    )
)
"""Of the release of 19 Nov 2025 in container-engine-accelerators' gpudirect-tcpxo/README.md."""


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """`image exists`, `pull` and `run` of these images; `logs` and `container exists` of their daemon."""
    image = next((word for word in arguments if f"/{_PLUGIN}" in word or f"/{_DAEMON}" in word), "")
    if not image and _CONTAINER not in arguments:
        os.execv(_REAL, [_REAL, *arguments])
    image = image.removeprefix(f"oci:{_LOADED}:")
    store, verb = node.own / "images", arguments[0]
    pulled = store.read_text(encoding="utf-8").split() if store.exists() else []
    if verb == "image":
        return Answer(status=0 if image in pulled else 1)
    if verb == "pull":
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_text("".join(f"{one}\n" for one in sorted({*pulled, image})), encoding="utf-8")
        return Answer("sha256:0000 (simulated)\n")
    if verb == "run":
        return _install(node) if _PLUGIN in image else _serve(node)
    runs = node.runs(_SERVICE)
    if verb == "logs":
        return Answer(_READY if runs else "", 0 if runs else 125)
    return Answer(status=0 if runs else 1)


def fabric_complaint(node: Node) -> str:
    """Why NCCL finds no FasTrak here; empty when it does."""
    if not (LIBRARIES / "libnccl-net.so").exists():
        return "NET/Plugin: Could not find: libnccl-net.so"
    return "" if node.runs(_SERVICE) else "NET/FasTrak : RxDM does not answer"


def _install(node: Node) -> Answer:
    """The plug-in's file is the host's, so that it can be told to become another one."""
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    (LIBRARIES / "nccl-env-profile.sh").write_text(_PROFILE, encoding="utf-8")
    (LIBRARIES / "libnccl.so.2").write_text("simulated\n", encoding="utf-8")
    library = LIBRARIES / "libnccl-net.so"
    library.unlink(missing_ok=True)
    library.symlink_to(node.state / "tcpxo-plugin")
    return Answer("NCCL and its plug-in are installed (simulated)\n")


def _serve(node: Node) -> Answer:
    if node.module("import_helper") is None:
        return Answer(error="Failed to open /dev/dmabuf_import_helper: No such file or directory\n", status=1)
    if node.loaded is None or not node.gpus:
        return Answer(error="cuInit failed: CUDA_ERROR_NO_DEVICE\n", status=1)
    if _broken(node).exists():
        return Answer(
            error="Failed to initialize buffer manager (simulated fault of this lab node)\n", status=1
        )
    return _wait(node)


def _broken(node: Node) -> Path:
    return node.state / "rxdm-failed"


def _wait(node: Node) -> NoReturn:
    """The same process id; a shell that ends when the host says so."""
    folder = node.own / "services"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _SERVICE).write_text(f"{os.getpid()}\n", encoding="utf-8")
    ended = 'echo "RxDM ended (simulated fault of this lab node)" >&2; exit 1'
    os.execvp("sh", [_SERVICE, "-c", f"while [ ! -e {_broken(node)} ]; do sleep 1; done; {ended}"])

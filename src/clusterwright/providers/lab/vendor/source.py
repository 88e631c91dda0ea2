"""A simulated source: a real `make` builds it with the simulated CUDA compiler and the real MPI."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from clusterwright.providers.lab.vendor.deb import EPOCH

_PROGRAMS = ("all_gather", "all_reduce", "alltoall", "broadcast", "reduce", "reduce_scatter", "sendrecv")
_SUFFIX = ".tar.gz"


def build_source(file_name: str, folder: Path) -> Path:
    """The archive of that name in a folder of its own; one that is there stays."""
    whole = gzip.compress(_tar(file_name.removesuffix(_SUFFIX)), mtime=EPOCH)
    file = folder / sha256(whole).hexdigest()[:16] / file_name
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f".{file_name}.{os.getpid()}")
        partial.write_bytes(whole)
        partial.rename(file)
    return file


def _tar(top: str) -> bytes:
    said = f"SIMULATED {top} of clusterwright's lab; not the vendor's source."
    own = files("clusterwright.providers.lab.vendor") / "nccl_tests"
    texts = {
        "Makefile": (own / "Makefile").read_text(encoding="utf-8"),
        "src/mpi_world.cc": (own / "mpi_world.cc").read_text(encoding="utf-8"),
        "SIMULATED": f"{said}\n",
        **{f"src/{name}.cu": f"// {said}\n" for name in _PROGRAMS},
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, text in sorted(texts.items()):
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size, member.mtime, member.mode = len(text.encode()), EPOCH, 0o644
            tar.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()

"""What an image carries so that a node makes and fetches nothing at boot: the Python that runs the roles."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

from clusterwright.bundle.collection import root
from clusterwright.converge.target import Target
from clusterwright.finding import Where, refuse
from clusterwright.operate.pull.publish import referenced

BAKED = "/usr/lib/clusterwright/python"
_FOLDER = "/var/tmp/clusterwright-wheels"


def equip(builder: Target, files: Mapping[str, Path]) -> None:
    """Make it on the builder, by the program that would make it on a node."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, file in {**files, "pull": root() / "roles" / "pull" / "files" / "pull"}.items():
            tar.add(file, name, recursive=False)
    python = f"{BAKED}/{referenced(files).digest}"
    script = (
        f"mkdir -p {_FOLDER} && tar -x -C {_FOLDER} --no-same-owner"
        f" && python3 {_FOLDER}/pull --python {python} {_FOLDER} && rm -r {_FOLDER}"
    )
    done = subprocess.run(
        [*builder.ssh_argv(), script], input=stream.getvalue(), capture_output=True, check=False
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()[-300:]
        what = f"the Python of the roles could not be made: {words}"
        raise refuse("CW8054", Where(path="image"), what, "Run the same command again once it is mended")

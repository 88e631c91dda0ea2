"""The jobs of `examples/` as a user submits them, in an image of PyTorch, Dask, JAX, PEFT and TensorFlow."""

from __future__ import annotations

import fcntl
import hashlib
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from clusterwright.providers.lab import state
from clusterwright.providers.lab.apt import sources_for
from clusterwright.providers.lab.home import LabHome

from .ground import Desk

EXAMPLES = Path(__file__).parents[2] / "examples"
_UID = 2001
_PACKAGES = ("ca-certificates", "python3-distributed", "python3-torch")
_WHEELS = Path(__file__).with_name("example-image.lock")
_MAKES_MODEL = Path(__file__).with_name("tiny_model.py")
MODEL = "/usr/share/tiny-model"
"""In the image: a language model of random weights."""
_ARCHIVES = "var/cache/apt/archives"
_TORCH = "usr/lib/python3/dist-packages/torch/distributed/__init__.py"
_WITHOUT_LIBUV = """
# Debian builds PyTorch without libuv, and torchrun asks for it whatever it is told.
_with_libuv = TCPStore.__init__
TCPStore.__init__ = lambda self, *args, **kwargs: _with_libuv(self, *args, **{**kwargs, "use_libuv": False})
"""


def image() -> Path:
    """A root file system that belongs to the user, in the lab's cache; built on the first call (a minute)."""
    recipe = b"".join(file.read_bytes() for file in (Path(__file__), _WHEELS, _MAKES_MODEL))
    home = LabHome.of_user()
    folder = home.cache / "example-images" / hashlib.sha256(recipe).hexdigest()[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            for older in folder.parent.glob("[!l]*"):
                shutil.rmtree(older)
            _build(home, folder)
    return folder


def _build(home: LabHome, folder: Path) -> None:
    partial = folder.with_name("partial")
    home.package_archives.mkdir(parents=True, exist_ok=True)
    target = f'"$1/{_ARCHIVES}"'
    archives = shlex.quote(str(home.package_archives))
    with state.package_archives(home):
        subprocess.run(
            [
                "unshare", "--mount", "--propagation", "private",
                "mmdebstrap", "--quiet", "--mode=root", "--variant=apt", f"--include={','.join(_PACKAGES)}",
                '--aptopt=APT::Install-Recommends "false"', "--dpkgopt=force-unsafe-io",
                "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
                "--skip=download/empty,essential/unlink",
                f"--setup-hook=mkdir -p {target} && mount --bind {archives} {target}",
                f"--customize-hook=umount {target}",
                "trixie", str(partial), *map(str, sources_for("trixie")),
            ],
            check=True,
            timeout=600,
        )  # fmt: skip
    uv = str(Path(sys.executable).with_name("uv"))
    wheels = partial / "usr/local/lib/python3.13/dist-packages"
    options = ["--quiet", "--python-version=3.13", "--only-binary=:all:", "--require-hashes", "--no-deps"]
    subprocess.run(
        [uv, "pip", "install", *options, f"--target={wheels}", f"--requirement={_WHEELS}"],
        check=True,
        timeout=600,
    )
    shutil.rmtree(wheels / "tensorflow/include")  # 15,000 files for what is built against it
    with (partial / _TORCH).open("a") as torch:
        torch.write(_WITHOUT_LIBUV)
    inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--root={partial}", "--mount-proc"]
    makes = [*inside, "python3", "-", MODEL]
    subprocess.run(makes, input=_MAKES_MODEL.read_bytes(), check=True, timeout=300)
    # Leaves the modules compiled, which takes longer than the job.
    subprocess.run([*inside, "python3", "-c", "import tensorflow"], check=True, timeout=300)
    subprocess.run(["chown", "-hR", f"{_UID}:{_UID}", str(partial)], check=True)
    partial.rename(folder)


def place(desk: Desk) -> None:
    """Examples and image in ada's home: hard links, as nobody writes into the image's own files."""
    made = image()
    home = LabHome.of_user(desk.environment).labs / "story/shares/home/ada"
    shutil.copytree(EXAMPLES, home / "examples")
    subprocess.run(["chown", "-R", f"{_UID}:{_UID}", str(home / "examples")], check=True)
    subprocess.run(["cp", "-al", str(made), str(home / "image")], check=True)


def give(desk: Desk, name: str, text: str) -> None:
    """A file of the user's beside the examples."""
    file = LabHome.of_user(desk.environment).labs / "story/shares/home/ada/examples" / name
    file.write_text(text)


def submit(desk: Desk, example: str, options: str, arguments: str) -> str:
    command = f"cd examples/{example} && sbatch --parsable -o out {options} job.sh {arguments}"
    return desk.as_user("sh", "-c", f"export IMAGE=$HOME/image; {command}").strip()


def said(desk: Desk, example: str, words: str) -> str:
    """What a job has printed, once these words are there."""
    file = LabHome.of_user(desk.environment).labs / f"story/shares/home/ada/examples/{example}/out"
    deadline = time.monotonic() + 600
    text = ""
    while words not in text:
        assert time.monotonic() < deadline, f"{example} does not say {words!r}:\n{text}"
        time.sleep(0.3)
        text = file.read_text() if file.exists() else ""
    return text

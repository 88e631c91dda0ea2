"""The two parts of a backup: slurmctld's folder of state files, and the accounting database."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from saved.machine import Stop, run

FIRST = "clustername"
"""slurmctld writes it when it first starts; where it is missing, none ever ran on this disk."""


def write_state(folder: Path, archive: Path) -> None:
    """slurmctld exchanges its files whole, by a rename, so each is read whole.

    Files before folders: the list of jobs comes before the jobs' scripts, which stay for minutes after a
    job's end (MinJobAge). The other way round, a job of that moment would be there without its script.
    """
    with tarfile.open(archive, "w:gz", compresslevel=6) as made:
        add_folder(made, folder, folder)


def add_folder(made: tarfile.TarFile, folder: Path, within: Path) -> None:
    for path in sorted(within.iterdir(), key=lambda path: (path.is_dir(), path.name)):
        name = str(path.relative_to(folder))
        # What is gone by now was of a job that ended long ago. Keys are the operator's to keep.
        with contextlib.suppress(FileNotFoundError):
            if path.is_symlink():
                continue
            if path.is_dir():
                made.addfile(header(name, path.stat(), tarfile.DIRTYPE))
                add_folder(made, folder, path)
            elif path.is_file() and path.suffix not in (".key", ".new"):
                with path.open("rb") as stream:
                    content, seen = stream.read(), os.fstat(stream.fileno())
                row = header(name, seen, tarfile.REGTYPE)
                row.size = len(content)
                made.addfile(row, io.BytesIO(content))


def header(name: str, seen: os.stat_result, kind: bytes) -> tarfile.TarInfo:
    row = tarfile.TarInfo(name)
    row.type, row.mode, row.mtime = kind, seen.st_mode & 0o777, int(seen.st_mtime)
    return row


def place_state(archive: Path, folder: Path, owner: str) -> None:
    """The folder itself stays: it may be a mount."""
    if not folder.exists():
        folder.mkdir(mode=0o700)
        shutil.chown(folder, owner, owner)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    with tarfile.open(archive, "r:gz") as saved:
        for row in saved:
            place(saved, row, folder, owner)
    os.sync()


def place(saved: tarfile.TarFile, row: tarfile.TarInfo, folder: Path, owner: str) -> None:
    path = folder / row.name
    if ".." in path.parts or folder not in path.parents or not (row.isfile() or row.isdir()):
        raise Stop(f"{row.name} is nothing that slurmctld has")
    if row.isdir():
        path.mkdir()
    else:
        content = saved.extractfile(row)
        with path.open("xb") as stream:
            shutil.copyfileobj(content, stream)
    path.chmod(row.mode)
    os.utime(path, (row.mtime, row.mtime))
    shutil.chown(path, owner, owner)


def dump(archive: Path, database: str) -> None:
    """One moment of the whole database; nobody waits for it."""
    argv = ["mariadb-dump", "--single-transaction", "--quick", "--routines", "--triggers", database]
    with gzip.open(archive, "wb", compresslevel=6) as stream:
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        shutil.copyfileobj(process.stdout, stream, 1 << 20)
        finish(process, argv[0])


def load(archive: Path, database: str) -> None:
    run("systemctl", "start", "mariadb.service")
    run("mariadb", "--execute", f"DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database}")
    argv = ["mariadb", database]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with gzip.open(archive, "rb") as stream, contextlib.suppress(BrokenPipeError):
        shutil.copyfileobj(stream, process.stdin, 1 << 20)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    finish(process, argv[0])


def finish(process: subprocess.Popen, name: str) -> None:
    """Its complaints are short: a pipe holds them."""
    said = process.stderr.read().decode(errors="replace").strip()
    if process.wait():
        raise Stop(f"{name}: {said}")

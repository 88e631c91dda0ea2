"""A `clusterwright` that is imported once: a process of its own then runs each command that it reads."""

from __future__ import annotations

import json
import os
import pkgutil
import sys
from importlib import import_module

from clusterwright import cli, operate


def main() -> None:
    for package in (operate, cli):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = _become(**json.loads(line))
            sys.stdout.flush()
            os._exit(code)  # without the time to free all that was imported
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(words: list[str], environment: dict[str, str], folder: str, output: str) -> int:
    """What the shell does for a command, and what its start does."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    told = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), told, told)):
        os.dup2(file, stream)
    sys.argv = words
    return cli.main()


if __name__ == "__main__":
    main()

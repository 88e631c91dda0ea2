"""Answers one request per line on a node, as long as the operator's connection lasts.

Python 3.9 and its standard library only: this text is sent to the node and leaves nothing there.
"""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from typing import Any


def as_user(name: str) -> dict[str, Any]:
    entry = pwd.getpwnam(name)
    return {
        "user": entry.pw_uid,
        "group": entry.pw_gid,
        "extra_groups": os.getgrouplist(name, entry.pw_gid),
        "cwd": entry.pw_dir,
        "env": {
            "HOME": entry.pw_dir,
            "USER": name,
            "LOGNAME": name,
            "SHELL": entry.pw_shell,
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
        },
    }


def end(process: subprocess.Popen[str]) -> None:
    """Gently first: srun cancels its job when it is asked to end, and leaves it when it is killed."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=3)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def run(request: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    try:
        options = as_user(request["user"]) if request["user"] else {}
        options.get("env", {}).update(request["env"])
        process = subprocess.Popen(
            request["argv"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            **options,
        )
    except (OSError, KeyError, subprocess.SubprocessError) as fault:
        return {"code": 127, "output": "", "error": str(fault), "seconds": 0.0}
    try:
        output, error = process.communicate(request["stdin"], request["timeout"])
        code = process.returncode
    except subprocess.TimeoutExpired:
        end(process)
        code, output, error = 124, "", f"no end within {request['timeout']:g} s"
    return {"code": code, "output": output, "error": error, "seconds": time.monotonic() - started}


def main() -> None:
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        answer = {"time": time.time()} if request["do"] == "clock" else run(request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()

"""Clusters on a cloud: the plan, its checks, the program on mocks, and a preview on the real engine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.command import process_seconds
from bench.result import Result

_ROOT = Path(__file__).parents[1]
_COMMAND = str(Path(sys.executable).parent / "clusterwright")
_SIXTEEN = "clusters/aws-p5-16.yaml"
_SIGNER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFJlYWRPbmx5QnlUZXN0c09mUHJvZ3JhbXNPblRoZUNsb3Vk"
_DESCRIPTION = """\
cluster: {name}
site: {{provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16}}
converge: pull
pools:
  head: {{roles: [controller, login], machine: m7i.2xlarge}}
  gpu: {{roles: compute, machine: p5.48xlarge, count: {nodes}}}
"""
_ECHO = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(_ROOT)!r})
from tests.engine.echo import main
main()
"""


def results() -> Iterator[Result]:
    yield Result("`clusterwright plan`, 16 p5.48xlarge", process_seconds([_COMMAND, "plan", _SIXTEEN]), 0.6)
    yield Result("all checks, 1,000 nodes on AWS", _in_own_process("checks"), 1.0)
    yield Result("program on mocks, a resource", _in_own_process("synthesis"), 10.0, "ms")
    engine = Path(subprocess.check_output([_ROOT / "engine/build", "--where"], text=True).strip())
    if engine.exists():
        seconds, resources = _preview(engine, 64)
        yield Result(
            "preview on the real engine, 64 nodes",
            seconds,
            5.0,
            note=f"{resources} resources; the cloud's plugin is played, in Python",
        )


def _in_own_process(what: str) -> float:
    command = [sys.executable, "-m", "bench.cloud", what]
    return float(subprocess.run(command, check=True, capture_output=True, cwd=_ROOT).stdout)


def _checks() -> float:
    from clusterwright.checks import check
    from clusterwright.finding import Severity
    from clusterwright.spec.load import loads

    loaded = loads(_DESCRIPTION.format(name="checked", nodes=1_000))
    start = time.perf_counter()
    findings = check(loaded.spec, loaded.where)
    seconds = time.perf_counter() - start
    assert not [finding for finding in findings if finding.severity is Severity.ERROR], findings
    return seconds


def _synthesis() -> float:
    """Milliseconds a resource, with the plan; a first run, in which the SDK loads itself, does not count."""
    sys.path.insert(0, str(_ROOT / "tests"))
    from synthesis.test_programs import declared

    declared(_ROOT / _SIXTEEN, preview=True)
    start = time.perf_counter()
    made = declared(_ROOT / _SIXTEEN, preview=True)
    return (time.perf_counter() - start) / len(made.resources) * 1000


def _preview(engine: Path, nodes: int) -> tuple[float, int]:
    """Of a process that does what `clusterwright up` does first; the stack is there already."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        plugins = folder / "plugins"
        plugins.mkdir()
        (plugins / "pulumi-resource-aws").write_text(_ECHO)
        (plugins / "pulumi-resource-aws").chmod(0o755)
        (folder / "state").mkdir()
        (folder / "bench.yaml").write_text(_DESCRIPTION.format(name="bench", nodes=nodes))
        environ = {
            **os.environ,
            "PATH": f"{plugins}:{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": f"file://{folder}/state",
            "PULUMI_CONFIG_PASSPHRASE": "bench",
            "PULUMI_HOME": str(folder / "pulumi"),
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "ECHO_LOG": str(folder / "echo.log"),
        }
        argv = [sys.executable, "-m", "bench.cloud", "preview", str(engine), name]
        subprocess.run(argv, check=True, capture_output=True, env=environ, cwd=_ROOT)
        start = time.perf_counter()
        done = subprocess.run(argv, check=True, capture_output=True, env=environ, cwd=_ROOT)
        return time.perf_counter() - start, int(done.stdout)


def _previewed(engine: str, folder: str) -> int:
    """How many resources the engine would make."""
    from clusterwright.operate.stack.program import declare_cluster
    from clusterwright.providers.engine.command import Command
    from clusterwright.providers.engine.stack import Stack

    stack = Stack(Path(folder), "bench", {}, Command(Path(engine), lambda: None))
    file = Path(folder, "bench.yaml")
    stack.configure({"cluster": str(file), "signer": _SIGNER, "accept": "false"})
    stack.open()
    return len(stack.preview(lambda: declare_cluster(file)))


_PARTS: Mapping[str, Callable[..., float]] = {
    "checks": _checks,
    "synthesis": _synthesis,
    "preview": _previewed,
}

if __name__ == "__main__":
    print(_PARTS[sys.argv[1]](*sys.argv[2:]))

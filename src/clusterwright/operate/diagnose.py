"""`diagnose`: all that a person would collect, in one archive without secrets, and the likely cause first."""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from clusterwright.accept.likely import Evidence, LikelyCause, likely, of_report
from clusterwright.event import Event, Report
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff
from clusterwright.operate.asked import EVERYWHERE, ON_CONTROLLERS, ON_GPU_NODES
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.remote import NO_ANSWER, run_on

NODES_AT_ONCE = 16
LINES_KEPT = 4000
"""Of each log, its last lines."""
RUNS_KEPT = 3

# Long runs of base64 or hex are keys, tokens or hashes; none of them helps to find a cause.
_KEY = re.compile(r"[A-Za-z0-9+/]{64,}={0,2}")
_SETTING = re.compile(r"(?i)\b(\w*(?:password|passwd|secret|token|storagepass)\w*\s*[=:]\s*)\S+")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The archive and what it points to, the most likely first."""

    archive: Path
    causes: tuple[LikelyCause, ...]
    unreachable: tuple[str, ...]


def diagnose(cluster: Cluster, archive: Path, report: Report) -> Diagnosis:
    """Collect from every node at once, also from those that do not answer, and rank the causes."""
    names = [node.name for node in cluster.handoff.nodes]

    def collect(name: str) -> dict[str, str]:
        found = dict(_of_node(cluster, name))
        answered = "versions.txt" in found
        report(Event("diagnose", "ok" if answered else "unreachable", f"{len(found)} files", name))
        return found

    with ThreadPoolExecutor(NODES_AT_ONCE) as pool:
        collected = dict(zip(names, pool.map(collect, names), strict=True))
    causes = tuple(likely(evidence_in(collected)))
    files = {
        f"nodes/{name}/{file}": text for name, found in collected.items() for file, text in found.items()
    }
    pack(archive, files | dict(of_operator(cluster.home, cluster.handoff)), causes)
    unreachable = tuple(name for name, found in collected.items() if "versions.txt" not in found)
    return Diagnosis(archive, causes, unreachable)


def _of_node(cluster: Cluster, name: str) -> Iterator[tuple[str, str]]:
    for file, console in (("journal.log", False), ("console.log", True)):
        try:
            yield file, "\n".join(cluster.machines.logs(name, console=console, last=LINES_KEPT))
        except Refused as refusal:
            yield file, str(refusal)
    target = cluster.targets.get(name)
    if target is None or run_on(target, "true", timeout=10).code == NO_ANSWER:
        return
    for file, command in _asked(cluster, name).items():
        answer = run_on(target, command)
        yield file, answer.output + answer.error


def _asked(cluster: Cluster, name: str) -> Mapping[str, str]:
    node = cluster.handoff.by_name[name]
    vendor = cluster.handoff.hardware[node.machine].gpu_vendor or ""
    controls = ON_CONTROLLERS if "controller" in node.roles else {}
    return {**EVERYWHERE, **ON_GPU_NODES.get(vendor, {}), **controls}


def of_operator(home: ClusterHome, handoff: Handoff) -> Iterator[tuple[str, str]]:
    """The hand-off, the last acceptance and what the last runs said; never the keys."""
    yield "handoff.json", handoff.dumps()
    for page in sorted(home.reports.glob("accept.*")):
        yield f"reports/{page.name}", page.read_text()
    for run in sorted(home.runs.glob("*"))[-RUNS_KEPT:]:
        for log in sorted(run.rglob("stdout")):
            yield f"runs/{run.name}/{log.parent.name}.log", log.read_text(errors="replace")


def evidence_in(collected: Mapping[str, Mapping[str, str]]) -> Iterator[Evidence]:
    for name, found in collected.items():
        for file, text in found.items():
            if file == "gate.json":
                yield of_report(name, text)
            elif file.endswith((".log", ".txt")):
                yield Evidence(name, file.rpartition(".")[0], text)


def pack(archive: Path, files: Mapping[str, str], causes: tuple[LikelyCause, ...]) -> None:
    """One archive, without secrets."""
    rows = json.dumps([asdict(cause) for cause in causes], indent=1, default=str)
    texts = {**files, "causes.json": rows}
    _write(archive, {path: _without_secrets(text) for path, text in texts.items()})


def _without_secrets(text: str) -> str:
    return _SETTING.sub(r"\1[removed]", _KEY.sub("[removed]", text))


def _write(archive: Path, files: Mapping[str, str]) -> None:
    partial = archive.with_name(f".{archive.name}.partial")
    folder = archive.name.removesuffix(".tar.gz")
    with tarfile.open(partial, "w:gz") as tar:
        for path, text in sorted(files.items()):
            content = text.encode()
            entry = tarfile.TarInfo(f"{folder}/{path}")
            entry.size, entry.mode = len(content), 0o600
            tar.addfile(entry, io.BytesIO(content))
    partial.chmod(0o600)
    partial.replace(archive)

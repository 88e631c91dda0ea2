"""What each device heard: from files, or asked over SSH. One that fails never stops the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.accept.wired import Illegible
from clusterwright.accept.wired.neighbours import Heard, read_heard
from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.remote import Answer, Reached, run_on
from clusterwright.plan.wiring import Wiring
from clusterwright.spec.nodeset import fold

AT_ONCE = 32
ASK = (
    "command -v lldpcli > /dev/null || exit 127; lldpcli -f json0 show neighbors || exit 1; "
    "grep -s . /sys/class/net/*/speed 2> /dev/null; exit 0"
)
_NO_SSH, _NO_PROGRAM = 255, 127


@dataclass
class Collected:
    """What was heard, by device, and what went wrong on the way."""

    heard: dict[str, Heard] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def from_files(wiring: Wiring, paths: Sequence[Path]) -> Collected:
    """A file is named after its device; of a folder, all its files. Raises Refused where one is not there."""
    found = Collected()
    for path in _files(paths):
        device = path.name.partition(".")[0]
        if device not in wiring.nodes and device not in wiring.by_name:
            what = f"no node or switch of the fabric is called '{device}'"
            remedy = "Name the file after its device; `clusterwright cabling FILE --csv -` has their names"
            found.findings.append(Finding("CW8233", Where(path=str(path)), what, remedy, Severity.WARNING))
            continue
        _take(found, device, _text(path), str(path))
    found.findings += _silent_nodes(wiring, found)
    return found


def over_ssh(wiring: Wiring, targets: Mapping[str, Reached]) -> Collected:
    """Ask every node of the fabric."""
    found, failed = Collected(), defaultdict(list)
    asked = [name for name in wiring.nodes if name in targets]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda name: run_on(targets[name], ASK), asked)
        for name, answer in zip(asked, answers, strict=True):
            if answer.code:
                failed[_cause(answer)].append(name)
            else:
                _take(found, name, answer.output, name)
    unreachable = [name for name in wiring.nodes if name not in targets]
    if unreachable:
        failed["CW8230", "there is no such machine in the cluster as it was brought up"] = unreachable
    found.findings += (_failure(*cause, nodes) for cause, nodes in failed.items())
    return found


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if file.is_file())
        elif path.exists():
            yield path
        else:
            raise _unreadable(path, "there is no such file or folder")


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError as problem:
        raise _unreadable(path, f"it cannot be read: {problem.strerror}") from None


def _unreadable(path: Path, what: str) -> Refused:
    remedy = "Give files with what `lldpcli -f json show neighbors` printed, or their folder"
    return refuse("CW8238", Where(path=str(path)), what, remedy)


def _take(found: Collected, device: str, text: str, where: str) -> None:
    try:
        found.heard[device] = read_heard(text)
    except Illegible as problem:
        what = f"this is not the output of lldpcli: {problem}"
        remedy = "Print it with `lldpcli -f json show neighbors`, whole"
        found.findings.append(Finding("CW8231", Where(path=where), what, remedy))


def _silent_nodes(wiring: Wiring, found: Collected) -> Iterator[Finding]:
    told = {finding.where.path for finding in found.findings}
    missing = [
        name
        for name in wiring.nodes
        if name not in found.heard and not any(Path(path or "").name.startswith(f"{name}.") for path in told)
    ]
    if missing:
        what = f"nothing was told of {len(missing)} of {len(wiring.nodes)} nodes"
        remedy = "Collect from them too: `lldpcli -f json show neighbors`"
        yield Finding("CW8236", Where(path=fold(missing)), what, remedy, Severity.WARNING)


def _cause(answer: Answer) -> tuple[str, str]:
    if answer.code == _NO_SSH:
        said = answer.error.strip().splitlines()
        return "CW8230", f"no answer over SSH: {said[-1]}" if said else "no answer over SSH"
    if answer.code == _NO_PROGRAM:
        return "CW8232", "lldpd is not installed there"
    said = (answer.error or answer.output).strip().splitlines()
    return "CW8232", f"lldpcli failed: {said[-1]}" if said else f"lldpcli failed with {answer.code}"


def _failure(code: str, what: str, nodes: Sequence[str]) -> Finding:
    remedies = {
        "CW8230": "See that they are on and bootstrapped, or give what they print with --neighbors",
        "CW8232": "Install the package lldpd on them and start it",
    }
    return Finding(code, Where(path=fold(nodes)), what, remedies[code])

"""What is installed and what is held, with apt and with dnf."""

from __future__ import annotations

from gates.node import Node, Unmet

LOCK_LIST = "/etc/dnf/plugins/versionlock.list"


def look(node: Node, names: list[str]) -> tuple[dict[str, list[str]], set[str]]:
    """Versions by name of those that are installed, and which of them no upgrade moves."""
    return _rpms(node, names) if node.planned.get("packages") == "rpm" else _debs(node, names)


def how_to_hold(node: Node, name: str) -> str:
    command = "dnf versionlock add" if node.planned.get("packages") == "rpm" else "apt-mark hold"
    return f"Run `{command} {name}`"


def _debs(node: Node, names: list[str]) -> tuple[dict[str, list[str]], set[str]]:
    form = "${Package}\\t${Version}\\t${db:Status-Want}\\t${db:Status-Status}\\n"
    rows = _rows(node, 4, "dpkg-query", "--show", f"--showformat={form}", *names)
    seen = {name: [version] for name, version, _, state in rows if state == "installed"}
    return seen, {name for name, _, want, _ in rows if want == "hold"}


def _rpms(node: Node, names: list[str]) -> tuple[dict[str, list[str]], set[str]]:
    """A lock has an epoch only where a source tells it, so a version is known with and without."""
    form = "%{NAME}\\t%{EPOCHNUM}\\t%{VERSION}-%{RELEASE}\\n"
    locked = set(node.read(LOCK_LIST).splitlines())
    seen: dict[str, list[str]] = {}
    held = set()
    for name, epoch, version in _rows(node, 3, "rpm", "--query", f"--queryformat={form}", *names):
        seen.setdefault(name, []).extend([version, f"{epoch}:{version}"])
        if f"{name}-{epoch}:{version}.*" in locked:
            held.add(name)
    return seen, held


def _rows(node: Node, width: int, *command: str) -> list[list[str]]:
    status, output = node.run(*command)
    lines = output.splitlines()
    # Both end with an error also when some package is not known, and say "error:" only when it is another.
    if status >= 124 or any(line.startswith(("error:", f"{command[0]}: error:")) for line in lines):
        remedy = f"Repair the package database; `{command[0]}` must answer"
        raise Unmet(f"{command[0]} answers", (lines or ["no output"])[-1], remedy)
    return [row for row in (line.split("\t") for line in lines) if len(row) == width]

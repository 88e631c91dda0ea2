"""Lustre's client: mount.lustre binds the host's folder, lctl and lfs tell of its connections."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from . import lnet, shares
from .hardware import SimulatedShare
from .node import Answer, Node

_CAPACITY_KB = 98304000
_USED_KB = 1048576


def mount(node: Node, arguments: Sequence[str]) -> Answer:
    """`mount.lustre SOURCE DIRECTORY [-o OPTIONS]`, as mount(8) calls it."""
    words = list(arguments)
    options = words[words.index("-o") + 1].split(",") if "-o" in words else []
    source, target = words[0], words[1]
    servers, _, rest = source.partition(":/")
    name, _, directory = rest.partition("/")

    def failed(error: str, *hints: str, status: int) -> Answer:
        said = [f"mount.lustre: mount {source} at {target} failed: {error}", *hints]
        return Answer(error="".join(f"{line}\n" for line in said), status=status)

    if node.module("lustre") is None:
        hints = ("Are the lustre modules loaded?", "Check /etc/modprobe.conf and /proc/filesystems")
        return failed("No such device", *hints, status=19)
    wrong = "Is the MGS specification correct?", "Is the filesystem name correct?"
    share = next((one for one in shares.of_kind(node, "lustre") if one.name == name), None)
    if share is None or not set(servers.replace(":", ",").split(",")) & set(share.servers):
        return failed("No such file or directory", *wrong, status=2)
    reached = {server.partition("@")[2] for server in share.servers}
    if share.state == "away" or not any(lnet.is_up(node, network) for network in reached):
        return failed("Input/output error", "Is the MGS running?", status=5)
    complaint = shares.bind(share, directory, target, options)
    return failed(complaint, *wrong, status=2) if complaint else Answer()


def lctl(node: Node, arguments: Sequence[str]) -> Answer:
    """`--version`, `get_param`, `set_param`, `list_nids`."""
    words = [word for word in arguments if word != "-n"]
    if words[:1] == ["--version"]:
        return Answer(f"lctl {node.installed} (simulated)\n")
    if words[:1] == ["list_nids"]:
        if node.module("lnet") is None:
            return Answer(error="IOC_LIBCFS_GET_NI error 19: No such device\n", status=255)
        nids = [lnet.nid(node, net, name) for net, names in lnet.networks(node).items() for name in names]
        return Answer("".join(f"{nid}\n" for nid in nids))
    if words[:1] == ["get_param"] and len(words) > 1:
        return _get(node, words[1:], bare="-n" in arguments)
    if words[:1] == ["set_param"] and len(words) > 1:
        return _set(node, words[1:])
    return Answer(error=f"the simulated lctl does not know: {' '.join(arguments)}\n", status=1)


def lfs(node: Node, arguments: Sequence[str]) -> Answer:
    """`--version`, `getname [PATH]`, `check servers`, `df [PATH]`."""
    match list(arguments):
        case ["--version", *_]:
            return Answer(f"lfs {node.installed} (simulated)\n")
        case ["getname", *paths]:
            return _names(node, paths)
        case ["check", *_]:
            return _check(node)
        case ["df", *paths]:
            return _df(node, [path for path in paths if not path.startswith("-")])
    return Answer(error=f"the simulated lfs does not know: {' '.join(arguments)}\n", status=1)


def _mounted(node: Node) -> Iterator[tuple[SimulatedShare, str]]:
    for share in shares.of_kind(node, "lustre"):
        for point in shares.mount_points(node, share):
            yield share, point


def _targets(share: SimulatedShare, point: str) -> Iterator[tuple[str, str, str]]:
    """Kind of device, its name and its state, of each target: mdc first."""
    instance = _instance(share, point)
    state = "EVICTED" if share.state == "evicted" else "DISCONN" if share.state == "away" else "FULL"
    yield "mdc", f"{share.name}-MDT0000-mdc-{instance}", state
    for number in range(share.targets):
        own = "DISCONN" if number in share.targets_down else state
        yield "osc", f"{share.name}-OST{number:04x}-osc-{instance}", own


def _instance(share: SimulatedShare, point: str) -> str:
    return f"ffff{hashlib.sha256(f'{share.name}{point}'.encode()).hexdigest()[:12]}"


def _parameters(node: Node) -> Mapping[str, str]:
    """Every parameter that can be read, by its dotted name."""
    if node.module("lustre") is None:
        return {}
    found = {"version": node.module("lustre") or "", "health_check": "healthy"}
    for share, point in _mounted(node):
        found[f"llite.{share.name}-{_instance(share, point)}.max_cached_mb"] = "users: 3"
        found[f"ldlm.namespaces.{share.name}-{_instance(share, point)}.lru_max_age"] = "3900000"
        for kind, name, state in _targets(share, point):
            found[f"{kind}.{name}.import"] = _import(node, share, name, state)
            found[f"{kind}.{name}.max_rpcs_in_flight"] = "8"
            if kind == "mdc":
                found[f"{kind}.{name}.max_mod_rpcs_in_flight"] = "7"
    return {**found, **{name: value for name, value in _told(node).items() if name in found}}


def _told(node: Node) -> dict[str, str]:
    return node.setting("lustre") or {}


def _import(node: Node, share: SimulatedShare, name: str, state: str) -> str:
    """After lprocfs_rd_import: name, target, state and connection."""
    lines = [
        "import:",
        f"    name: {name}",
        f"    target: {'-'.join(name.split('-')[:2])}_UUID",
        f"    state: {state}",
        "    import_flags: [ replayable, pingable, connect_tried ]",
        "    connection:",
        f"       failover_nids: [ {', '.join(share.servers)} ]",
        f"       current_connection: {shares.server_of(node, share)}",
        "       connection_attempts: 1",
    ]
    return "\n".join(lines)


def _get(node: Node, patterns: Sequence[str], *, bare: bool) -> Answer:
    known, text = _parameters(node), ""
    for pattern in patterns:
        names = [name for name in known if fnmatchcase(name, pattern)]
        if not names:
            path = pattern.replace(".", "/")
            return Answer(text, 2, f"error: get_param: param_path '{path}': No such file or directory\n")
        for name in names:
            value, between = known[name], "\n" if "\n" in known[name] else ""
            text += f"{value}\n" if bare else f"{name}={between}{value}\n"
    return Answer(text)


def _set(node: Node, words: Sequence[str]) -> Answer:
    known, told, text = _parameters(node), _told(node), ""
    for word in words:
        pattern, _, value = word.partition("=")
        names = [name for name in known if fnmatchcase(name, pattern)]
        if not names:
            path = pattern.replace(".", "/")
            return Answer(text, 2, f"error: set_param: param_path '{path}': No such file or directory\n")
        told.update(dict.fromkeys(names, value))
        text += "".join(f"{name}={value}\n" for name in names)
    node.remember("lustre", told)
    return Answer(text)


def _names(node: Node, paths: Sequence[str]) -> Answer:
    rows = list(_mounted(node))
    if paths:
        share = shares.mounted_at(node, "lustre", paths[-1])
        if share is None:
            text = f"error: getname for '{paths[-1]}' failed: Inappropriate ioctl for device\n"
            return Answer(error=text, status=25)
        rows = [(one, point) for one, point in rows if one is share and _under(paths[-1], point)]
    return Answer("".join(f"{share.name}-{_instance(share, point)} {point}\n" for share, point in rows))


def _under(path: str, point: str) -> bool:
    return path == point or path.startswith(f"{point}/")


def _check(node: Node) -> Answer:
    text = error = ""
    for share, point in _mounted(node):
        for _, name, state in _targets(share, point):
            if state == "FULL":
                text += f"{name} active.\n"
            else:
                error += f"error: check '{name}': Resource temporarily unavailable (11)\n"
    return Answer(text, 11 if error else 0, error)


def _df(node: Node, paths: Sequence[str]) -> Answer:
    rows = [row for row in _mounted(node) if not paths or _under(paths[-1], row[1])]
    if not rows:
        return Answer(error=f"lfs df: {paths[-1] if paths else '/'} is no Lustre file system\n", status=1)
    text = ""
    for share, point in rows:
        text += "UUID                   1K-blocks        Used   Available Use% Mounted on\n"
        for kind, name, state in _targets(share, point):
            uuid, short = f"{'-'.join(name.split('-')[:2])}_UUID", "MDT" if kind == "mdc" else "OST"
            place = f"{point}[{short}:{int(name.split('-')[1][3:], 16)}]"
            if state == "FULL":
                left = _CAPACITY_KB - _USED_KB
                text += f"{uuid:<20} {_CAPACITY_KB:>11} {_USED_KB:>11} {left:>11}   2% {place}\n"
            else:
                text += f"{uuid:<20}: Resource temporarily unavailable\n"
        up = sum(state == "FULL" for kind, _, state in _targets(share, point) if kind == "osc")
        free = up * (_CAPACITY_KB - _USED_KB)
        text += (
            f"\nfilesystem_summary:  {up * _CAPACITY_KB:>11} {up * _USED_KB:>11} {free:>11}   2% {point}\n\n"
        )
    return Answer(text)

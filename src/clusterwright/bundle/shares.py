"""The shares that a node mounts: by which unit, from where, and what its clients must be told."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clusterwright.catalog.lustre import CARDS, efa_interfaces, network_type, runs_on
from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile

if TYPE_CHECKING:
    from clusterwright.bundle.role import Role

_SERVED_OPTIONS = "vers=4.2,hard,noatime"
PARALLEL = ("lustre", "beegfs", "cephfs", "weka")
BUCKETS = ("s3", "gcs")
_OWN_TYPES = ("lustre", "ceph", "wekafs", "mount-s3", "gcsfuse")
_RDMA = CARDS["o2ib"]
WEKA_AGENT = "clusterwright-weka-agent.service"
_WEKA_JOINS = "10min"
"""The first mount fetches the client, builds its driver and joins the cluster, for which it has 360 s alone
(WEKA documentation, mount command options: join_timeout_secs)."""
_ON = {"compute", "login"}
"""Parallel file systems and buckets are for where people and jobs are."""


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount unit."""

    path: str
    what: str
    type: str
    options: str
    after: tuple[str, ...] = ()
    """Units without which it cannot be."""
    timeout: str = ""
    """Of mounting, where systemd's own is too short."""

    @property
    def unit(self) -> str:
        return mount_unit(self.path)


def mounted(handoff: Handoff, node: Node) -> dict[str, Mapping[str, Any]]:
    """The shares that a node mounts, by mount point; the file server has its own directories already."""
    server = file_server(handoff)
    return {
        path: share
        for path, share in sorted(handoff.shares(node.site).items())
        if not (share["kind"] == "served" and node.name == server)
        and (share["kind"] not in (*PARALLEL, *BUCKETS) or _ON & set(node.roles))
    }


def of_kind(handoff: Handoff, node: Node, kind: str) -> dict[str, Mapping[str, Any]]:
    return {path: share for path, share in mounted(handoff, node).items() if share["kind"] == kind}


def mounts(handoff: Handoff, node: Node, kinds: Collection[str]) -> Iterator[Mount]:
    """Mount units of these kinds. BeeGFS has none: its own service mounts."""
    for path, share in mounted(handoff, node).items():
        if share["kind"] in kinds:
            yield _mount(handoff, path, share)


def unit_files(handoff: Handoff, node: Node, role: Role, template: Role) -> Iterator[NodeFile]:
    """The mount units that a role brings, all from one template."""
    for mount in mounts(handoff, node, role.mounts):
        values = {"path": mount.path, "what": mount.what, "type": mount.type, "options": mount.options}
        more = {"after": mount.after, "timeout": mount.timeout}
        text = template.text("share.mount.j2", {**values, **more})
        affects = (f"{mount.unit}:restart",) if mount.type in _OWN_TYPES else ()
        yield NodeFile(f"/etc/systemd/system/{mount.unit}", text, (), affects=affects)


def _mount(handoff: Handoff, path: str, share: Mapping[str, Any]) -> Mount:
    match share["kind"]:
        case "served":
            return Mount(path, f"{file_server(handoff)}:{path}", "nfs4", _SERVED_OPTIONS)
        case "nfs":
            return Mount(path, f"{share['server']}:{share['export']}", "nfs4", share["options"])
        case "lustre":
            what = f"{':'.join(share['mgs'])}:/{share['file_system']}{share['directory'] or ''}"
            return Mount(path, what, "lustre", share["options"], ("clusterwright-lnet.service",))
        case "weka":
            what = f"{','.join(share['backends'])}/{share['file_system']}"
            return Mount(path, what, "wekafs", _weka_options(path, share), (WEKA_AGENT,), _WEKA_JOINS)
        case "s3":
            return Mount(path, f"s3://{share['bucket']}/{_folder(share)}", "mount-s3", _s3_options(share))
        case "gcs":
            return Mount(path, share["bucket"], "gcsfuse", _gcs_options(share))
        case _:
            what = f"{','.join(share['monitors'])}:{share['directory'] or '/'}"
            own = f"name={share['user']},fs={share['file_system']},conf={ceph_conf(share)}"
            return Mount(path, what, "ceph", f"{own},{share['options']}")


def _folder(share: Mapping[str, Any]) -> str:
    return f"{share['folder']}/" if share["folder"] else ""


def _s3_options(share: Mapping[str, Any]) -> str:
    """Mountpoint for Amazon S3, CONFIGURATION.md: options of fstab, and modes of files that have no owner."""
    own = "nosuid,nodev,allow-other"
    if not share["writable"]:
        return f"ro,{own}"
    return f"rw,{own},allow-delete,allow-overwrite,dir-mode=0777,file-mode=0666"


def _gcs_options(share: Mapping[str, Any]) -> str:
    """Cloud Storage FUSE, CLI options: as mount(8) gives them; folders are seen that no object stands for."""
    own = "nosuid,nodev,allow_other,implicit_dirs"
    only = f",only_dir={share['folder']}" if share["folder"] else ""
    return f"rw,{own},dir_mode=777,file_mode=666{only}" if share["writable"] else f"ro,{own}{only}"


def read_only(handoff: Handoff, node: Node) -> list[str]:
    """Mount points that nobody is to write to."""
    return [
        path
        for path, share in mounted(handoff, node).items()
        if share["kind"] in BUCKETS and not share["writable"]
    ]


def _weka_options(path: str, share: Mapping[str, Any]) -> str:
    """A core for each interface, which jobs may use as well, else UDP; what is said stands before."""
    said = [word for word in share["options"].split(",") if word]
    rails = [f"net={name}" for name in share["interfaces"]] or ["net=udp"]
    derived = [f"num_cores={len(share['interfaces'])}", *rails]
    derived += ["dedicated_mode=none"] if share["interfaces"] else []
    names = {word.partition("=")[0] for word in said}
    own = [word for word in derived if word.partition("=")[0] not in names]
    token = [f"auth_token_path={weka_token(path)}"] if share["auth_token"] else []
    return ",".join([*own, *token, *said])


def weka_token(path: str) -> str:
    return f"/etc/clusterwright/weka-{path.strip('/').replace('/', '-')}.token"


def ceph_conf(share: Mapping[str, Any]) -> str:
    """One file for each Ceph cluster: fsid and monitors, and where the keyring is."""
    return f"/etc/ceph/clusterwright-{share['fsid']}.conf"


def ceph_keyring(share: Mapping[str, Any]) -> str:
    return f"/etc/ceph/clusterwright-{share['fsid']}.client.{share['user']}.keyring"


def beegfs_files(path: str) -> tuple[str, str]:
    """Configuration and secret of the BeeGFS file system at a mount point."""
    name = path.strip("/").replace("/", "-")
    return f"/etc/beegfs/clusterwright-{name}.conf", f"/etc/beegfs/clusterwright-{name}.auth"


def client_files(handoff: Handoff, node: Node, role: Role) -> Iterator[NodeFile]:
    """What the clients of CephFS and BeeGFS are configured with: a file for each file system."""
    if "cephfs" in role.clients:
        for share in of_kind(handoff, node, "cephfs").values():
            filled = {"share": share, "keyring": ceph_keyring(share)}
            yield NodeFile(ceph_conf(share), role.text("ceph.conf.j2", filled), ())
    if "beegfs" in role.clients:
        affects = ("beegfs-client:restart",)
        systems = of_kind(handoff, node, "beegfs")
        for path, share in systems.items():
            configuration, secret = beegfs_files(path)
            filled = {"share": share, "secret": secret if share["connection_auth"] else ""}
            yield NodeFile(configuration, role.text("client.conf.j2", filled), (), affects=affects)
        lines = "".join(f"{path} {beegfs_files(path)[0]}\n" for path in systems)
        if lines:
            yield NodeFile("/etc/beegfs/beegfs-mounts.conf", lines, (), affects=affects)


def key_files(handoff: Handoff, node: Node, role: Role) -> Iterator[str]:
    """Paths on the node of the secrets that a role's clients need."""
    for path, share in mounted(handoff, node).items():
        if share["kind"] in role.clients:
            if share["kind"] == "cephfs":
                yield ceph_keyring(share)
            elif share["kind"] == "beegfs" and share["connection_auth"]:
                yield beegfs_files(path)[1]
            elif share["kind"] == "weka" and share["auth_token"]:
                yield weka_token(path)


def secrets(handoff: Handoff) -> Mapping[str, str]:
    """Path on the node → file beside the description, of everything that a client must keep secret."""
    found = {}
    for path, share in handoff.every_share:
        if share["kind"] == "cephfs":
            found[ceph_keyring(share)] = share["keyring"]
        if share["kind"] == "beegfs" and share["connection_auth"]:
            found[beegfs_files(path)[1]] = share["connection_auth"]
        if share["kind"] == "weka" and share["auth_token"]:
            found[weka_token(path)] = share["auth_token"]
    return found


def lnet(handoff: Handoff, node: Node) -> dict[str, list[str]]:
    """LNet network → interfaces; one without any uses those that are in the site's own network."""
    wanted: dict[str, list[str]] = {}
    for share in of_kind(handoff, node, "lustre").values():
        for network, interfaces in _reached_over(handoff, node, share).items():
            have = wanted.setdefault(network, [])
            have += [name for name in interfaces if name not in have]
    return dict(sorted(wanted.items()))


def _reached_over(handoff: Handoff, node: Node, share: Mapping[str, Any]) -> dict[str, list[str]]:
    """The networks of a share that a node has cards for: the fabrics, and tcp where it has none of theirs.

    Servers whose management server has no NID on the fabric are asked where they have one."""
    hardware = handoff.hardware[node.machine]
    named = share["networks"] or {network: [] for network in networks_of(share["mgs"])}
    own = {network: rails for network, rails in named.items() if runs_on(network, hardware)}
    fabrics = {network: rails for network, rails in own.items() if network_type(network) in CARDS}
    asked = {network: own[network] for network in networks_of(share["mgs"]) if network in own}
    return {**fabrics, **({} if set(asked) & set(fabrics) else asked)} if fabrics else own


def interfaces(handoff: Handoff, node: Node) -> dict[str, int]:
    """How many interfaces each LNet network of a node has."""
    return {name: len(rails) or _found(node, name) for name, rails in lnet(handoff, node).items()}


def _found(node: Node, network: str) -> int:
    """Of a network whose interfaces the node finds by itself."""
    return efa_interfaces()[node.machine] if network_type(network) == "efa" else 1


def networks_of(mgs: Collection[str]) -> list[str]:
    """The LNet networks of these NIDs; `tcp0` is `tcp`."""
    names = {nid.partition("@")[2] for entry in mgs for nid in entry.split(",")}
    return sorted({name.removesuffix("0") if name in ("tcp0", "o2ib0", "efa0") else name for name in names})


def address_ranges(network: str) -> list[str]:
    """A network in the form of LNet's ip2nets: `10.1.[4-7].*` for 10.1.4.0/22."""
    parsed = ipaddress.IPv4Network(network)
    pairs = zip(parsed.network_address.packed, parsed.broadcast_address.packed, strict=True)
    return [".".join(_octet(low, high) for low, high in pairs)]


def _octet(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return "*" if (low, high) == (0, 255) else f"[{low}-{high}]"


def to_prove(handoff: Handoff, node: Node) -> dict[str, dict[str, Any]]:
    """What the node's gates hold its parallel file systems against, by mount point."""
    found = {}
    for path, share in mounted(handoff, node).items():
        if share["kind"] == "lustre":
            networks = sorted(_reached_over(handoff, node, share))
            own = {"file_system": share["file_system"], "networks": networks}
            found[path] = {"kind": "lustre", **own, "carried": _carried(networks, share)}
        elif share["kind"] == "cephfs":
            own = {"fsid": share["fsid"], "user": share["user"], "configuration": ceph_conf(share)}
            found[path] = {"kind": "cephfs", **own}
        elif share["kind"] == "beegfs":
            rdma = share["rdma"] and bool(_RDMA & {nic.kind for nic in handoff.hardware[node.machine].nics})
            found[path] = {"kind": "beegfs", "management": share["management"], "rdma": rdma}
        elif share["kind"] == "weka":
            found[path] = {"kind": "weka", "file_system": share["file_system"]}
    return found


def _carried(networks: Collection[str], share: Mapping[str, Any]) -> list[str]:
    """Fabrics that servers are found on by discovery: their connections go by other names than those NIDs."""
    known = networks_of(share["mgs"])
    return [name for name in networks if network_type(name) in CARDS and name not in known]


def file_server(handoff: Handoff) -> str:
    """The node that serves what the cluster serves itself."""
    servers = handoff.with_role("storage") or handoff.with_role("controller")
    return servers[0].name if servers else ""


def mount_unit(path: str) -> str:
    """The unit's name of a mount point, as `systemd-escape --path --suffix=mount` makes it."""
    trimmed = re.sub(r"/+", "/", path).strip("/")
    escaped = re.sub(r"[^A-Za-z0-9:_./]|^\.", lambda match: f"\\x{ord(match[0]):02x}", trimmed)
    return escaped.replace("/", "-") + ".mount"

"""What the clients of parallel file systems are given on each node, from a solved lock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusterwright.bundle import shares
from clusterwright.bundle.build import Bundle
from clusterwright.bundle.wanted import Wanted
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff
from clusterwright.operate.keys import secrets_beside
from clusterwright.render import render

from . import solved

LUSTRE = """\
storage:
  shares:
    /home: {kind: nfs, server: filer, export: /home}
    /scratch:
      kind: lustre
      mgs: ["10.0.0.5@o2ib,10.0.1.5@tcp", "10.0.0.6@o2ib,10.0.1.6@tcp"]
      file_system: scratch
      directory: /projects
      networks: {o2ib: [ib0, ib1], tcp: []}
scheduler: {release: 25.11}
"""
OTHERS = """\
storage:
  shares:
    /work: {kind: beegfs, management: bee1, connection_auth: secrets/conn.auth}
    /data: {kind: cephfs, monitors: [m1, m2], fsid: 7a3c0e9e-1f5c-4a2b-9d3e-0f1a2b3c4d5e, user: hpc,
            keyring: secrets/hpc.keyring}
"""
KEYRING = "/etc/ceph/clusterwright-7a3c0e9e-1f5c-4a2b-9d3e-0f1a2b3c4d5e.client.hpc.keyring"
AUTH = "/etc/beegfs/clusterwright-work.auth"


def made(more: str, distribution: str) -> Handoff:
    return solved.handoff("hgx-h100-8gpu", distribution, more=more)


def nodes(handoff: Handoff) -> dict[str, Wanted]:
    keys = {"/etc/slurm/slurm.key": b"k", "/etc/munge/munge.key": b"k"}
    keys |= dict.fromkeys(shares.secrets(handoff), b"s")
    return dict(Bundle(handoff, render(handoff), keys).all())


def text(node: Wanted, path: str) -> str:
    return next(file.content or "" for file in node.files if file.path == path)


def test_lustre_is_mounted_after_lnet_over_the_rails_that_a_node_has() -> None:
    found = nodes(made(LUSTRE, "ubuntu-22.04"))
    unit = text(found["gpu1"], "/etc/systemd/system/scratch.mount")
    assert "What=10.0.0.5@o2ib,10.0.1.5@tcp:10.0.0.6@o2ib,10.0.1.6@tcp:/scratch/projects\n" in unit
    assert "Requires=clusterwright-lnet.service\nAfter=clusterwright-lnet.service\n" in unit
    assert "Type=lustre\nOptions=flock,relatime,_netdev\n" in unit
    order = [one.name for one in found["gpu1"].units if one.active]
    chain = ["home.mount", "clusterwright-lnet", "scratch.mount", "clusterwright-gate", "slurmd"]
    assert [name for name in order if name in chain] == chain
    rails, plain = text(found["gpu1"], "/etc/lnet.conf"), text(found["ctl1"], "/etc/lnet.conf")
    assert "net type: o2ib" in rails and "0: ib1" in rails and "tcp" not in rails
    assert "net-spec: tcp" in plain and "0: 10.60.[0-3].*" in plain and "o2ib" not in plain


def test_options_of_lustre_follow_the_machine() -> None:
    found = nodes(made(LUSTRE, "ubuntu-22.04"))
    path = "/etc/modprobe.d/90-clusterwright-lustre.conf"
    assert "options ptlrpc ptlrpcd_per_cpt_max=32" in text(found["gpu1"], path)
    assert "ksocklnd" not in text(found["gpu1"], path), "it is not on tcp"
    assert "options" not in text(found["ctl1"], path).partition("\n")[2]
    assert "lru_max_age=600000" in text(
        found["gpu1"], "/etc/systemd/system/clusterwright-lustre-settings.service"
    )


def test_secrets_are_the_nodes_alone_and_in_nothing_that_can_be_read() -> None:
    handoff = made(OTHERS, "debian-13")
    found = nodes(handoff)
    for path in (KEYRING, AUTH):
        file = next(file for file in found["gpu1"].files if file.path == path)
        assert (file.mode, file.owner, file.content) == (0o400, "root", None)
    mounts = text(found["gpu1"], "/etc/beegfs/beegfs-mounts.conf")
    assert mounts == "/work /etc/beegfs/clusterwright-work.conf\n"
    assert f"connAuthFile = {AUTH}\n" in text(found["gpu1"], "/etc/beegfs/clusterwright-work.conf")
    assert f"keyring = {KEYRING}\n" in text(
        found["gpu1"], "/etc/ceph/clusterwright-7a3c0e9e-1f5c-4a2b-9d3e-0f1a2b3c4d5e.conf"
    )
    assert "beegfs-client" in found["gpu1"].active_units
    assert "data.mount" in found["gpu1"].active_units


def test_a_secret_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        secrets_beside(tmp_path, made(OTHERS, "debian-13"))
    assert [finding.code for finding in refused.value.findings] == ["CW8004", "CW8004"]
    assert {str(finding.where) for finding in refused.value.findings} == {
        "secrets/conn.auth",
        "secrets/hpc.keyring",
    }


def weka(more: str) -> dict[str, Wanted]:
    share = "kind: weka, backends: [weka1, weka2], file_system: scratch"
    return nodes(made(f"storage: {{shares: {{/scratch: {{{share}{more}}}}}}}\n", "debian-13"))


def test_weka_is_installed_from_its_backends_before_it_is_mounted_by_jobs_users_and_nobody_else() -> None:
    digest = "0123456789abcdef" * 4
    found = weka(f", installer_sha256: {digest}, interfaces: [ib0, ib1], auth_token: keys/weka.token")
    unit = text(found["gpu1"], "/etc/systemd/system/scratch.mount")
    assert "What=weka1,weka2/scratch\n" in unit and "Type=wekafs\n" in unit and "TimeoutSec=10min\n" in unit
    assert "Requires=clusterwright-weka-agent.service\nAfter=clusterwright-weka-agent.service\n" in unit
    token = "/etc/clusterwright/weka-scratch.token"
    own = f"num_cores=2,net=ib0,net=ib1,dedicated_mode=none,auth_token_path={token},noatime,_netdev"
    assert f"Options={own}\n" in unit
    agent = text(found["gpu1"], "/etc/systemd/system/clusterwright-weka-agent.service")
    assert f"ExecStart=/usr/lib/clusterwright/weka-agent --sha256={digest} weka1 weka2\n" in agent
    order = [one.name for one in found["gpu1"].units if one.active]
    chain = ["clusterwright-weka-agent", "scratch.mount", "clusterwright-gate", "slurmd"]
    assert [name for name in order if name in chain] == chain
    secret = next(file for file in found["gpu1"].files if file.path == token)
    assert (secret.mode, secret.owner, secret.content) == (0o400, "root", None)


def test_what_is_said_of_weka_stands_before_what_is_derived() -> None:
    unit = text(weka("")["gpu1"], "/etc/systemd/system/scratch.mount")
    assert "Options=num_cores=0,net=udp,noatime,_netdev\n" in unit
    more = ", interfaces: [ib0], options: 'num_cores=4,dedicated_mode=full'"
    unit = text(weka(more)["gpu1"], "/etc/systemd/system/scratch.mount")
    assert "Options=net=ib0,num_cores=4,dedicated_mode=full,_netdev\n" in unit


@pytest.mark.parametrize(
    ("network", "ranges"),
    [("10.1.4.0/22", "10.1.[4-7].*"), ("10.0.0.0/8", "10.*.*.*"), ("192.168.7.64/26", "192.168.7.[64-127]")],
)
def test_a_network_is_told_to_lnet_octet_by_octet(network: str, ranges: str) -> None:
    assert shares.address_ranges(network) == [ranges]


OVER_EFA = """\
storage:
  shares:
    /scratch: {kind: lustre, mgs: 10.0.0.5@tcp, file_system: a1b2c3d4, networks: {efa: [], tcp: []}}
scheduler: {release: 25.11}
"""


def test_lustre_goes_over_the_efa_cards_that_amazon_advises_and_keeps_its_servers_on_tcp() -> None:
    found = nodes(solved.handoff("p5.48xlarge", "amazon-2023", more=OVER_EFA, provider="aws"))
    gpu, plain = found["gpu-001"], found["controller-001"]
    service = "/etc/systemd/system/clusterwright-lnet.service"
    assert "ExecStart=/usr/lib/clusterwright/lnet-efa efa 8\n" in text(gpu, service)
    assert "lnet-efa" not in text(plain, service)
    assert "/usr/lib/clusterwright/lnet-efa" not in {file.path for file in plain.files}
    for node in (gpu, plain):
        lnet = text(node, "/etc/lnet.conf")
        assert "net-spec: tcp" in lnet and "efa" not in lnet
    planned = json.loads(text(gpu, "/etc/clusterwright/node.json"))
    assert planned["lnet"] == {"efa": 8, "tcp": 1}
    assert planned["file_systems"]["/scratch"]["networks"] == ["efa", "tcp"]
    assert planned["file_systems"]["/scratch"]["carried"] == ["efa"]
    assert json.loads(text(plain, "/etc/clusterwright/node.json"))["lnet"] == {"tcp": 1}


BUCKETS = """\
storage:
  shares:
    /data: {kind: s3, bucket: example-data, folder: sets/raw}
    /results: {kind: s3, bucket: example-results, writable: true}
"""


def test_buckets_are_mounted_to_be_read_and_where_it_is_said_to_be_written() -> None:
    found = nodes(solved.handoff("g6e.8xlarge", "ubuntu-24.04", more=BUCKETS, provider="aws"))
    data = text(found["gpu-001"], "/etc/systemd/system/data.mount")
    assert "What=s3://example-data/sets/raw/\n" in data and "Type=mount-s3\n" in data
    assert "Options=ro,nosuid,nodev,allow-other,_netdev\n" in data
    results = text(found["gpu-001"], "/etc/systemd/system/results.mount")
    own = "rw,nosuid,nodev,allow-other,allow-delete,allow-overwrite,dir-mode=0777,file-mode=0666"
    assert f"Options={own},_netdev\n" in results
    planned = json.loads(text(found["gpu-001"], "/etc/clusterwright/node.json"))
    assert planned["read_only"] == ["/data"] and {"/data", "/results"} <= set(planned["mounts"])
    google = BUCKETS.replace("kind: s3", "kind: gcs")
    found = nodes(solved.handoff("g2-standard-4", "ubuntu-24.04", more=google, provider="gcp"))
    data = text(found["gpu-001"], "/etc/systemd/system/data.mount")
    own = "ro,nosuid,nodev,allow_other,implicit_dirs,only_dir=sets/raw"
    assert "What=example-data\n" in data and f"Type=gcsfuse\nOptions={own},_netdev\n" in data

"""Rendered rules in the real kernel: who gets in where, asked from addresses of every network."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.spec.load import loads
from clusterwright.spec.machines import parse_machines
from clusterwright.spec.site import OnpremSite

from .wires import room

DESCRIPTION = """\
cluster: small
site:
  provider: onprem
  network: 10.74.0.0/24
  boot: {}
  machines: machines.csv
  firewall:
    operators_from: [10.9.0.0/25, 10.9.0.128/25, 10.9.0.0/24]
    people_from: 192.0.2.0/24
    monitoring_from: 10.8.0.1/32
    trusted: 10.7.0.0/24
    allow: {head: {8443/tcp: 0.0.0.0/0, 8000-8100/tcp: 198.51.100.0/24}}
pools:
  head: {roles: [controller, login], machine: generic-x86-2c, nodes: head1}
  work: {roles: compute, machine: generic-x86-2c, nodes: work1}
software: {distribution: debian-12}
scheduler: {rest: true}
"""
HEAD, WORK = "10.74.0.10", "10.74.0.11"
SENDERS = {
    "node": "10.74.0.99/24",
    "operator": "10.9.0.7/24",
    "person": "192.0.2.7/24",
    "monitor": "10.8.0.1/24",
    "server": "10.7.0.7/24",
    "app": "198.51.100.7/24",
    "stranger": "203.0.113.7/24",
}
PORTS = [22, 6817, 6820, 8050, 8443, 9090, 9100, 9400]
"""SSH, slurmctld, slurmrestd, two ports of the site's own, Prometheus, the node exporter, DCGM's."""
OPEN = {
    ("head", "node"): PORTS,
    ("head", "operator"): [22, 8443],
    ("head", "person"): [22, 6820, 8443],
    ("head", "monitor"): [8443, 9090, 9100],
    ("head", "server"): PORTS,
    ("head", "app"): [8050, 8443],
    ("head", "stranger"): [8443],
    ("work", "node"): PORTS,
    ("work", "operator"): [22],
    ("work", "person"): [],
    ("work", "monitor"): [9100, 9400],
    ("work", "server"): PORTS,
    ("work", "app"): [],
    ("work", "stranger"): [],
}
LISTEN = """
import json, selectors, socket, sys
chosen = selectors.DefaultSelector()
for port in json.loads(sys.argv[1]):
    chosen.register(socket.create_server(("0.0.0.0", port)), selectors.EVENT_READ)
print("listening", flush=True)
while True:
    for key, _ in chosen.select():
        key.fileobj.accept()[0].close()
"""
# A SYN that is dropped is answered by nobody. So an echo is asked for after all of them: once it is answered,
# what was before it on the wire has been judged.
KNOCK = """
import json, selectors, socket, struct, sys, time
address, ports, awaited = sys.argv[1], json.loads(sys.argv[2]), set(json.loads(sys.argv[3]))
chosen, opened = selectors.DefaultSelector(), set()

def hear(seconds):
    for key, _ in chosen.select(seconds):
        chosen.unregister(key.fileobj)
        if not key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            opened.add(key.data)

for port in ports:
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex((address, port))
    chosen.register(one, selectors.EVENT_WRITE, port)
until = time.monotonic() + 30
while awaited - opened and time.monotonic() < until:
    hear(0.2)
echo = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
echo.settimeout(30)
echo.sendto(struct.pack("!BBHHH", 8, 0, 0xffff - 0x0800, 0, 0), (address, 0))
while echo.recv(200)[20] != 0:
    pass
hear(0)
print(json.dumps(sorted(opened)))
"""


def rules(folder: Path) -> dict[str, Path]:
    """Of each pool, as rendered."""
    spec = loads(DESCRIPTION).spec
    file, findings = parse_machines(f"node,address\nhead1,{HEAD}\nwork1,{WORK}\n", "machines.csv")
    assert findings == [] and isinstance(spec.site, OnpremSite)
    spec.site.know(file)
    made, found = from_plan(plan(spec)), {}
    row = {"version": "4.8.2", "flavour": "", "packages": {}, "services": [], "hold": [], "repository": None}
    with_gpus = {**made.software, "stacks": {"work": {"dcgm_exporter": row}}}
    for one in render(replace(made, software=with_gpus)):
        if one.path.startswith("/etc/clusterwright/firewall/"):
            found[one.pools[0]] = folder / Path(one.path).name
            found[one.pools[0]].write_text(one.content)
    return found


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[int]]:
    pools = rules(tmp_path_factory.mktemp("rules"))
    with room({"head": f"{HEAD}/24", "work": f"{WORK}/24", **SENDERS}) as machines:
        for name, machine in machines.items():
            if name != "switch":
                machine.run("ip", "route", "add", "default", "dev", "eth0")
        seen, listeners = {}, []
        try:
            for name, address in (("head", HEAD), ("work", WORK)):
                words = machines[name].words(sys.executable, "-c", LISTEN, json.dumps(PORTS))
                listeners.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
                out = listeners[-1].stdout
                assert out and out.readline() == "listening\n"
                machines[name].run("nft", "-f", str(pools[name]))
                for sender in SENDERS:
                    words = [address, json.dumps(PORTS), json.dumps(OPEN[name, sender])]
                    said = machines[sender].run(sys.executable, "-c", KNOCK, *words)
                    seen[name, sender] = json.loads(said)
        finally:
            for one in listeners:
                one.kill()
                one.__exit__(None, None, None)
    return seen


@pytest.mark.parametrize(("pool", "sender"), OPEN)
def test_only_what_was_described_is_let_in(
    opened: dict[tuple[str, str], list[int]], pool: str, sender: str
) -> None:
    assert opened[pool, sender] == OPEN[pool, sender]

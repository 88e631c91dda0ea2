"""The page of the DCGM exporter, fetched as Prometheus fetches it and read by its own text format."""

from __future__ import annotations

import re
import threading
import urllib.request
from http.server import ThreadingHTTPServer

import pytest
from simulated_machines import World

from clusterwright.providers.lab.simulators import exporter

LINE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)\{(?P<labels>(?:\w+=\"[^\"\\]*\",?)+)\} (?P<value>[0-9.]+)"
)
"""A sample in Prometheus' text format 0.0.4 without time: prometheus.io, Exposition formats."""


def scraped(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], float]:
    """Value by metric and GPU."""
    monkeypatch.setattr(exporter, "find_node", lambda: world.node(""))
    with ThreadingHTTPServer(("127.0.0.1", 0), exporter._Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            page = answer.read().decode()
        server.shutdown()
    found = {}
    for line in page.splitlines():
        if not line.startswith("#"):
            sample = LINE.fullmatch(line)
            assert sample, line
            labels = dict(re.findall(r'(\w+)="([^"]*)"', sample["labels"]))
            assert {"UUID", "pci_bus_id", "device", "modelName", "Hostname"} < labels.keys()
            found[sample["name"], labels["gpu"]] = float(sample["value"])
    return found


def test_it_tells_of_each_gpu_what_the_driver_tells(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.machine("hgx-h100")
    told = scraped(world, monkeypatch)
    assert {gpu for _, gpu in told} == {str(number) for number in range(8)}
    assert told["DCGM_FI_DEV_FB_FREE", "0"] + told["DCGM_FI_DEV_FB_USED", "0"] > 80000
    assert told["DCGM_FI_DEV_XID_ERRORS", "3"] == 0


def test_faults_show(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.machine("hgx-h100", ("ecc", 1), ("thermal-slowdown", 2), ("xid", 3))
    told = scraped(world, monkeypatch)
    assert told["DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "1"] > 0
    assert told["DCGM_FI_DEV_GPU_TEMP", "2"] > told["DCGM_FI_DEV_GPU_TEMP", "0"]
    assert ("DCGM_FI_DEV_GPU_TEMP", "3") not in told, "it does not answer"

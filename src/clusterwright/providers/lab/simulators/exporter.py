"""dcgm-exporter: what the driver tells of each GPU, for Prometheus, on port 9400.

Names, labels and types of its default counters: NVIDIA/dcgm-exporter, default-counters.csv; their form:
captures of the exporter on L40S with driver 580.126.09. 2026-11.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import nvidia_smi
from .node import Answer, Node, find_node
from .services import host_engine, tell_systemd

_METRICS = {
    "DCGM_FI_DEV_SM_CLOCK": ("gauge", "clocks.current.sm"),
    "DCGM_FI_DEV_MEM_CLOCK": ("gauge", "clocks.current.memory"),
    "DCGM_FI_DEV_MEMORY_TEMP": ("gauge", "temperature.memory"),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "temperature.gpu"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "power.draw"),
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "utilization.gpu"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("gauge", "utilization.memory"),
    "DCGM_FI_DEV_FB_FREE": ("gauge", "memory.free"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "memory.used"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("counter", "remapped_rows.uncorrectable"),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": ("counter", "remapped_rows.correctable"),
}
"""Metric → its type, and the field of nvidia-smi that tells the same."""
_XID = "DCGM_FI_DEV_XID_ERRORS"
_IDENTITY = ("index", "uuid", "pci.bus_id", "name", "driver_version")
_PORT = 9400


def start(node: Node, arguments: Sequence[str]) -> Answer:
    """Serve until it is stopped. It begins without a GPU, and ends where the host engine would."""
    if {"--version", "-v", "--help", "-h"} & set(arguments):
        return Answer(f"dcgm-exporter version {node.installed}, simulated by clusterwright\n")
    if refusal := host_engine(node):
        return Answer(error=f"{refusal}\n", status=1)
    with ThreadingHTTPServer(("", _PORT), _Handler) as server:
        os.write(2, f"Starting webserver on :{_PORT} (simulated)\n".encode())
        tell_systemd()
        server.serve_forever()
    return Answer()


def metrics(node: Node) -> str:
    """The page `/metrics`: a GPU that does not answer, and what its model does not tell, has no line."""
    rows = [row for gpu in node.gpus if (row := _asked(node, gpu.uuid))]
    lines: list[str] = []
    for number, (name, (kind, _)) in enumerate(_METRICS.items(), len(_IDENTITY)):
        told = [(_labels(node, row), row[number]) for row in rows if _is_number(row[number])]
        lines += _metric(name, kind, told)
    xids = {gpu.uuid: gpu.xids[-1] for gpu in node.gpus if gpu.xids}
    told = [(_labels(node, row), str(xids.get(row[1], 0))) for row in rows]
    return "".join(f"{line}\n" for line in (*lines, *_metric(_XID, "gauge", told)))


def _asked(node: Node, gpu: str) -> list[str]:
    """Each by itself: nvidia-smi tells of none where it is asked for all and one does not answer."""
    fields = ",".join((*_IDENTITY, *(field for _, field in _METRICS.values())))
    asked = nvidia_smi.answer(node, ("-i", gpu, f"--query-gpu={fields}", "--format=csv,noheader,nounits"))
    return asked.text.rstrip("\n").split(", ") if asked.status == 0 else []


def _metric(name: str, kind: str, told: Sequence[tuple[str, str]]) -> Iterator[str]:
    if told:
        yield f"# HELP {name} simulated by clusterwright"
        yield f"# TYPE {name} {kind}"
        yield from (f"{name}{{{labels}}} {value}" for labels, value in told)


def _labels(node: Node, row: Sequence[str]) -> str:
    index, uuid, bus, model, driver = row[: len(_IDENTITY)]
    labels = {"gpu": index, "UUID": uuid, "pci_bus_id": bus, "device": f"nvidia{index}", "modelName": model}
    labels |= {"Hostname": node.name, "DCGM_FI_DRIVER_VERSION": driver}
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


class _Handler(BaseHTTPRequestHandler):
    """Reads the state anew for each question: a fault shows at once."""

    def do_GET(self) -> None:
        page = metrics(find_node()) if self.path == "/metrics" else ""
        self.send_response(200 if self.path in ("/health", "/metrics") else 404)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_: object) -> None:
        """Nobody reads who asked."""

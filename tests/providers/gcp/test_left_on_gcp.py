"""What a cluster left behind on Google Cloud: answers of the shapes that Google documents, over HTTP."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from google.auth.credentials import AnonymousCredentials

from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.gcp.labelled import labelled
from clusterwright.providers.gcp.live.project import Project

_PROJECT = "https://www.googleapis.com/compute/v1/projects/example-hpc"
_URL = f"{_PROJECT}/zones/us-central1-a"
_LABELS = {"labels": {"clusterwright-cluster": "mega"}}
_DISABLED = "Lustre API has not been used in project 123 before or it is disabled."
RECORDED: Mapping[str, Any] = {
    "compute/compute/v1/projects/example-hpc/aggregated/instances": {
        "items": {
            "zones/us-central1-a": {
                "instances": [
                    {
                        "name": "mega-gpu-001",
                        "selfLink": f"{_URL}/instances/mega-gpu-001",
                        "machineType": f"{_URL}/machineTypes/a3-megagpu-8g",
                    }
                ]
            },
            "zones/us-central1-b": {"warning": {"code": "NO_RESULTS_ON_PAGE"}},
        },
        "nextPageToken": "more",
    },
    "compute/compute/v1/projects/example-hpc/aggregated/instances more": {"items": {}},
    "compute/compute/v1/projects/example-hpc/aggregated/disks": {
        "items": {
            "zones/us-central1-a": {
                "disks": [
                    {"name": "mega-head-kept", "selfLink": f"{_URL}/disks/mega-head-kept"},
                    {
                        "name": "mega-gpu-001",
                        "selfLink": f"{_URL}/disks/mega-gpu-001",
                        "users": [f"{_URL}/instances/mega-gpu-001"],
                    },
                ]
            }
        }
    },
    "compute/compute/v1/projects/example-hpc/global/snapshots": {
        "items": [{"name": "head-1", "selfLink": f"{_PROJECT}/global/snapshots/head-1", **_LABELS}]
    },
    "file/v1/projects/example-hpc/locations/-/instances": {
        "instances": [
            {"name": "projects/example-hpc/locations/us-central1-a/instances/mega-home", **_LABELS},
            {"name": "projects/example-hpc/locations/us-central1-a/instances/theirs"},
        ]
    },
    "storage/storage/v1/b": {"items": [{"name": "mega-bundles", **_LABELS}, {"name": "theirs"}]},
}


class _Server(http.server.ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Google)
        self.filters: set[str] = set()


class _Google(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        where = urlsplit(self.path)
        asked = parse_qs(where.query)
        assert isinstance(self.server, _Server)
        self.server.filters |= {*asked.get("filter", ())}
        path = " ".join([where.path.strip("/"), *asked.get("pageToken", ())])
        if path.startswith("lustre/"):
            self._answer(403, {"error": {"message": _DISABLED, "status": "SERVICE_DISABLED"}})
        elif path in RECORDED:
            self._answer(200, RECORDED[path])
        else:
            self._answer(404, {})

    def _answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def google() -> Iterator[_Server]:
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def project(port: int) -> Project:
    return Project("example-hpc", base=f"http://127.0.0.1:{port}/{{}}", credentials=AnonymousCredentials())


def test_what_has_the_label_is_found_and_nothing_else(google: _Server) -> None:
    asked = project(google.server_port)
    found = labelled(asked, "mega")
    asked.close()
    assert [(one.kind, one.identity, one.machine) for one in found] == [
        ("compute disk", "projects/example-hpc/zones/us-central1-a/disks/mega-head-kept", ""),
        (
            "compute instance",
            "projects/example-hpc/zones/us-central1-a/instances/mega-gpu-001",
            "a3-megagpu-8g",
        ),
        ("compute snapshot", "projects/example-hpc/global/snapshots/head-1", ""),
        ("file instance", "projects/example-hpc/locations/us-central1-a/instances/mega-home", ""),
        ("storage bucket", "mega-bundles", ""),
    ]
    assert google.filters == {"labels.clusterwright-cluster=mega"}


def test_nobody_there_is_told() -> None:
    with pytest.raises(NoAnswer):
        labelled(project(1), "mega")

"""Images of a project, asked of a server that answers as Compute Engine documents it."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from google.auth.credentials import AnonymousCredentials

from clusterwright.finding import Refused
from clusterwright.providers.built import remove
from clusterwright.providers.gcp.stock import Stock

OLD, NEW = "0123456789abcdef", "fedcba9876543210"
HOST = "https://www.googleapis.com/compute/v1"


def image(digest: str, made: str) -> dict[str, object]:
    return {
        "kind": "compute#image",
        "name": f"clusterwright-{digest}",
        "creationTimestamp": made,
        "diskSizeGb": "50",
        "status": "READY",
        "labels": {"clusterwright-image": digest, "clusterwright-cluster": "vision"},
    }


class Google(http.server.BaseHTTPRequestHandler):
    """Images one to a page, and the disks of two zones."""

    images: ClassVar[dict[str, dict[str, object]]] = {}
    users: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {key: value[0] for key, value in parse_qs(parts.query).items()}
        if parts.path == "/projects/p/global/images":
            assert asked["filter"] == "labels.clusterwright-image:*"
            names = sorted(self.images)
            first = int(asked.get("pageToken", 0))
            more = {"nextPageToken": str(first + 1)} if names[first + 1 :] else {}
            self._answer(200, {"items": [self.images[name] for name in names[first : first + 1]], **more})
        elif parts.path == "/projects/p/aggregated/disks":
            disk = {
                "sourceImage": f"{HOST}/projects/p/global/images/clusterwright-{OLD}",
                "users": self.users,
            }
            empty = {"warning": {"code": "NO_RESULTS_ON_PAGE"}}
            self._answer(200, {"items": {"zones/z-a": {"disks": [disk]}, "zones/z-b": empty}})
        else:
            self._answer(403, {"error": {"message": "denied"}})

    def do_DELETE(self) -> None:
        gone = self.images.pop(urlsplit(self.path).path.rpartition("/")[2], None)
        self._answer(200 if gone else 404, {"kind": "compute#operation"})

    def _answer(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def base() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Google)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    rows = (image(OLD, "2026-11-01T10:00:00.000-07:00"), image(NEW, "2026-11-20T10:00:00.000-07:00"))
    Google.images, Google.users = {str(row["name"]): row for row in rows}, []
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def stock(base: str, project: str = "p") -> Stock:
    return Stock(project, base, AnonymousCredentials())


def test_all_pages_are_read_the_oldest_first(base: str) -> None:
    found = stock(base).known()
    assert [(one.digest, one.gib, one.ready) for one in found] == [(OLD, 50, True), (NEW, 50, True)]
    assert found[0].name == f"projects/p/global/images/clusterwright-{OLD}"


def test_one_with_machines_stays(base: str) -> None:
    Google.users = [f"{HOST}/projects/p/zones/z-a/instances/vision-gpu-001"]
    with pytest.raises(Refused, match="vision-gpu-001"):
        remove(stock(base), [OLD])
    assert [one.digest for one in remove(stock(base), [NEW])] == [NEW]
    assert list(Google.images) == [f"clusterwright-{OLD}"]


def test_what_is_gone_is_no_mistake(base: str) -> None:
    [first, _] = stock(base).known()
    stock(base).remove(first)
    stock(base).remove(first)


def test_a_missing_permission_is_named(base: str) -> None:
    with pytest.raises(Refused, match="CW7090") as refused:
        stock(base, "other").known()
    assert "compute.images.list" in str(refused.value)

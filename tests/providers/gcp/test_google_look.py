"""A look at a project: answers of the shapes that Google documents, over HTTP."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from google.auth.credentials import AnonymousCredentials

from clusterwright.checks.live.answer import Unanswered
from clusterwright.checks.live.gcp_seen import GcpSeen, Image, Limit, Reservation, Subnet
from clusterwright.checks.live.needs import permissions
from clusterwright.checks.live.rule import Verdict, judge
from clusterwright.checks.live.rules import live_rules
from clusterwright.checks.live.subject import Subject
from clusterwright.finding import Where
from clusterwright.plan import plan
from clusterwright.plan.gcp import gcp_plan
from clusterwright.plan.gcp.model import GcpPlan
from clusterwright.providers.gcp.live.look import look
from clusterwright.providers.gcp.live.project import Project
from clusterwright.spec.load import loads

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
TEXT = """
cluster: mega
site:
  provider: gcp
  project: example-hpc
  region: us-central1
  zone: us-central1-a
  network: 10.50.0.0/22
  vpc: {name: shared, subnet: hpc}
pools:
  head: {roles: [controller, login], machine: n2-standard-8}
  gpu: {roles: compute, machine: a3-megagpu-8g, count: 2}
  dense:
    roles: compute
    machine: a3-ultragpu-8g
    count: 2
    capacity: {model: dense, reservation: h200/reservationBlocks/block-1}
software: {distribution: ubuntu-24.04}
"""
_HERE = "compute/compute/v1/projects/example-hpc"
_ZONE = f"{_HERE}/zones/us-central1-a"
_URL = "https://www.googleapis.com/compute/v1/projects/example-hpc"
RECORDED: Mapping[str, Any] = {
    "serviceusage/v1/projects/example-hpc/services:batchGet": {
        "services": [
            {"name": f"projects/123/services/{name}.googleapis.com", "state": state}
            for name, state in (("compute", "ENABLED"), ("iam", "ENABLED"), ("storage", "DISABLED"))
        ]
    },
    _ZONE: {"kind": "compute#zone", "name": "us-central1-a", "status": "UP"},
    f"{_ZONE}/machineTypes/n2-standard-8": {"name": "n2-standard-8", "guestCpus": 8},
    f"{_ZONE}/machineTypes/a3-megagpu-8g": {"name": "a3-megagpu-8g", "guestCpus": 208},
    f"{_HERE}/regions/us-central1": {
        "quotas": [
            {"metric": "N2_CPUS", "limit": 24.0, "usage": 8.0},
            {"metric": "SSD_TOTAL_GB", "limit": 20480.0, "usage": 0.0},
        ]
    },
    _HERE: {"quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 64.0, "usage": 4.0}]},
    (
        "cloudquotas/v1/projects/example-hpc/locations/global/services/compute.googleapis.com"
        "/quotaInfos/GPUS-PER-GPU-FAMILY-per-project-region"
    ): {
        "quotaId": "GPUS-PER-GPU-FAMILY-per-project-region",
        "dimensionsInfos": [
            {
                "dimensions": {"region": "us-central1", "gpu_family": "NVIDIA_H100_MEGA"},
                "details": {"value": "8"},
                "applicableLocations": ["us-central1"],
            },
            {
                "dimensions": {"region": "us-east4", "gpu_family": "NVIDIA_H100_MEGA"},
                "details": {"value": "64"},
                "applicableLocations": ["us-east4"],
            },
        ],
    },
    f"{_ZONE}/reservations/h200": {
        "status": "READY",
        "specificReservationRequired": True,
        "deleteAtTime": "2026-12-20T12:00:00.000-08:00",
        "specificReservation": {
            "count": "16",
            "inUseCount": "0",
            "instanceProperties": {"machineType": "a3-ultragpu-8g"},
        },
    },
    f"{_ZONE}/reservations/h200/reservationBlocks/block-1": {
        "resource": {"name": "block-1", "count": 8, "inUseCount": 7, "status": "ACTIVE"}
    },
    "compute/compute/v1/projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64": {
        "name": "ubuntu-2404-noble-amd64-v20261101",
        "status": "READY",
        "architecture": "X86_64",
        "diskSizeGb": "10",
        "deprecated": {"state": "ACTIVE"},
    },
    f"{_HERE}/global/networks/shared": {"name": "shared", "mtu": 1460},
    f"{_HERE}/regions/us-central1/subnetworks/hpc": {
        "network": f"{_URL}/global/networks/shared",
        "region": f"{_URL}/regions/us-central1",
        "ipCidrRange": "10.50.0.0/20",
        "privateIpGoogleAccess": True,
    },
    f"{_HERE}/regions/us-central1/routers": {
        "items": [{"network": f"{_URL}/global/networks/shared", "nats": [{"name": "out"}]}]
    },
}
_DISABLED = {
    "error": {
        "code": 403,
        "message": "Cloud Quotas API has not been used in project 123 before or it is disabled",
        "status": "PERMISSION_DENIED",
        "details": [{"reason": "SERVICE_DISABLED"}],
    }
}


class Google(http.server.BaseHTTPRequestHandler):
    """Recorded answers by path; instances in two pages; what a test refuses."""

    refused: ClassVar[dict[str, tuple[int, Any]]] = {}

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = parts.path.strip("/")
        if path in self.refused:
            self._answer(*self.refused[path])
        elif path == f"{_ZONE}/instances":
            self._answer(200, _page(parse_qs(parts.query)))
        elif path in RECORDED:
            self._answer(200, RECORDED[path])
        else:
            self._answer(404, {"error": {"code": 404, "message": "was not found"}})

    def do_POST(self) -> None:
        assert self.path.endswith("projects/example-hpc:testIamPermissions")
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["permissions"]
        self._answer(200, {"permissions": [one for one in asked if one != "compute.instances.create"]})

    def _answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def _page(asked: Mapping[str, list[str]]) -> Mapping[str, Any]:
    assert asked["filter"] == ["labels.clusterwright-cluster=mega"]
    if "pageToken" in asked:
        return {"items": [{"name": "mega-dense-001"}, {"name": "mega-old"}]}
    return {"items": [{"name": "mega-head"}], "nextPageToken": "2"}


@pytest.fixture
def google() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Google)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Google.refused = {}
    yield f"http://127.0.0.1:{server.server_port}/{{}}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def subject() -> Subject[GcpPlan]:
    planned = plan(loads(TEXT).spec)
    return Subject(planned, gcp_plan(planned))


def seen_at(google: str, subject: Subject[GcpPlan]) -> GcpSeen:
    return look(subject, AT, Project("example-hpc", base=google, credentials=AnonymousCredentials()))


def judged(subject: Subject[GcpPlan], seen: GcpSeen) -> Verdict:
    return judge(live_rules("gcp"), subject, seen, lambda path: Where(path=path), "site.region")


def test_everything_that_is_asked_is_understood(google: str, subject: Subject[GcpPlan]) -> None:
    seen = seen_at(google, subject)
    assert seen.services == ("compute.googleapis.com", "iam.googleapis.com")
    wanted = permissions(subject.cloud)
    assert seen.permissions == tuple(one for one in wanted if one != "compute.instances.create")
    assert seen.zone == "UP"
    assert seen.machines == {"n2-standard-8": True, "a3-megagpu-8g": True, "a3-ultragpu-8g": False}
    assert seen.family_quotas == {"NVIDIA_H100_MEGA": Limit(8)}
    assert seen.nodes == ("head", "dense-001")
    assert isinstance(seen.reservations, Mapping)
    block = seen.reservations["h200/reservationBlocks/block-1"]
    assert isinstance(block, Reservation)
    assert (block.machine, block.status, block.total, block.used) == ("a3-ultragpu-8g", "ACTIVE", 8, 7)
    assert block.end == datetime(2026, 12, 20, 20, tzinfo=UTC)
    (image,) = seen.images.values()
    assert isinstance(image, Image) and (image.disk_gib, image.deprecated) == (10, "")
    assert seen.profiles == {"us-central1-a-vpc-roce": False}
    assert (seen.mtu, seen.nat) == (1460, True)
    assert isinstance(seen.subnet, Subnet) and seen.subnet.region == "us-central1"


def test_it_is_judged(google: str, subject: Subject[GcpPlan]) -> None:
    findings = judged(subject, seen_at(google, subject)).findings
    found = sorted((finding.code, finding.where.path) for finding in findings)
    assert found == [
        ("CW1431", "site.project"),
        ("CW1432", "site.project"),
        ("CW1434", "pools.dense.machine"),
        ("CW1435", "pools.gpu.machine"),
        ("CW1439", "pools.dense.capacity.reservation"),
        ("CW1441", "site.zone"),
        ("CW1443", "site.vpc.name"),
    ]


@pytest.mark.parametrize(
    ("path", "answer", "code", "permission"),
    [
        (_HERE, (403, {"error": {"message": "denied"}}), "CW1490", "compute.projects.get"),
        (f"{_ZONE}/reservations/h200", (403, {}), "CW1490", "compute.reservations.get"),
        (next(path for path in RECORDED if "cloudquotas" in path), (403, _DISABLED), "CW1493", "cloudquotas"),
        (f"{_HERE}/global/networks/shared", (400, {"error": {}}), "CW1493", "compute.networks.get"),
    ],
)
def test_what_is_not_answered_is_told(
    google: str, subject: Subject[GcpPlan], path: str, answer: tuple[int, Any], code: str, permission: str
) -> None:
    Google.refused = {path: answer}
    findings = judged(subject, seen_at(google, subject)).findings
    (finding,) = [one for one in findings if one.code.startswith("CW149")]
    assert finding.code == code and permission in finding.what


def test_nobody_there_is_told(subject: Subject[GcpPlan]) -> None:
    seen = seen_at("http://127.0.0.1:9/{}", subject)
    assert isinstance(seen.zone, Unanswered) and seen.zone.reason == "unreachable"
    assert {finding.code for finding in judged(subject, seen).findings} == {"CW1492"}

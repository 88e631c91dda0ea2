"""A bucket in the folder's place: a server that speaks S3, the publisher, and the nodes' agent unchanged."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID
from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from clusterwright.finding import Refused
from clusterwright.operate.pull import publish
from clusterwright.operate.pull.store import Store
from clusterwright.providers.aws.bucket import Bucket, policy
from clusterwright.providers.lab.store import make_certificate

from .world import DESCRIPTION, LOOPBACK, World

REGION = "us-east-2"
ENDPOINT = "vpce-0123456789abcdef0"


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Address of a service that speaks S3, under a certificate of its own."""
    folder = tmp_path / "store"
    make_certificate(folder, LOOPBACK)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_CA_BUNDLE", str(folder / "certificate.pem"))
    certificate = (str(folder / "certificate.pem"), str(folder / "key.pem"))
    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, app, threaded=True, ssl_context=certificate)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def bucket(endpoint: str) -> Bucket:
    client = Session().create_client("s3", REGION, endpoint_url=endpoint)
    name = f"bundle-{endpoint.rpartition(':')[2]}"
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    client.put_bucket_policy(Bucket=name, Policy=json.dumps({"Statement": _allowed(name)}))
    return Bucket(name, REGION, endpoint)


def _allowed(name: str) -> list[Mapping[str, Any]]:
    """The server judges no condition that a request does not carry: the denial of plain HTTP is left out."""
    return [row for row in policy(name, ENDPOINT)["Statement"] if row["Effect"] == "Allow"]


@pytest.fixture
def world(tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> World:
    wheel = tmp_path / "small-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    monkeypatch.setattr(publish, "wheels_of", lambda *_: {"x86_64": {wheel.name: wheel}})
    url = f"{bucket.endpoint}/{bucket.name}"
    made = World(tmp_path, url)
    made.__dict__["store"] = Store(bucket, url)
    return made


def test_nodes_pull_from_a_bucket(world: World, bucket: Bucket) -> None:
    world.publish()
    assert world.verify("gpu-001").startswith("serial 1")
    before = dict(bucket.versions("objects"))
    assert world.publish() == []
    assert dict(bucket.versions("objects")) == before
    world.publish(DESCRIPTION.replace("count: 2", "count: 3"))
    assert world.verify("gpu-003").startswith("serial 2")
    assert {*bucket.versions("secrets")} == {"controller", "gpu-001", "gpu-002", "gpu-003"}
    world.publish()
    assert "gpu-003" not in bucket.versions("secrets")


def test_the_policy_lets_nodes_read_and_report_and_no_more() -> None:
    judged = IAMPolicy(json.dumps({"Statement": _allowed("b")}))

    def may(action: str, name: str, endpoint: str = ENDPOINT) -> bool:
        came = {"aws:SourceVpce": endpoint}
        found = judged.is_action_permitted(f"s3:{action}", f"arn:aws:s3:::b/{name}", None, came)
        return found is PermissionResult.PERMITTED

    assert may("GetObject", "current.json") and may("GetObject", "secrets/gpu-001")
    assert may("PutObject", "reports/gpu-001")
    assert not may("PutObject", "current.json") and not may("PutObject", "secrets/gpu-001")
    assert not may("DeleteObject", "reports/gpu-001")
    assert not may("GetObject", "current.json", "vpce-0000000000000dead")


def test_a_large_bucket_is_listed_whole(bucket: Bucket) -> None:
    kept = get_backend("s3")[DEFAULT_ACCOUNT_ID]["aws"]  # a thousand requests would be most of the test
    for number in range(1003):
        kept.put_object(bucket.name, f"objects/{number:064x}", b"{}")
    assert len(bucket.versions("objects")) == 1003
    bucket.remove("objects/" + "0" * 64)
    assert len(bucket.versions("objects")) == 1002
    assert bucket.versions("reports") == {}


def test_what_is_not_there_is_nothing(bucket: Bucket) -> None:
    assert bucket.read("current.json") is None
    assert Store(bucket, "").report("gpu-001") == ""


def test_a_bucket_that_is_not_there_is_told(bucket: Bucket) -> None:
    with pytest.raises(Refused) as refused:
        Bucket("no-such-bucket", REGION, bucket.endpoint).write("current.json", b"{}")
    [finding] = refused.value.findings
    assert finding.code == "CW7080"
    assert "s3://no-such-bucket/current.json" in str(finding)

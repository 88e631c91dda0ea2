"""Amazon's services on this machine: moto's, and in front of it what moto has not, as Amazon documents it."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from botocore.session import Session
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from clusterwright.plan.images import PARAMETER, TAG

Start = Callable[[str, list[tuple[str, str]]], Any]
_EC2 = "http://ec2.amazonaws.com/doc/2016-11-15/"
BASE = "ami-12c6146b"
"""An image that moto has in every region."""
_CODES = {"denied": "UnauthorizedOperation", "throttled": "RequestLimitExceeded"}


@dataclass
class Amazon:
    """What the tests decide of the account."""

    quotas: dict[str, float] = field(default_factory=dict)
    """By code; all others have the default of every account."""
    reservations: list[Mapping[str, Any]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """By action: `denied` or `throttled`."""
    asked: set[str] = field(default_factory=set)
    """Actions."""
    url: str = ""
    _moto: Any = field(default_factory=lambda: DomainDispatcherApplication(create_backend_app))

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        form = {} if target else {key: value[0] for key, value in parse_qs(body.decode()).items()}
        action = target.rpartition(".")[2] or form.get("Action", environ.get("PATH_INFO", ""))
        self.asked.add(action)
        if action in self.refused:
            return self._refuse(action, bool(target), start)
        if action in ("GetServiceQuota", "GetAWSDefaultServiceQuota"):
            return self._quota(json.loads(body)["QuotaCode"], action, start)
        if action == "DescribeCapacityReservations":
            return _answered(start, _listed(action, "capacityReservationSet", self.reservations))
        answer: Iterable[bytes] = self._moto(environ, start)
        return answer

    def _quota(self, code: str, action: str, start: Start) -> Iterable[bytes]:
        default = action == "GetAWSDefaultServiceQuota"
        value = 1000.0 if default else self.quotas.get(code)
        if value is None:
            error = {"__type": "NoSuchResourceException", "Message": "no applied value"}
            return _answered(start, json.dumps(error), "400 Bad Request", "application/x-amz-json-1.1")
        body = json.dumps({"Quota": {"QuotaCode": code, "Value": value}})
        return _answered(start, body, kind="application/x-amz-json-1.1")

    def _refuse(self, action: str, is_json: bool, start: Start) -> Iterable[bytes]:
        code, status = _CODES[self.refused[action]], "403 Forbidden"
        if self.refused[action] == "throttled":
            status = "503 Service Unavailable"
        if is_json:
            error = {"__type": "AccessDeniedException" if "denied" in self.refused[action] else code}
            return _answered(start, json.dumps(error), "400 Bad Request", "application/x-amz-json-1.1")
        text = f"<Error><Code>{code}</Code><Message>You may not do {action}</Message></Error>"
        return _answered(start, f"<Response><Errors>{text}</Errors></Response>", status)


def _answered(start: Start, text: str, status: str = "200 OK", kind: str = "text/xml") -> Iterable[bytes]:
    body = text.encode()
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


def _listed(action: str, name: str, rows: list[Mapping[str, Any]]) -> str:
    items = "".join(f"<item>{''.join(f'<{k}>{v}</{k}>' for k, v in row.items())}</item>" for row in rows)
    return f'<{action}Response xmlns="{_EC2}"><{name}>{items}</{name}></{action}Response>'


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Says nothing."""


@cache
def client(url: str, service: str, region: str) -> Any:
    """Of a server. A session reads megabytes of botocore's, so each account has one of a service."""
    return _session().create_client(service, region, endpoint_url=url)


@cache
def _session() -> Session:
    return Session()


def built(url: str, region: str, digest: str) -> str:
    """An image of a builder, as the program makes it."""
    ec2 = client(url, "ec2", region)
    builder = ec2.run_instances(ImageId=BASE, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    image = ec2.create_image(InstanceId=builder, Name=f"clusterwright-{digest}")["ImageId"]
    ec2.create_tags(Resources=[image], Tags=[{"Key": TAG, "Value": digest}])
    ec2.terminate_instances(InstanceIds=[builder])
    name = f"{PARAMETER}{digest}"
    client(url, "ssm", region).put_parameter(Name=name, Type="String", Value=image, Overwrite=True)
    return str(image)


@contextmanager
def serving() -> Iterator[Amazon]:
    """An account of its own: what one test makes no other one sees, by its region."""
    amazon = Amazon()
    server = make_server("127.0.0.1", 0, amazon, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    amazon.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield amazon
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

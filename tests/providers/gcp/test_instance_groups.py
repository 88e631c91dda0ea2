"""Members of managed instance groups, called and ended: answers of the shapes that Google documents."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from google.auth.credentials import AnonymousCredentials

from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.gcp.members import InstanceGroups
from clusterwright.providers.member import Member

ZONE = "projects/example-hpc/zones/us-central1-b"
GROUP = f"{ZONE}/instanceGroupManagers/big-gpu-01"
FOLDER = f"compute/compute/v1/{ZONE}"
ERROR = {"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "no room"}


@dataclass
class Group:
    """What Google knows: members by name, each with its number, address and what is done with it."""

    members: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    refuses: bool = False

    def make(self, name: str, address: str = "", action: str = "NONE", **more: Any) -> None:
        number = str(70 + len(self.members))
        self.members[name] = {"id": number, "address": address, "action": action, "more": more}

    def managed(self, page: str) -> Any:
        """One to a page."""
        names, at = sorted(self.members), int(page or 0)
        rows = [
            {
                "instance": f"https://www.googleapis.com/compute/v1/{ZONE}/instances/{name}",
                "currentAction": self.members[name]["action"],
                **({"id": self.members[name]["id"]} if self.members[name]["address"] else {}),
                **self.members[name]["more"],
            }
            for name in names[at : at + 1]
        ]
        more = {"nextPageToken": str(at + 1)} if names[at + 1 :] else {}
        return {"managedInstances": rows, **more}

    def instances(self) -> Any:
        rows = [
            {"id": one["id"], "name": name, "networkInterfaces": [{"networkIP": one["address"]}, {}]}
            for name, one in self.members.items()
            if one["address"]
        ]
        return {"items": rows}


class _Google(http.server.BaseHTTPRequestHandler):
    group: Group

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        assert where.path.strip("/") == f"{FOLDER}/instances"
        assert parse_qs(where.query)["filter"] == ["labels.clusterwright-cluster=big"]
        self._answer(200, self.group.instances())

    def do_POST(self) -> None:
        where = urlsplit(self.path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path, deed = where.path.strip("/").rsplit("/", 1)
        assert path == f"{FOLDER}/instanceGroupManagers/big-gpu-01"
        if deed == "listManagedInstances":
            self._answer(200, self.group.managed(parse_qs(where.query).get("pageToken", [""])[0]))
        elif self.group.refuses:
            self._answer(403, {"error": {"message": "not yours"}})
        else:
            self.group.asked.append((deed, body))
            self._answer(200, {"status": "DONE"})

    def _answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def group() -> Group:
    return Group()


@pytest.fixture
def groups(group: Group) -> Iterator[InstanceGroups]:
    handler = type("Google", (_Google,), {"group": group})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    base = f"http://127.0.0.1:{server.server_port}/{{}}"
    yield InstanceGroups("big", base=base, credentials=AnonymousCredentials())
    server.shutdown()
    thread.join()
    server.server_close()


def test_members_are_known_by_number_name_and_address(group: Group, groups: InstanceGroups) -> None:
    group.make("big-gpu-001", "10.50.4.2")
    group.make("big-gpu-002", "10.50.4.3", "RECREATING")
    group.make("big-gpu-003", action="CREATING")
    group.make("big-gpu-004", "10.50.4.5", "DELETING")
    assert groups.members(GROUP) == {
        f"{ZONE}/instances/70": Member("10.50.4.2", "gpu-001"),
        f"{ZONE}/instances/71": Member("10.50.4.3", "gpu-002"),
    }


def test_only_those_that_nobody_makes_are_called_by_name_and_address(
    group: Group, groups: InstanceGroups
) -> None:
    group.make("big-gpu-001", action="CREATING", lastAttempt={"errors": {"errors": [ERROR]}})
    group.make("big-gpu-002", "10.50.4.3", "DELETING")
    nodes = {"gpu-001": "10.50.4.2", "gpu-002": "10.50.4.3", "gpu-003": "10.50.4.4"}
    assert groups.call(GROUP, nodes) == {"gpu-001": "ZONE_RESOURCE_POOL_EXHAUSTED: no room"}
    [(deed, body)] = group.asked
    assert deed == "createInstances"
    [made] = body["instances"]
    assert made["name"] == "big-gpu-003"
    address = {"autoDelete": "ON_PERMANENT_INSTANCE_DELETION", "ipAddress": {"literal": "10.50.4.4"}}
    assert made["preservedState"] == {"internalIPs": {"nic0": address}}


def test_nothing_is_asked_for_where_all_are_on_their_way(group: Group, groups: InstanceGroups) -> None:
    group.make("big-gpu-001", action="CREATING")
    assert groups.call(GROUP, {"gpu-001": "10.50.4.2"}) == {}
    assert group.asked == []


def test_those_that_go_are_named_so_that_the_group_chooses_none(group: Group, groups: InstanceGroups) -> None:
    group.make("big-gpu-001", "10.50.4.2")
    group.make("big-gpu-002", "10.50.4.3")
    group.make("big-gpu-003", "10.50.4.4", "DELETING")
    groups.end(GROUP, [f"{ZONE}/instances/71", f"{ZONE}/instances/72"])
    assert group.asked == [("deleteInstances", {"instances": ["zones/us-central1-b/instances/big-gpu-002"]})]


def test_a_thousand_are_asked_for_at_once(group: Group, groups: InstanceGroups) -> None:
    groups.call(
        GROUP, {f"gpu-{number:04}": f"10.50.{number // 250}.{number % 250}" for number in range(1500)}
    )
    assert [(deed, len(body["instances"])) for deed, body in group.asked] == [
        ("createInstances", 1000),
        ("createInstances", 500),
    ]


def test_a_missing_permission_is_said_by_name(group: Group, groups: InstanceGroups) -> None:
    group.refuses = True
    with pytest.raises(NoAnswer) as refused:
        groups.call(GROUP, {"gpu-001": "10.50.4.2"})
    assert refused.value.why.permission == "compute.instanceGroupManagers.update"

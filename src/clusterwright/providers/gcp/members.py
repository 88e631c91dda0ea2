"""Who is in a managed instance group, as Compute Engine vouches for it; having members made, and ending some.

A member is made under the name of its node and with its planned address, and both stay its own when the group
repairs it (Compute Engine documentation, managed instance groups: named instances, stateful IP addresses).
So the group is never resized: a group that shrinks by a number chooses by itself who goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clusterwright.plan.gcp.names import machine_name
from clusterwright.providers.gcp.live.project import Project
from clusterwright.providers.member import Member

_LIST, _CHANGE = "compute.instanceGroupManagers.get", "compute.instanceGroupManagers.update"
_LEAVES = {"DELETING", "ABANDONING"}
_MOST = 1000
"""Compute Engine API, instanceGroupManagers: instances of one request to create or to delete."""


class InstanceGroups:
    """Of one cluster. Groups are called by their paths, from `projects/` on."""

    def __init__(self, cluster: str, *, base: str | None = None, credentials: Any = None) -> None:
        """`base`: where Google's interfaces are, for a test of its own."""
        self._cluster, self._credentials = cluster, credentials
        self._elsewhere = {"base": base} if base else {}
        self._found: Project | None = None

    def members(self, group: str) -> Mapping[str, Member]:
        """By path with the number that no other machine ever has. Raises NoAnswer."""
        managed = {_name(row): row for row in self._managed(group) if row["currentAction"] not in _LEAVES}
        addresses = self._addresses(group) if managed else {}
        folder = group.partition("/instanceGroupManagers/")[0]
        return {
            f"{folder}/instances/{row['id']}": Member(addresses[str(row["id"])], self._node(name))
            for name, row in managed.items()
            if addresses.get(str(row.get("id")))
        }

    def call(self, group: str, nodes: Mapping[str, str]) -> Mapping[str, str]:
        """Those that are not on their way, or leaving, are asked for. Raises NoAnswer."""
        managed = {self._node(_name(row)): row for row in self._managed(group)}
        wanted = [
            {"name": machine_name(self._cluster, node), "preservedState": _at(address)}
            for node, address in nodes.items()
            if node not in managed
        ]
        for first in range(0, len(wanted), _MOST):
            self._ask(group, "createInstances", {"instances": wanted[first : first + _MOST]})
        return {node: words for node in nodes if (words := _said(managed.get(node, {})))}

    def end(self, group: str, machines: Iterable[str]) -> None:
        """The group is to have as many fewer. Raises NoAnswer."""
        numbers = {machine.rpartition("/")[2] for machine in machines}
        zone = "zones/" + group.partition("/zones/")[2].partition("/")[0]
        gone = [
            f"{zone}/instances/{_name(row)}"
            for row in self._managed(group)
            if str(row.get("id")) in numbers and row["currentAction"] not in _LEAVES
        ]
        for first in range(0, len(gone), _MOST):
            self._ask(group, "deleteInstances", {"instances": gone[first : first + _MOST]})

    def _managed(self, group: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        token: dict[str, str] = {}
        while True:
            path = f"compute/v1/{group}/listManagedInstances"
            page = self._project(group).ask("compute", path, _LIST, {}, maxResults="500", **token) or {}
            found += page.get("managedInstances", ())
            if "nextPageToken" not in page:
                return found
            token = {"pageToken": page["nextPageToken"]}

    def _addresses(self, group: str) -> Mapping[str, str]:
        """By number of the machine, of all of the cluster."""
        folder = f"compute/v1/{group.partition('/instanceGroupManagers/')[0]}/instances"
        chosen = f"labels.clusterwright-cluster={self._cluster}"
        rows = self._project(group).list("compute", folder, "compute.instances.list", filter=chosen)
        return {str(row["id"]): str(row["networkInterfaces"][0].get("networkIP", "")) for row in rows}

    def _ask(self, group: str, deed: str, body: Mapping[str, Any]) -> None:
        self._project(group).ask("compute", f"compute/v1/{group}/{deed}", _CHANGE, body)

    def _node(self, machine: str) -> str:
        return machine.removeprefix(machine_name(self._cluster, ""))

    def _project(self, group: str) -> Project:
        """All groups of a cluster are in one."""
        if self._found is None:
            self._found = Project(group.split("/")[1], credentials=self._credentials, **self._elsewhere)
        return self._found


def _name(row: Mapping[str, Any]) -> str:
    return str(row["instance"]).rpartition("/")[2]


def _at(address: str) -> Mapping[str, Any]:
    """Given back when the member is ended, and not when it is repaired."""
    kept = {"autoDelete": "ON_PERMANENT_INSTANCE_DELETION", "ipAddress": {"literal": address}}
    return {"internalIPs": {"nic0": kept}}


def _said(row: Mapping[str, Any]) -> str:
    errors = row.get("lastAttempt", {}).get("errors", {}).get("errors", ())
    return "; ".join(f"{one.get('code', '')}: {one.get('message', '')}" for one in errors)

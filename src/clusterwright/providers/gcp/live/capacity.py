"""What there is to get: services, permissions, zones, machine types, quotas and reservations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from clusterwright.checks.live.gcp_seen import Limit, Reservation
from clusterwright.plan.gcp.model import GcpPlan
from clusterwright.plan.gcp.names import machine_name
from clusterwright.providers.gcp.live.project import Project

_FAMILY_QUOTA = "GPUS-PER-GPU-FAMILY-per-project-region"


def enabled(project: Project, permission: str, names: Sequence[str]) -> tuple[str, ...]:
    """Of these services."""
    asked = [f"projects/{project.name}/services/{name}" for name in names]
    path = f"v1/projects/{project.name}/services:batchGet"
    rows = (project.ask("serviceusage", path, permission, names=asked) or {}).get("services", ())
    return tuple(sorted(str(row["name"]).rpartition("/")[2] for row in rows if row.get("state") == "ENABLED"))


def granted(project: Project, permission: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Of these permissions."""
    path = f"v1/projects/{project.name}:testIamPermissions"
    answer = project.ask("cloudresourcemanager", path, permission, {"permissions": list(wanted)})
    return tuple(sorted((answer or {}).get("permissions", ())))


def zone(project: Project, permission: str, name: str) -> str:
    answer = project.ask("compute", f"{_compute(project)}/zones/{name}", permission)
    return str(answer["status"]) if answer else ""


def machines(project: Project, permission: str, zone: str, kinds: Iterable[str]) -> Mapping[str, bool]:
    folder = f"{_compute(project)}/zones/{zone}/machineTypes"
    return {kind: bool(project.ask("compute", f"{folder}/{kind}", permission)) for kind in kinds}


def region_quotas(project: Project, permission: str, region: str) -> Mapping[str, Limit]:
    return _quotas(project.ask("compute", f"{_compute(project)}/regions/{region}", permission))


def project_quotas(project: Project, permission: str) -> Mapping[str, Limit]:
    return _quotas(project.ask("compute", _compute(project), permission))


def _quotas(answer: Any) -> Mapping[str, Limit]:
    rows = (answer or {}).get("quotas", ())
    return {row["metric"]: Limit(float(row["limit"]), float(row.get("usage", 0))) for row in rows}


def family_quotas(project: Project, permission: str, region: str) -> Mapping[str, Limit]:
    """GPUs of a family in the region; how many are used this interface does not tell."""
    path = (
        f"v1/projects/{project.name}/locations/global/services/compute.googleapis.com"
        f"/quotaInfos/{_FAMILY_QUOTA}"
    )
    rows = (project.ask("cloudquotas", path, permission) or {}).get("dimensionsInfos", ())
    found: dict[str, Limit] = {}
    for row in rows:
        named = row.get("dimensions", {})
        here = named.get("region") == region or region in row.get("applicableLocations", ())
        if here and "gpu_family" in named:
            found[named["gpu_family"]] = Limit(float(row.get("details", {}).get("value", 0)))
    return found


def nodes(project: Project, permission: str, plan: GcpPlan) -> tuple[str, ...]:
    """Nodes of the plan that are there, by their own names."""
    folder = f"{_compute(project)}/zones/{plan.zone}/instances"
    chosen = f"labels.clusterwright-cluster={plan.cluster}"
    rows = project.list("compute", folder, permission, filter=chosen)
    there = {row["name"] for row in rows}
    return tuple(one.name for one in plan.machines if machine_name(plan.cluster, one.name) in there)


def reservations(
    project: Project, permission: str, zone: str, names: Iterable[str]
) -> Mapping[str, Reservation]:
    """Those that there are: reservations, and blocks of them."""
    found = {name: _reservation(project, permission, zone, name) for name in names}
    return {name: row for name, row in found.items() if row}


def _reservation(project: Project, permission: str, zone: str, name: str) -> Reservation | None:
    """`NAME`, `projects/P/reservations/NAME`, and either with `/reservationBlocks/BLOCK`."""
    whole, _, block = name.partition("/reservationBlocks/")
    owner = whole.split("/")[1] if whole.startswith("projects/") else project.name
    path = f"compute/v1/projects/{owner}/zones/{zone}/reservations/{whole.rpartition('/')[2]}"
    around = project.ask("compute", path, permission)
    if not around or not block:
        return _of(around) if around else None
    inner = project.ask("compute", f"{path}/reservationBlocks/{block.partition('/')[0]}", permission)
    return _of_block(_of(around), inner["resource"]) if inner else None


def _of(row: Mapping[str, Any]) -> Reservation:
    own = row.get("specificReservation", {})
    end = row.get("deleteAtTime")
    return Reservation(
        machine=own.get("instanceProperties", {}).get("machineType", ""),
        status=row.get("status", ""),
        total=int(own.get("count", 0)),
        used=int(own.get("inUseCount", 0)),
        specific=bool(row.get("specificReservationRequired")),
        end=datetime.fromisoformat(end) if end else None,
    )


def _of_block(around: Reservation, row: Mapping[str, Any]) -> Reservation:
    return Reservation(
        machine=around.machine,
        status=row.get("status", ""),
        total=int(row.get("count", 0)),
        used=int(row.get("inUseCount", 0)),
        specific=around.specific,
        end=around.end,
    )


def _compute(project: Project) -> str:
    return f"compute/v1/projects/{project.name}"

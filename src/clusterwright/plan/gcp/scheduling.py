"""How Compute Engine is asked for a machine: provisioning model, reservation, and what ends it."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.spec.capacity import Capacity


@dataclass(frozen=True, slots=True)
class Scheduling:
    """Spot, reserved and flex-start machines exclude each other."""

    model: str
    """`STANDARD`, `SPOT`, `RESERVATION_BOUND` or `FLEX_START`."""
    reservation: str | None
    """Taken from this one only; None: from none, so that others keep what they reserved."""
    restarts: bool
    """Started again after a failure of the host."""
    migrates: bool
    """Moved alive for maintenance of the host; machines with GPUs never are."""
    delete_at_end: bool
    """Deleted, not stopped, when it is taken back or its time is over: `pulumi up` makes it again."""
    most_seconds: int | None
    """How long it runs at most."""


def scheduling(kind: MachineType, capacity: Capacity | None) -> Scheduling:
    """Compute Engine documentation: provisioning models; A3 Ultra and A4 reserved as blocks are
    `RESERVATION_BOUND`; flex-start machines name how long they run."""
    wanted = capacity or Capacity()
    models = {"spot": "SPOT", "dense": "RESERVATION_BOUND", "flex-start": "FLEX_START"}
    model = models.get(wanted.model, "STANDARD")
    stays = model == "STANDARD"
    return Scheduling(
        model=model,
        reservation=wanted.reservation,
        restarts=model not in {"SPOT", "FLEX_START"},
        migrates=stays and not kind.hardware.gpus,
        delete_at_end=not stays,
        most_seconds=wanted.duration,
    )

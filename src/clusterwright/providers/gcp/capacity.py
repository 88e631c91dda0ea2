"""How Compute Engine is asked for a machine: provisioning model, time to run, and of which reservation."""

from __future__ import annotations

from typing import Any

import pulumi_gcp as gcp

from clusterwright.plan.gcp.model import Machine

RESERVATION = "compute.googleapis.com/reservation-name"


def scheduling(machine: Machine) -> gcp.compute.InstanceSchedulingArgs:
    """What ends by itself is deleted, so that the next `pulumi up` makes it again under its own name."""
    limit = machine.scheduling.most_seconds
    return gcp.compute.InstanceSchedulingArgs(
        **terms(machine),
        max_run_duration=gcp.compute.InstanceSchedulingMaxRunDurationArgs(seconds=limit) if limit else None,
    )


def terms(machine: Machine) -> dict[str, Any]:
    """What a machine and a group's template are asked for by the same names."""
    wanted = machine.scheduling
    return {
        "provisioning_model": wanted.model,
        "preemptible": wanted.model == "SPOT",
        "automatic_restart": wanted.restarts,
        "on_host_maintenance": "MIGRATE" if wanted.migrates else "TERMINATE",
        "instance_termination_action": "DELETE" if wanted.delete_at_end else None,
    }


def reservation(machine: Machine) -> gcp.compute.InstanceReservationAffinityArgs:
    """What is not reserved takes nothing from reservations that others count on."""
    name = machine.scheduling.reservation
    if name is None:
        return gcp.compute.InstanceReservationAffinityArgs(type="NO_RESERVATION")
    return gcp.compute.InstanceReservationAffinityArgs(
        type="SPECIFIC_RESERVATION",
        specific_reservation=gcp.compute.InstanceReservationAffinitySpecificReservationArgs(
            key=RESERVATION, values=[name]
        ),
    )

"""How EC2 is asked for a machine: at the market, and of which reservation."""

from __future__ import annotations

import pulumi_aws as aws

from clusterwright.plan.aws import Machine


def market(machine: Machine) -> aws.ec2.InstanceInstanceMarketOptionsArgs | None:
    """None for what is bought on demand or reserved."""
    if machine.capacity == "capacity-block":
        return aws.ec2.InstanceInstanceMarketOptionsArgs(market_type="capacity-block")
    if machine.capacity != "spot":
        return None
    # A request that stays would start a machine of its own beside the one that is kept track of here.
    once = aws.ec2.InstanceInstanceMarketOptionsSpotOptionsArgs(
        spot_instance_type="one-time", instance_interruption_behavior="terminate"
    )
    return aws.ec2.InstanceInstanceMarketOptionsArgs(market_type="spot", spot_options=once)


def target(machine: Machine) -> aws.ec2.InstanceCapacityReservationSpecificationArgs | None:
    """What is not reserved takes nothing from reservations that others count on; spot never does."""
    if machine.capacity == "spot":
        return None
    if machine.reservation is None:
        return aws.ec2.InstanceCapacityReservationSpecificationArgs(capacity_reservation_preference="none")
    reserved = aws.ec2.InstanceCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=machine.reservation
    )
    return aws.ec2.InstanceCapacityReservationSpecificationArgs(capacity_reservation_target=reserved)

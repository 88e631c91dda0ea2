"""How a cloud is asked for machines."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.quantity import Instant, Seconds

RESERVATION = r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,254}$"
CapacityModel = Literal["on-demand", "spot", "reservation", "capacity-block", "flex-start", "dense"]


class Capacity(Described):
    """How a pool's machines are got, which decides what they cost and how long they stay."""

    model: CapacityModel = "on-demand"
    """`on-demand`; `spot`: cheaper, and taken back at any time; `reservation`: bought before;
    `capacity-block` (AWS): bought for a time; `flex-start` (Google): when there is room, for seven days at
    most; `dense` (Google): a reservation of machines that stand together."""
    reservation: Annotated[str, Field(pattern=RESERVATION)] | None = None
    """ID or name of the reservation or capacity block, for instance `cr-0123456789abcdef0`."""
    duration: Seconds | None = None
    """How long a capacity block or a flex-start run lasts: no job can run longer."""
    ends: Instant | None = None
    """When a capacity block ends, as EC2's console says it, in UTC: `2026-12-14T11:30Z`. No job is started
    that could still run when Amazon takes the machines."""

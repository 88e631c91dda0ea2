"""MIG: how GPUs are cut into instances."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from clusterwright.spec.base import Described

PROFILE = r"^[1-7]g\.[1-9][0-9]{0,2}gb$"
INDEX = r"^(0|[1-9][0-9]?)$"

Layout = dict[Annotated[str, Field(pattern=PROFILE)], Annotated[StrictInt, Field(ge=1, le=7)]]
"""Profile → instances of it on one GPU; none leaves the GPU whole."""


class Mig(Described):
    """GPU instances, each of which a job can ask for as a GPU of its own."""

    layout: Layout = {}
    """What each GPU is cut into, for instance `{1g.10gb: 7}`; without it, only those in `gpus` are cut."""
    gpus: dict[Annotated[str, Field(pattern=INDEX)], Layout] = {}
    """GPUs that are cut in another way, by number from 0; `{}` leaves one whole."""

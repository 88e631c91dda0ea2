"""What is installed, and from where."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from clusterwright.spec.base import Described
from clusterwright.spec.surroundings import Beside

Distribution = Literal["debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04"]

PACKAGE = r"^[a-z0-9][a-z0-9+.:-]+$"
REPOSITORY = r"^(https?://[^\s/@]+|file:/)(/[^\s]*)?$"
SUITE = r"^[A-Za-z0-9.][A-Za-z0-9./_-]*$"


class Repository(Described):
    """An apt repository of the user's own."""

    url: Annotated[str, Field(pattern=REPOSITORY)]
    """Base URL."""
    suite: Annotated[str, Field(pattern=SUITE)] = "./"
    """Suite, or `./` for a flat repository."""
    components: list[Annotated[str, Field(pattern=SUITE)]] = []
    """Components; none for a flat repository."""
    key: Beside
    """Path of the public key that signs it, beside the description."""


class Software(Described):
    """Wishes; what is not said here follows from the distribution."""

    distribution: Distribution = "debian-13"
    """Distribution of every node."""
    packages: list[Annotated[str, Field(pattern=PACKAGE)]] = []
    """Further packages of the distribution on every node."""
    slurm_repository: Repository | None = None
    """Where Slurm's packages come from, when not from the distribution."""
    containers: StrictBool = False
    """Install the container runtime that the distribution carries (podman, or Apptainer where packaged)."""
    monitoring: StrictBool = True
    """Prometheus on the controller, node exporters everywhere, alert rules."""

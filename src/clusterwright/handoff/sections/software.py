"""What is installed, and from where."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clusterwright.handoff.sections.closed import Closed


class RepositorySection(Closed):
    """A package repository of the user's own."""

    url: str
    suite: str
    components: list[str]
    key: str


class ComponentSection(Closed):
    """One component of a pool's host software, as it is locked. Packages without a version: any."""

    version: str
    flavour: str
    packages: dict[str, str | None]
    services: list[str]
    hold: list[str]
    repository: str | None


class VendorRepositorySection(Closed):
    """Where locked packages come from. `key` is a file beside the description; else it is fetched."""

    url: str
    suite: str
    components: list[str]
    key: str | None
    key_url: str | None
    fingerprint: str | None


class ImagesSection(Closed):
    """Container images that nodes load: `digest` is of the source's list, from which all else follows."""

    source: str
    digest: str
    names: list[str]


class ModuleSigningSection(Closed):
    """Files beside the description: a private key, which is secret, and its certificate."""

    key: str
    certificate: str


class SoftwareSection(Closed):
    """What is installed, and from where: `stacks` by pool and component, `repositories` by architecture."""

    distribution: str
    packages: list[str]
    slurm_source: Literal["distribution", "repository"]
    slurm_repository: RepositorySection | None
    containers: bool
    images: ImagesSection | None
    monitoring: bool
    stacks: dict[str, dict[str, ComponentSection]]
    repositories: dict[str, dict[str, VendorRepositorySection]]
    module_signing: ModuleSigningSection | None = None
    treatments: dict[str, dict[str, Literal["observe", "skip"]]] = Field({})
    """Pool → Ansible role that the site keeps itself."""

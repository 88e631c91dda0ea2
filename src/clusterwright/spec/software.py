"""What is installed, and from where."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StrictBool, StringConstraints, WithJsonSchema

from clusterwright.spec.base import Described
from clusterwright.spec.beside import Beside

Distribution = Literal[
    "amazon-2023",
    "debian-12",
    "debian-13",
    "rhel-10",
    "rhel-9",
    "rocky-10",
    "rocky-9",
    "ubuntu-22.04",
    "ubuntu-24.04",
]

PACKAGE = r"^[a-z0-9][a-z0-9+.:-]+$"
IMAGE = r"^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)+(:[A-Za-z0-9_][A-Za-z0-9._-]*)?@sha256:[0-9a-f]{64}$"
IMAGE_SOURCE = r"^https?://[^\s/@]+(/[^\s@]*)?@sha256:[0-9a-f]{64}$"
REPOSITORY = r"^(https?://[^\s/@]+|file:/)(/[^\s]*)?$"
COMPONENT = r"^[a-z][a-z0-9_]{0,30}$"
_CLAUSE = r"(==|!=|<=|>=|<|>|~=)? *[0-9][0-9A-Za-z.+_-]*(\.\*)?"
_WORD = r"(any|lts|production|feature|open|proprietary|generic|hwe|aws|gcp)"
VERSION = rf"^({_CLAUSE}( *, *{_CLAUSE})*|{_WORD})( {_WORD})*$"
SUITE = r"^[A-Za-z0-9.][A-Za-z0-9./_-]*$"


def image_name(image: str) -> str:
    """An image as people know it: by its tag, where it has one."""
    name, _, _digest = image.partition("@")
    return name if ":" in name.rpartition("/")[2] else image


def _as_text(value: object) -> object:
    """`cuda: 13` needs no quotes."""
    return str(value) if type(value) is int else value


Versions = dict[
    Annotated[str, Field(pattern=COMPONENT)],
    Annotated[
        str,
        BeforeValidator(_as_text),
        StringConstraints(pattern=VERSION, max_length=100),
        WithJsonSchema(
            {"type": ["string", "number"], "pattern": VERSION, "maxLength": 100, "examples": [">=580,<590"]}
        ),
    ],
]
"""Component → the version that is wished for."""


class Repository(Described):
    """A package repository of the user's own: for apt, or for dnf."""

    url: Annotated[str, Field(pattern=REPOSITORY)]
    """Base URL."""
    suite: Annotated[str, Field(pattern=SUITE)] = "./"
    """Suite, or `./` for a flat repository; of no meaning to dnf."""
    components: list[Annotated[str, Field(pattern=SUITE)]] = []
    """Components; none for a flat repository, and for dnf."""
    key: Beside
    """Path of the public key that signs its index (of RPMs, repomd.xml), beside the description."""


class ModuleSigning(Described):
    """The site's own key that signs the kernel modules which DKMS builds, for machines with Secure Boot."""

    key: Beside
    """File beside the description with the private key: PEM, without a passphrase, mode 0600. Keep it out of
    the repository. It lies in a node's memory while packages are installed there, and nowhere else."""
    certificate: Beside
    """File beside the description with its certificate, as PEM: what the machines' firmware knows."""


class Software(Described):
    """Wishes; what is not said here follows from the distribution."""

    distribution: Distribution = "debian-13"
    """Distribution of every node."""
    versions: Versions = {}
    """Versions of the GPU host stack that are wished for, by component: `driver: 580`, `cuda: 13.0.2`, a
    range such as `>=580,<590`, a channel (`lts`, `production`, `feature`), a driver's `open` or
    `proprietary` modules, a kernel for `generic` machines, `hwe`, `aws` or `gcp`, or `any`, which
    brings what nothing else needs. `clusterwright lock` chooses the rest."""
    packages: list[Annotated[str, Field(pattern=PACKAGE)]] = []
    """Further packages of the distribution on every node."""
    slurm_repository: Repository | None = None
    """Where Slurm's packages come from, when not from the distribution."""
    mirror: Repository | None = None
    """One repository that has every package of the lock, in place of the vendors' own."""
    module_signing: ModuleSigning | None = None
    """Sign kernel modules with this key. Without one, DKMS makes a key for each machine or image."""
    containers: StrictBool = False
    """Install podman, the container runtime that the distribution carries. enroot, pyxis and Apptainer are
    wished for in `versions`."""
    images: list[Annotated[str, Field(pattern=IMAGE)]] = []
    """Container images that an offline bundle brings along, each by its digest:
    `registry.example.org/team/tool:1.0@sha256:…`."""
    image_source: Annotated[str, Field(pattern=IMAGE_SOURCE)] | None = None
    """Where compute and login nodes load `images` from: the folder `images` of an offline bundle, with the
    digest of its list. `clusterwright bundle` says it."""
    monitoring: StrictBool = True
    """Prometheus on the controller, node exporters everywhere, alert rules."""

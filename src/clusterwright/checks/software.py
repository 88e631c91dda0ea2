"""Distribution, packages and where Slurm comes from."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.distributions import distribution, distributions
from clusterwright.catalog.slurm import releases
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline

_INDEX = "the distributions' package indexes (catalog/data/distributions.csv)"


@rule(
    "CW1251",
    "The distribution does not carry this Slurm release",
    source=_INDEX,
    example="software: {distribution: debian-13}, scheduler: {release: '26.05'}",
)
def release_not_carried(outline: Outline) -> Iterator[Problem]:
    """Each distribution carries one release of Slurm; any other comes from a repository of yours."""
    software, wanted = outline.spec.software, outline.spec.scheduler.release
    carried = distribution(software.distribution).slurm_release
    if wanted and wanted != carried and software.slurm_repository is None:
        has = f"carries Slurm {carried}, not {wanted}" if carried else "carries no Slurm"
        what = f"{software.distribution} {has}"
        having = [row.name for row in distributions().values() if row.slurm_release == wanted]
        other = f", or take {having[0]}" if having else ""
        yield Problem("scheduler.release", what, f"Name a `software.slurm_repository` that has it{other}")


@rule(
    "CW1252",
    "The distribution's Slurm is too old",
    source=_INDEX,
    example="software: {distribution: ubuntu-22.04}",
)
def carried_release_too_old(outline: Outline) -> Iterator[Problem]:
    """Only releases whose settings are known can be rendered; Red Hat's family carries none at all."""
    software = outline.spec.software
    carried = distribution(software.distribution).slurm_release
    if outline.slurm_release is None and software.slurm_repository is None:
        has = f"carries Slurm {carried}, which is too old" if carried else "carries no Slurm"
        what = f"{software.distribution} {has}"
        remedy = "Name a `software.slurm_repository` and its `scheduler.release`, or take debian-13"
        yield Problem("software.distribution", what, remedy)


@rule(
    "CW1255",
    "The lab does not boot this distribution",
    source="the lab makes its nodes with mmdebstrap from Debian's archives and keys",
    example="site: {provider: lab}, software: {distribution: ubuntu-24.04}",
)
def lab_without_distribution(outline: Outline) -> Iterator[Problem]:
    """A node of the lab is what its description says, and the lab has only Debian; a rehearsal plays that."""
    name = outline.spec.software.distribution
    in_lab = any(site.provider == "lab" for site in outline.sites.values())
    if in_lab and distribution(name).family != "debian":
        own = [row.name for row in distributions().values() if row.family == "debian"]
        remedy = f"Take {' or '.join(own)}, or rehearse the real site's description with `up --lab`"
        yield Problem("software.distribution", f"the lab cannot boot {name}", remedy)


@rule(
    "CW1253",
    "A repository, but no release",
    source="a repository does not say which Slurm release its packages are",
    example="software: {slurm_repository: {url: …, key: …}}",
)
def repository_without_release(outline: Outline) -> Iterator[Problem]:
    """slurm.conf is written for one release, and a description has no other way to know yours."""
    if outline.spec.software.slurm_repository and outline.spec.scheduler.release is None:
        what = "Slurm comes from a repository of your own, and its release is not said"
        remedy = f"Add `scheduler: {{release: …}}`, one of: {', '.join(releases())}"
        yield Problem("software.slurm_repository", what, remedy)


@rule(
    "CW1257",
    "No known package for what is switched on",
    source="catalog/data/packages.csv: an empty cell is what no source tells",
    example="software: {distribution: rocky-9, monitoring: true}",
)
def part_unknown(outline: Outline) -> Iterator[Problem]:
    """What a distribution calls a package is a fact with a source, never a guess."""
    software = outline.spec.software
    known = distribution(software.distribution).parts
    asked = {"monitoring": software.monitoring, "containers": software.containers}
    for switch, on in asked.items():
        if on and not known[switch].packages:
            what = f"no source tells what {software.distribution} calls the packages of `{switch}`"
            yield Problem(f"software.{switch}", what, f"Set `software: {{{switch}: false}}`")
    if outline.spec.surroundings.directory and not known["directory"].packages:
        what = f"no source tells what {software.distribution} calls the packages that ask a directory"
        remedy = (
            "Take Debian or Ubuntu, or number people and configure sssd in a step of the site's own (`hooks`)"
        )
        yield Problem("surroundings.directory", what, remedy)
    for part, why in _needed(outline):
        if not known[part].packages:
            what = f"no source tells what {software.distribution} calls the packages of {part}, which {why}"
            yield Problem("software.distribution", what, "Take another distribution")


@rule(
    "CW1250",
    "A source of images, but no images",
    source="nodes load what `software.images` names",
    example="software: {image_source: 'http://mirror/images@sha256:…'}",
)
def image_source_without_images(outline: Outline) -> Iterator[Problem]:
    """The source has nothing to give: images are named by their digests, and none is."""
    software = outline.spec.software
    if software.image_source and not software.images:
        what = "'image_source' without 'images' has no effect"
        yield Problem("software.image_source", what, "Name `software.images`, or remove it")


_WITH_INFINIBANDS_TOOLS = {"infiniband", "mrdma", "roce"}
"""Amazon's own cards have tools of their own."""


def _needed(outline: Outline) -> Iterator[tuple[str, str]]:
    """Parts that nobody switches on, and what needs them."""
    release = releases().get(outline.slurm_release or "")
    if release and release.auth == "munge":
        yield "munge", f"Slurm {release.release} needs"
    cards = {nic.kind for row in outline.hardware.values() if row for nic in row.nics}
    if cards & _WITH_INFINIBANDS_TOOLS:
        yield "rdma", "InfiniBand and RoCE cards need"


@rule(
    "CW1259",
    "dkms comes from elsewhere",
    source="NVIDIA Driver Installation Guide, RHEL: EPEL for dependencies; AMD GPU driver installation guide",
    example="software: {distribution: rocky-9}, pools: {gpu: {machine: hgx-h100-8gpu}}",
    severity=Severity.NOTE,
)
def dkms_elsewhere(outline: Outline) -> Iterator[Problem]:
    """The vendors' kernel modules are built by dkms, which Red Hat's own archives do not have."""
    software = outline.spec.software
    gpus = any(row is not None and row.gpus for row in outline.hardware.values())
    if gpus and distribution(software.distribution).family in ("rhel", "rocky") and not software.mirror:
        what = f"{software.distribution} has no dkms, which builds the modules of GPUs"
        remedy = "Enable EPEL and CRB in the nodes' image, or name a `software.mirror` that has it"
        yield Problem("software.distribution", what, remedy)


@rule(
    "CW1258",
    "No known mirror for the distribution",
    source="Rocky's .repo files name the folders below a mirror; RHEL's come with a subscription",
    example="software: {distribution: rhel-9}, surroundings: {package_mirror: 'http://mirror/rhel'}",
)
def mirror_unknown(outline: Outline) -> Iterator[Problem]:
    """RHEL's repositories come with a subscription, Amazon Linux's with its image: set them up there."""
    name, mirror = outline.spec.software.distribution, outline.spec.surroundings.package_mirror
    if mirror and distribution(name).family in ("rhel", "amazon"):
        what = f"how a mirror of {name} is laid out is not known"
        remedy = "Leave it out and name the mirror in the image or with the subscription's own tool"
        yield Problem("surroundings.package_mirror", what, remedy)


@rule(
    "CW1254",
    "A package that the cluster installs itself",
    source="catalog/data/packages.csv; SchedMD's packages conflict with the distribution's",
    example="software: {packages: [slurm-wlm]}",
)
def package_owned(outline: Outline) -> Iterator[Problem]:
    """Slurm and what it stands on are installed where needed; `slurm-wlm` would bring every daemon."""
    software = outline.spec.software
    for index, package in enumerate(software.packages):
        if package.startswith(("slurm", "libslurm", "munge")) or package == "sackd":
            what = f"'{package}' is installed where it is needed"
            yield Problem(f"software.packages.{index}", what, "Remove it")

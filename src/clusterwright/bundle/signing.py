"""The site's own key for kernel modules: DKMS signs what it builds with it, where a description names one.

The key is lent: it lies in a node's memory while packages are installed there, and in no image and no bundle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from clusterwright.catalog import software
from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile

KEY = "/run/clusterwright-module-signing.key"
CERTIFICATE = "/etc/clusterwright/module-signing.pem"
_DKMS_CERTIFICATE = "/etc/dkms/module-signing.pem"
"""A copy: DKMS writes over it when it finds no key and makes one. Gates hold modules against the other."""
_DKMS = "/etc/dkms/framework.conf.d/clusterwright.conf"


def wanted(handoff: Handoff) -> Mapping[str, str] | None:
    """`key` and `certificate` beside the description; None where DKMS makes a key for each machine."""
    found: Mapping[str, str] | None = handoff.software.get("module_signing")
    return found


def files(handoff: Handoff, components: Collection[str], texts: Mapping[str, str]) -> Iterator[NodeFile]:
    """What DKMS is told, on nodes for which it builds; it reads the certificate as PEM too."""
    pair = wanted(handoff)
    if pair and any(software.components()[name].modules for name in components):
        yield NodeFile(CERTIFICATE, texts[pair["certificate"]], ())
        yield NodeFile(_DKMS_CERTIFICATE, texts[pair["certificate"]], ())
        yield NodeFile(_DKMS, f'mok_signing_key="{KEY}"\nmok_certificate="{_DKMS_CERTIFICATE}"\n', ())

"""Whether the certificate that a BMC shows is one to send a password to."""

from __future__ import annotations

import hashlib
import socket
import ssl

from clusterwright.operate.bmc.machine import Bmc

PATIENCE = 5.0
"""Seconds for a connection within a site."""


def reached(bmc: Bmc) -> bool:
    """Whether anything takes connections where Redfish would be."""
    try:
        socket.create_connection((bmc.address, bmc.redfish_port), PATIENCE).close()
        return True
    except OSError:
        return False


def trusted(bmc: Bmc) -> str:
    """The SHA-256 of a certificate that the description vouches for: nothing is sent before that is known."""
    shown = fingerprint(bmc)
    if bmc.certificate:
        if shown == bmc.certificate:
            return shown
        what = f"shows the certificate {shown}, and the description has {bmc.certificate[:16]}…"
        remedy = (
            "See that this is its own new one, then write it into `bmc_certificate`: it may be a stranger"
        )
        raise bmc.refuse("CW8195", what, remedy)
    context = ssl.create_default_context()
    if bmc.authority:
        try:
            context = ssl.create_default_context(cafile=str(bmc.folder / bmc.authority))
        except (OSError, ssl.SSLError) as error:
            what = f"its authority {bmc.authority} cannot be used ({error.strerror or error})"
            raise bmc.refuse("CW8194", what, "Name a file of PEM certificates in `bmc.authority`") from None
    try:
        return _shown(bmc, context)
    except ssl.SSLCertVerificationError as error:
        what = f"nobody vouches for its certificate ({error.verify_message}): {shown}"
        remedy = "Compare it at the BMC; then write it into `bmc_certificate` of the file of machines"
        raise bmc.refuse("CW8194", what, remedy) from None


def fingerprint(bmc: Bmc) -> str:
    """The SHA-256 of whatever certificate is shown."""
    return _shown(bmc, unverified())


def unverified() -> ssl.SSLContext:
    """For who compares the fingerprint; reading all authorities of the system takes 30 ms a connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _shown(bmc: Bmc, context: ssl.SSLContext) -> str:
    try:
        with (
            socket.create_connection((bmc.address, bmc.redfish_port), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=bmc.address) as wrapped,
        ):
            return hashlib.sha256(wrapped.getpeercert(binary_form=True) or b"").hexdigest()
    except ssl.SSLCertVerificationError:
        raise
    except ssl.SSLError as error:
        what = f"no TLS comes about at {bmc.address}, port {bmc.redfish_port} ({error.reason or error})"
        remedy = "See that it is a BMC, and that its firmware is not too old for TLS 1.2"
        raise bmc.refuse("CW8196", what, remedy) from None
    except OSError as error:
        raise silent(bmc, f"port {bmc.redfish_port}: {error.strerror or 'no answer in time'}") from None


def silent(bmc: Bmc, how: str) -> Exception:
    what = f"no BMC answers at {bmc.address} ({how})"
    remedy = "See that it has power and a cable, that this is its address, and that you are in its network"
    return bmc.refuse("CW8192", what, remedy)

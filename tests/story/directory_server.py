"""A company's LDAP directory: a real slapd that answers over TLS only, and only to its reader."""

from __future__ import annotations

import ipaddress
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

# The same at every run, as the address is: both decide which image is a cluster's.
PORT = 28389
PASSWORD = "a-password-of-the-story"
_SEED = b"certificate of the story's slapd"
_YEARS = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)
_READER = "cn=nodes,dc=site,dc=example"
_CONFIGURATION = f"""\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
attributetype ( 1.3.6.1.4.1.24552.500.1.1.1.13 NAME 'sshPublicKey'
  EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.24552.500.1.1.2.0 NAME 'ldapPublicKey'
  SUP top AUXILIARY MAY ( sshPublicKey $ uid ) )
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile FOLDER/slapd.pid
TLSCertificateFile FOLDER/server.pem
TLSCertificateKeyFile FOLDER/server.key
security tls=1
database mdb
suffix dc=site,dc=example
rootdn {_READER}
rootpw {PASSWORD}
directory FOLDER/data
access to * by * auth
"""
_NUMBERS = {"grace": 70001, "mallory": 70002}
_GROUP = """\
dn: dc=site,dc=example
objectClass: domain
dc: site

dn: cn=gpu-users,dc=site,dc=example
objectClass: posixGroup
cn: gpu-users
gidNumber: 70000
memberUid: grace
"""
_PERSON = """
dn: uid={name},dc=site,dc=example
objectClass: account
objectClass: posixAccount
objectClass: ldapPublicKey
uid: {name}
cn: {name}
uidNumber: {number}
gidNumber: {number}
homeDirectory: /home/{name}
loginShell: /bin/bash
sshPublicKey: {key}
"""


@dataclass
class DirectoryServer:
    """Grace, who may log in, and mallory, who is in no group that may; each with the public half of `key`."""

    folder: Path
    address: str
    certificate: Path
    key: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        listens = self.folder / "slapd.pid"
        listens.unlink(missing_ok=True)
        configuration = str(self.folder / "slapd.conf")
        argv = ["/usr/sbin/slapd", "-f", configuration, "-h", f"ldap://{self.address}:{PORT}", "-d", "0"]
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not listens.exists():
            assert self.process.poll() is None and time.monotonic() < deadline, "slapd does not start"
            time.sleep(0.05)

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()


@contextmanager
def directory_server(folder: Path, address: str) -> Iterator[DirectoryServer]:
    (folder / "data").mkdir(parents=True)
    key = folder / "person"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text().strip()
    configuration = folder / "slapd.conf"
    configuration.write_text(_CONFIGURATION.replace("FOLDER", str(folder)))
    people = (_PERSON.format(name=name, number=number, key=public) for name, number in _NUMBERS.items())
    subprocess.run(
        ["/usr/sbin/slapadd", "-f", configuration],
        input=_GROUP + "".join(people),
        text=True,
        check=True,
        capture_output=True,
    )
    server = DirectoryServer(folder, address, _certificate(folder, address), key)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _certificate(folder: Path, address: str) -> Path:
    """It signs itself, and is what nodes trust. No byte of it changes from run to run."""
    key = Ed25519PrivateKey.from_private_bytes(_SEED)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "directory of the story")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(_YEARS[0])
        .not_valid_after(_YEARS[1])
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False
        )
        .sign(key, None)
    )
    (folder / "server.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    certificate = folder / "server.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return certificate

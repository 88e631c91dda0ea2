"""What the patterns of text fields ask for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.spec import (
    aws_storage,
    beside,
    boot,
    buckets,
    capacity,
    cluster,
    directory,
    fabric,
    firewall,
    google_storage,
    link,
    machines,
    mig,
    name,
    parallel,
    people,
    pool,
    scheduler,
    site,
    software,
    surroundings,
)


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern as a person would say it: `is not a valid <name>`, and how to write one."""

    name: str
    remedy: str
    may_hold_a_secret: bool = False
    """Whether a wrong value may be a key or hold a password, and must not be shown."""


FORMS: Mapping[str, Form] = {
    name.CLUSTER: Form(
        "cluster name",
        "Begin with a lower-case letter; then letters, digits and '-', 40 characters at most",
    ),
    name.LABEL: Form(
        "name for a pool, site or partition",
        "Begin with a lower-case letter; then letters, digits and '-', 32 characters at most",
    ),
    name.ACCOUNT: Form(
        "login or account name",
        "Begin with a lower-case letter; then letters, digits, '_' and '-', 31 characters at most",
    ),
    capacity.RESERVATION: Form(
        "ID or name of a reservation", "Write it as the cloud does, for instance `cr-0123456789abcdef0`"
    ),
    cluster.DOMAIN: Form(
        "DNS domain", "Write lower-case labels with dots between, for instance `hpc.internal`"
    ),
    directory.SERVER: Form(
        "LDAP server", "Write `ldaps://HOST` or `ldap://HOST`, with `:PORT` behind it where it is another one"
    ),
    directory.DISTINGUISHED_NAME: Form(
        "distinguished name", "Write it as the directory does, for instance `ou=people,dc=example,dc=org`"
    ),
    directory.GROUP: Form("group of a directory", "Write its name (`cn`) alone, not its distinguished name"),
    firewall.PORTS: Form("port", "Write it with its protocol, for instance `8443/tcp` or `60000-61000/udp`"),
    people.PUBLIC_KEY: Form(
        "public SSH key",
        "Paste the one line of the `.pub` file, for instance `ssh-ed25519 AAAA… ada`",
        may_hold_a_secret=True,
    ),
    pool.MACHINE: Form("machine type", "Write it as the catalog does, for instance `p5.48xlarge`"),
    pool.FEATURE: Form("Slurm feature", "Begin with a letter; then letters, digits, '_', '.' and '-'"),
    mig.PROFILE: Form("MIG profile", "Write it as nvidia-smi does, for instance `1g.10gb`"),
    mig.INDEX: Form("number of a GPU", "Count from 0"),
    scheduler.OPTION: Form("key of slurm.conf", "Write one key without spaces, for instance `SlurmdTimeout`"),
    pool.IMAGE: Form("image of a cloud", "Write it as the cloud does, for instance `ami-0123456789abcdef0`"),
    pool.DISK: Form(
        "name of a disk that stays",
        "Take one of `ls /dev/disk/by-path` on such a machine; /dev/nvme0n1 may be another one tomorrow",
    ),
    pool.SNAPSHOT: Form(
        "snapshot of a cloud", "Write it as the cloud does, for instance `snap-0123456789abcdef0`"
    ),
    aws_storage.S3: Form("place in Amazon S3", "Write it as `s3://bucket/folder`"),
    site.VPC: Form("VPC of AWS", "Write its ID, for instance `vpc-0123456789abcdef0`"),
    site.SUBNET: Form("subnet of AWS", "Write its ID, for instance `subnet-0123456789abcdef0`"),
    site.ENDPOINT: Form("VPC endpoint of AWS", "Write its ID, for instance `vpce-0123456789abcdef0`"),
    link.GATEWAY: Form(
        "gateway of AWS", "Write the ID of a transit gateway, `tgw-0123456789abcdef0`, or of a `vgw-…`"
    ),
    site.TAG: Form("tag's key", "Write 128 characters at most: letters, digits and `_.:/=+@-`"),
    site.BILLING: Form("billing account", "Write its ID, such as `012345-6789AB-CDEF01`"),
    site.BOUNDARY: Form(
        "ARN of an IAM policy", "Write it whole, for instance `arn:aws:iam::123456789012:policy/NAME`"
    ),
    site.KMS_KEY: Form(
        "ARN of a KMS key", "Write it whole, for instance `arn:aws:kms:us-east-2:123456789012:key/ID`"
    ),
    site.GOOGLE_KMS_KEY: Form(
        "key of Cloud KMS", "Write it whole: `projects/ID/locations/REGION/keyRings/RING/cryptoKeys/KEY`"
    ),
    boot.ADDRESS: Form("IPv4 address", "Write it as 10.70.0.1"),
    boot.RANGE: Form("range of IPv4 addresses", "Write the lowest and the highest, 10.70.0.240-10.70.0.250"),
    boot.ARGUMENT: Form(
        "argument for the kernel", "Write one word for each, for instance `console=ttyS1,115200n8`"
    ),
    site.MACHINE_FILE: Form(
        "name of a CSV file", "Name a file beside the description, for instance `machines.csv`"
    ),
    machines.CREDENTIALS: Form(
        "reference to credentials",
        "Write `file:` and a path beside the description, or `env:` and the name of a variable",
        may_hold_a_secret=True,
    ),
    site.EMAIL: Form("address for e-mail", "Write it as `person@example.com`"),
    site.PLACE: Form("region, zone or project", "Write it as the cloud does, for instance `us-east-2`"),
    site.GOOGLE_NAME: Form(
        "resource of Google Cloud", "Write its name, or its path from `projects/` on, without a host"
    ),
    site.GOOGLE_LABEL: Form(
        "label of Google Cloud", "Begin with a lower-case letter; then letters, digits, '_' and '-'"
    ),
    site.GOOGLE_LABEL_VALUE: Form(
        "value of a label", "Write lower-case letters, digits, '_' and '-', 63 characters at most"
    ),
    google_storage.GOOGLE_LUSTRE_NAME: Form(
        "name of a Managed Lustre file system", "Write 1 to 8 lower-case letters and digits"
    ),
    software.IMAGE: Form(
        "container image by digest",
        "Write `registry/name@sha256:…`, with a tag before the digest where you like one",
    ),
    software.IMAGE_SOURCE: Form(
        "address of container images",
        "Write `https://host/path@sha256:…` as `clusterwright bundle` says it, without a user or password",
        may_hold_a_secret=True,
    ),
    software.PACKAGE: Form("package name", "Write one Debian package name, for instance `htop`"),
    software.COMPONENT: Form(
        "name of a component", "Write it as `clusterwright lock` does, for instance `fabric_manager`"
    ),
    software.VERSION: Form(
        "wish for a version",
        "Write `580`, `580.95.05`, `>=580,<590`, `any`, or a channel or flavour such as `lts` or `580 open`",
    ),
    software.REPOSITORY: Form(
        "repository's URL",
        "Write `https://host/path` or `file:///path`, without a user or password",
        may_hold_a_secret=True,
    ),
    software.SUITE: Form(
        "suite or component", "Write one word, for instance `trixie`, or `./` for a flat one"
    ),
    parallel.PATH: Form("absolute path", "Write a path such as `/scratch`, without spaces or '..'"),
    parallel.EXPORT: Form("path on a server", "Write a path such as `/scratch`, without spaces or '..'"),
    parallel.SERVER: Form(
        "host name or address",
        "Write it without a scheme or path, for instance `nfs1.internal`",
        may_hold_a_secret=True,
    ),
    parallel.MOUNT_OPTIONS: Form(
        "list of mount options", "Write options with commas between, without spaces"
    ),
    parallel.NID: Form("NID of Lustre", "Write address and network, for instance `10.0.0.5@o2ib`"),
    parallel.LNET: Form(
        "LNet network", "Write `tcp`, `o2ib` or `efa`, with a number where there are several"
    ),
    parallel.INTERFACE: Form("network interface", "Write its name as `ip link` shows it, for instance `ib0`"),
    parallel.LUSTRE_NAME: Form(
        "name of a Lustre file system", "Write 1 to 8 letters, digits, '_' and '-', for instance `scratch`"
    ),
    parallel.CEPH_NAME: Form("name in Ceph", "Write letters, digits, '.', '_' and '-', without `client.`"),
    parallel.FSID: Form("fsid of Ceph", "Write the UUID that `ceph fsid` tells"),
    parallel.WEKA_NAME: Form(
        "name of a WEKA file system",
        "Write 1 to 32 letters, digits, '_', '.' and '-', for instance `scratch`",
    ),
    buckets.S3_BUCKET: Form(
        "name of a bucket", "Write 3 to 63 lower-case letters, digits, '.' and '-', without `s3://`"
    ),
    buckets.GOOGLE_BUCKET: Form(
        "name of a bucket", "Write lower-case letters, digits, '-', '_' and '.', without `gs://`"
    ),
    buckets.FOLDER: Form("folder of a bucket", "Write it without '/' at its ends, for instance `data/raw`"),
    fabric.MODEL: Form("model of a switch", "Write it as the catalogue does, for instance `qm9700`"),
    fabric.DEVICE: Form("RDMA device", "Write it as the kernel does, for instance `mlx5_0`"),
    parallel.SHA256: Form("SHA-256", "Write its 64 hexadecimal digits, as `sha256sum` tells them"),
    surroundings.URL: Form(
        "http or https URL",
        "Write `http://host:port`, without a user or password",
        may_hold_a_secret=True,
    ),
    surroundings.HOST: Form(
        "host, domain or address", "Write one name or address, for instance `.example.com`"
    ),
    beside.BESIDE: Form(
        "path beside the description", "Write a relative path without spaces, for instance `keys/repo.asc`"
    ),
    surroundings.STEP: Form(
        "playbook or shell script beside the description",
        "Write a relative path that ends in .yml, .yaml or .sh, for instance `hooks/motd.yml`",
    ),
}

"""Where machines are, and who makes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, StrictBool, StrictInt

from clusterwright.spec.base import Described
from clusterwright.spec.bmc import Bmc
from clusterwright.spec.boot import Boot
from clusterwright.spec.firewall import Firewall
from clusterwright.spec.floor import Device, Room
from clusterwright.spec.link import Link
from clusterwright.spec.machines import CREDENTIALS, MachineFile
from clusterwright.spec.name import Label
from clusterwright.spec.network import Network
from clusterwright.spec.parallel import Path
from clusterwright.spec.quantity import Watts
from clusterwright.spec.storage import Share

PLACE = r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
GOOGLE_NAME = r"^(projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/[a-z0-9/-]{1,120}/)?[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
GOOGLE_LABEL = r"^[a-z][a-z0-9_-]{0,62}$"
GOOGLE_LABEL_VALUE = r"^[a-z0-9_-]{0,63}$"
VPC = r"^vpc-[0-9a-f]{8,17}$"
SUBNET = r"^subnet-[0-9a-f]{8,17}$"
ENDPOINT = r"^vpce-[0-9a-f]{8,17}$"
TAG = r"^[A-Za-z0-9_.:/=+@-]{1,128}$"
BOUNDARY = r"^arn:aws(-[a-z]+)*:iam::[0-9]{12}:policy/[A-Za-z0-9+=,.@_/-]{1,512}$"
BILLING = r"^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$"
KMS_KEY = r"^arn:aws(-[a-z]+)*:kms:[a-z0-9-]{4,30}:[0-9]{12}:key/[A-Za-z0-9-]{1,128}$"
GOOGLE_KMS_KEY = (
    r"^projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/locations/[a-z0-9-]{2,30}"
    r"/keyRings/[A-Za-z0-9_-]{1,63}/cryptoKeys/[A-Za-z0-9_-]{1,63}$"
)
MACHINE_FILE = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.csv$"
EMAIL = r"^[^@\s]{1,64}@[^@\s]{1,190}$"

Place = Annotated[str, Field(pattern=PLACE)]
"""A region, zone or project as its cloud spells it."""
GoogleName = Annotated[str, Field(pattern=GOOGLE_NAME, max_length=220)]
"""A resource of Google Cloud: its name, or its path that begins with `projects/`."""
SubnetId = Annotated[str, Field(pattern=SUBNET)]
"""ID of a subnet on AWS."""


class _Site(Described):
    network: Network | None = None
    """Private network of the nodes in CIDR form, for instance `10.40.0.0/16`.

    Left out, the lab picks a free one, and other sites take 10.66.0.0/16, 10.67.0.0/16 and so on."""
    firewall: Firewall | None = None
    """What nodes let in from outside, for own machines and the lab. Without it, no firewall is touched."""
    shares: dict[Path, Share | None] = {}
    """What nodes of this site mount in place of the cluster's `storage.shares`, by mount point, where there
    are several sites; nothing at all for `null`."""


class LabSite(_Site):
    """Simulated machines: systemd nodes on this Linux host."""

    provider: Literal["lab"]
    """The lab."""


Endpoint = Literal[
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "elasticfilesystem",
    "fsx",
    "kms",
    "logs",
    "monitoring",
    "secretsmanager",
    "ssm",
    "ssmmessages",
    "sts",
]
"""A service of Amazon's that a network can have an interface endpoint for."""


class AwsVpc(Described):
    """A network on AWS that exists already. Then `network` is the part of `nodes` that is free for nodes."""

    id: Annotated[str, Field(pattern=VPC)]
    """ID of the VPC, for instance `vpc-0123456789abcdef0`."""
    nodes: SubnetId
    """ID of the private subnet that nodes are made in, in the zone of the site, with a way out."""
    s3_endpoint: Annotated[str, Field(pattern=ENDPOINT)]
    """ID of the VPC's gateway endpoint for Amazon S3: nodes get their bundle through it."""
    services: SubnetId | None = None
    """ID of the subnet for file systems and endpoints; without it, the one of the nodes."""
    public: SubnetId | None = None
    """ID of a subnet with an internet gateway, for `ssh_from`."""


class AwsSite(_Site):
    """Amazon Web Services."""

    provider: Literal["aws"]
    """AWS."""
    region: Place
    """Region, for instance `us-east-2`."""
    zone: Place
    """Availability zone of the compute nodes: a fabric never crosses zones."""
    vpc: AwsVpc | None = None
    """Network that exists already; without it, one is made."""
    link: Link | None = None
    """How it is joined to sites of own machines, of which the cluster has others."""
    ssh_from: list[Network] = []
    """Networks that may reach the login nodes over SSH through a load balancer. Without any, people come
    through EC2 Instance Connect: nothing listens on a public address."""
    session_manager: StrictBool = False
    """Let people in through Session Manager instead of EC2 Instance Connect. The login nodes, or the
    controller where there is none, get the permissions that its agent needs, and no other."""
    nat: StrictBool = True
    """Whether nodes have a way out, through a NAT gateway. Without one, packages come from a mirror inside
    (`surroundings.package_mirror`, `software.mirror`) or through `surroundings.http_proxy`."""
    endpoints: list[Endpoint] = []
    """Services of Amazon's that nodes reach without a way out, each through an interface endpoint. Amazon S3
    has a gateway endpoint anyway."""
    kms_key: Annotated[str, Field(pattern=KMS_KEY)] | None = None
    """ARN of a key of one's own in AWS KMS, that disks and file systems are encrypted with; without it, the
    account's default keys."""
    snapshot_days: Annotated[StrictInt, Field(ge=0, le=365)] = 7
    """For how many days each daily snapshot of a kept volume stays; 0 for no snapshots."""
    permissions_boundary: Annotated[str, Field(pattern=BOUNDARY)] | None = None
    """ARN of the policy that bounds every role made here, where the account asks for one."""
    tags: dict[Annotated[str, Field(pattern=TAG)], Annotated[str, Field(max_length=256)]] = {}
    """Tags of everything that is made, beside the project's own."""
    budget: Annotated[StrictInt, Field(ge=1)] | None = None
    """US dollars a month; Amazon warns `budget_email` at 80 percent, and of a forecast above it."""
    budget_email: Annotated[str, Field(pattern=EMAIL)] | None = None
    """Whom a budget warns."""


class GcpVpc(Described):
    """A network on Google Cloud that exists already. Then `network` is the range of its subnet."""

    name: GoogleName
    """VPC network, `projects/…` where it is shared by another project."""
    subnet: GoogleName
    """Subnet in the region, with Private Google Access and a way out to package repositories."""


class GcpSite(_Site):
    """Google Cloud."""

    provider: Literal["gcp"]
    """Google Cloud."""
    project: Place
    """Project ID."""
    region: Place
    """Region, for instance `us-central1`."""
    zone: Place
    """Zone of the compute nodes."""
    fabric_network: Network | None = None
    """What the subnets of further network cards are cut from, `10.130.0.0/16` for instance: 32 equal parts,
    one for each card. Left out, 10.130.0.0/16, 10.131.0.0/16 and so on."""
    vpc: GcpVpc | None = None
    """Network that exists already, for the first card of every node; without it, one is made. Networks of
    further cards are always made."""
    ssh_from: list[Network] = []
    """Networks that may log in at a public address of the login nodes. Without any, people come in through
    Identity-Aware Proxy, and no node has a public address."""
    budget: Annotated[StrictInt, Field(ge=1)] | None = None
    """What the cluster may cost a month, in the currency of `billing_account`; Google warns `budget_email` at
    80 percent, and of a forecast above it."""
    budget_email: Annotated[str, Field(pattern=EMAIL)] | None = None
    """Whom a budget warns."""
    billing_account: Annotated[str, Field(pattern=BILLING)] | None = None
    """Billing account of the project, which a budget is part of."""
    kms_key: Annotated[str, Field(pattern=GOOGLE_KMS_KEY)] | None = None
    """Key of one's own in Cloud KMS, `projects/…/cryptoKeys/…`, in this region. It encrypts disks, images,
    file systems and the bucket; without it, Google's keys do."""
    snapshot_days: Annotated[StrictInt, Field(ge=0, le=365)] = 7
    """For how many days each daily snapshot of a kept disk stays; 0 for no snapshots."""
    os_login: StrictBool = True
    """Whether project members may log in through OS Login, to look at a node that did not come up."""
    labels: dict[
        Annotated[str, Field(pattern=GOOGLE_LABEL)], Annotated[str, Field(pattern=GOOGLE_LABEL_VALUE)]
    ] = {}
    """Labels for every resource, beside those that say which cluster, pool and node it is."""


class OnpremSite(_Site):
    """Machines that exist already and are described here."""

    provider: Literal["onprem"]
    """Machines of your own."""
    machines: Annotated[str, Field(pattern=MACHINE_FILE)] | None = None
    """CSV file beside the description with a line for each node: MAC, serial number, address, BMC."""
    bmc_network: Network | None = None
    """Network of the BMCs, apart from that of the nodes, `10.71.0.0/22` for instance."""
    bmc_credentials: Annotated[str, Field(pattern=CREDENTIALS)] | None = None
    """Where user and password of the BMCs are kept: `file:` and a path beside the description, or `env:` and
    the name of a variable. Never the password itself."""
    bmc: Bmc = Bmc()
    """How the BMCs are reached."""
    boot: Boot | None = None
    """How the machines boot over their network. Without it nothing is served to machines that boot."""
    rooms: dict[Label, Room] = {}
    """Rooms with their rows and racks; without any, racks are those that pools and switches name."""
    devices: dict[Label, Device] = {}
    """What else stands in racks, by name."""
    feeds: dict[Label, Watts] = {}
    """What each feed can carry, `ups-a: 800 kW` for instance: PDUs name theirs."""
    power_limit: Watts | None = None
    """What the site may draw: machines, switches and devices."""
    cooling_limit: Watts | None = None
    """The heat that can be taken from the site."""
    power_price: Annotated[float, Field(gt=0, le=10)] | None = None
    """US dollars for a kWh, for what an hour of a GPU costs."""
    pue: Annotated[float, Field(ge=1, le=5)] = 1
    """Power of the whole site for each part that machines draw: cooling and losses."""
    _known: MachineFile | None = PrivateAttr(default=None)

    @property
    def known_machines(self) -> MachineFile | None:
        """The lines of `machines`, where the file was read."""
        return self._known

    def know(self, machines: MachineFile) -> None:
        """Take the lines of `machines`: done once, by who loads the description."""
        self._known = machines


Site = Annotated[LabSite | AwsSite | GcpSite | OnpremSite, Field(discriminator="provider")]
"""One member per provider; the union is the registry."""

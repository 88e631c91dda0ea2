"""The network that nodes have their address in: VPC, subnet, and the way out."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

from clusterwright.plan.gcp.model import Vpc
from clusterwright.plan.gcp.names import network_name
from clusterwright.spec.site import GcpVpc


class Network(pulumi.ComponentResource):
    """A VPC whose machines have no public address, and reach the internet through Cloud NAT."""

    network: pulumi.Output[str]
    """The VPC, as other resources name it."""
    subnet: pulumi.Output[str]
    project: str
    """Whose network it is: rules for it are made there."""

    def __init__(
        self,
        name: str,
        *,
        vpc: Vpc,
        project: str,
        region: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:Network", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        full = network_name(name, vpc.name)
        made = gcp.compute.Network(
            full,
            name=full,
            mtu=vpc.mtu,
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            opts=self._own,
        )
        (cidr,) = vpc.subnets
        subnet = gcp.compute.Subnetwork(
            full,
            name=full,
            network=made.id,
            region=region,
            ip_cidr_range=cidr,
            # Nodes read the store without a way out to the internet.
            private_ip_google_access=True,
            opts=self._own,
        )
        self._way_out(full, region, made.id, subnet.id)
        self.network, self.subnet, self.project = made.id, subnet.id, project
        self.register_outputs({"network": self.network, "subnet": self.subnet})

    def _way_out(
        self, name: str, region: str, network: pulumi.Output[str], subnet: pulumi.Output[str]
    ) -> None:
        router = gcp.compute.Router(name, name=name, region=region, network=network, opts=self._own)
        gcp.compute.RouterNat(
            name,
            name=name,
            region=region,
            router=router.name,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
            subnetworks=[
                gcp.compute.RouterNatSubnetworkArgs(name=subnet, source_ip_ranges_to_nats=["ALL_IP_RANGES"])
            ],
            # A few connections of every node, not 64 ports each: one address is enough for a thousand nodes.
            enable_dynamic_port_allocation=True,
            min_ports_per_vm=32,
            max_ports_per_vm=4096,
            log_config=gcp.compute.RouterNatLogConfigArgs(enable=True, filter="ERRORS_ONLY"),
            opts=self._own,
        )


class ExistingNetwork(pulumi.ComponentResource):
    """A network that somebody else keeps: nothing is made, and nothing but its names is read."""

    network: pulumi.Output[str]
    subnet: pulumi.Output[str]
    project: str

    def __init__(
        self,
        name: str,
        *,
        vpc: GcpVpc,
        project: str,
        region: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:ExistingNetwork", name, None, opts)
        path = _path(vpc.name, f"projects/{project}/global/networks")
        self.network = pulumi.Output.from_input(path)
        self.project = path.split("/")[1]
        subnets = f"projects/{project}/regions/{region}/subnetworks"
        self.subnet = pulumi.Output.from_input(_path(vpc.subnet, subnets))
        self.register_outputs({"network": self.network, "subnet": self.subnet})


def _path(name: str, folder: str) -> str:
    return name if name.startswith("projects/") else f"{folder}/{name}"

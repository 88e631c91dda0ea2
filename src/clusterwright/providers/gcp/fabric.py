"""What GPUs talk over: a network for each further card, one for RDMA, and machines that stand together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pulumi
import pulumi_gcp as gcp

from clusterwright.plan.gcp.model import PlacementPolicy, Vpc
from clusterwright.plan.gcp.names import network_name, subnet_name

Subnets = Mapping[tuple[str, int], pulumi.Output[str]]
"""By network and number of the subnet in it."""


class Fabric(pulumi.ComponentResource):
    """Networks without a way in or out, and placement policies."""

    subnets: Subnets
    policies: Mapping[str, pulumi.Output[str]]
    """By their names in the plan."""

    def __init__(
        self,
        name: str,
        *,
        project: str,
        region: str,
        vpcs: Iterable[Vpc],
        policies: Iterable[PlacementPolicy],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:Fabric", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        self._name, self._project, self._region = name, project, region
        self.subnets = {key: subnet for vpc in vpcs for key, subnet in self._vpc(vpc)}
        self.policies = {policy.name: self._policy(policy) for policy in policies}
        self.register_outputs({"policies": dict(self.policies)})

    def _vpc(self, vpc: Vpc) -> Iterator[tuple[tuple[str, int], pulumi.Output[str]]]:
        name = network_name(self._name, vpc.name)
        network = gcp.compute.Network(
            name,
            name=name,
            mtu=vpc.mtu,
            auto_create_subnetworks=False,
            network_profile=vpc.profile,
            # The only way out of a node is its first card.
            delete_default_routes_on_create=None if vpc.carries_rdma else True,
            opts=self._own,
        )
        for number, cidr in enumerate(vpc.subnets):
            yield (vpc.name, number), self._subnet(vpc, number, cidr, network)
        if not vpc.subnets:
            yield (vpc.name, 0), self._brought(network)
        if not vpc.carries_rdma:
            self._inside(name, vpc, network)

    def _subnet(self, vpc: Vpc, number: int, cidr: str, network: gcp.compute.Network) -> pulumi.Output[str]:
        name = subnet_name(self._name, vpc.name, number, len(vpc.subnets))
        made = gcp.compute.Subnetwork(
            name,
            name=name,
            network=network.id,
            region=self._region,
            ip_cidr_range=cidr,
            opts=self._own,
        )
        return made.id

    def _brought(self, network: gcp.compute.Network) -> pulumi.Output[str]:
        """The subnet that Google makes with the network, for bare-metal machines with RDMA (A4X Max)."""
        folder = f"projects/{self._project}/regions/{self._region}/subnetworks"
        return pulumi.Output.concat(folder, "/default-subnet-1-", network.name)

    def _inside(self, name: str, vpc: Vpc, network: gcp.compute.Network) -> None:
        """RDMA networks let everything in and out by themselves; ordinary ones nothing in."""
        gcp.compute.Firewall(
            name,
            name=name,
            network=network.id,
            direction="INGRESS",
            source_ranges=list(vpc.subnets),
            allows=[gcp.compute.FirewallAllowArgs(protocol="all")],
            opts=self._own,
        )

    def _policy(self, policy: PlacementPolicy) -> pulumi.Output[str]:
        name = f"{self._name}-{policy.name}"
        if policy.of_group:
            return gcp.compute.ResourcePolicy(
                name,
                name=name,
                region=self._region,
                workload_policy=gcp.compute.ResourcePolicyWorkloadPolicyArgs(
                    type="HIGH_THROUGHPUT", accelerator_topology=policy.gpu_topology
                ),
                opts=self._own,
            ).id
        return gcp.compute.ResourcePolicy(
            name,
            name=name,
            region=self._region,
            group_placement_policy=gcp.compute.ResourcePolicyGroupPlacementPolicyArgs(
                collocation="COLLOCATED",
                gpu_topology=policy.gpu_topology,
                max_distance=policy.max_distance,
            ),
            opts=self._own,
        ).id

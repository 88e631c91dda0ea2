"""A cluster on AWS: its network, fabric, store, machines and the way in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pulumi
import pulumi_aws as aws

from clusterwright.bundle.userdata import user_data
from clusterwright.handoff import from_plan
from clusterwright.plan.aws import AwsPlan, aws_plan
from clusterwright.plan.model import ClusterPlan
from clusterwright.providers.aws.access import InstanceConnect, LoginBalancer
from clusterwright.providers.aws.fabric import Fabric
from clusterwright.providers.aws.network import ExistingNetwork, Network
from clusterwright.providers.aws.nodes import NodePool
from clusterwright.providers.aws.store import Store


class Cluster(pulumi.ComponentResource):
    """Everything that a plan asks AWS for."""

    handoff: pulumi.Output[str]
    """The hand-off document, as text."""
    login_address: pulumi.Output[str]
    ssh_command: pulumi.Output[str]
    store: pulumi.Output[str]
    """Name of the bucket that bundles are published in."""

    def __init__(
        self,
        name: str,
        plan: ClusterPlan,
        *,
        signer: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`signer`: the public key that nodes take bundles from."""
        super().__init__("clusterwright:aws:Cluster", name, None, opts)
        self._plan = aws_plan(plan)
        self._name = name
        region = aws.Provider(name, region=self._plan.region, opts=pulumi.ResourceOptions(parent=self))
        self._own = pulumi.ResourceOptions(parent=self, provider=region)
        network = self._network()
        fabric = Fabric(
            name,
            vpc_id=network.vpc_id,
            placement=self._plan.placement,
            tags=self._plan.tags,
            opts=self._own,
        )
        store = Store(name, s3_endpoint=network.s3_endpoint, tags=self._plan.tags, opts=self._own)
        ids = self._nodes(network, fabric, store, signer)
        self._access(network, fabric, ids)
        self.handoff = pulumi.Output.from_input(from_plan(plan).dumps())
        self.store = store.bucket
        self.register_outputs(
            {"login_address": self.login_address, "ssh_command": self.ssh_command, "store": self.store}
        )

    def _network(self) -> Network | ExistingNetwork:
        plan = self._plan
        if plan.vpc is not None:
            return ExistingNetwork(self._name, vpc=plan.vpc, cidr=plan.network, opts=self._own)
        assert plan.subnets is not None
        return Network(
            self._name,
            region=plan.region,
            zone=plan.zone,
            cidr=plan.network,
            subnets=plan.subnets,
            tags=plan.tags,
            opts=self._own,
        )

    def _nodes(
        self, network: Network | ExistingNetwork, fabric: Fabric, store: Store, signer: str
    ) -> Mapping[str, pulumi.Output[str]]:
        def of_node(node: str) -> pulumi.Output[str]:
            return store.url.apply(partial(_user_data, self._plan, signer, node))

        ids: dict[str, pulumi.Output[str]] = {}
        for pool in dict.fromkeys(machine.pool for machine in self._plan.machines):
            ids |= NodePool(
                pool,
                machines=[machine for machine in self._plan.machines if machine.pool == pool],
                subnet=network.nodes,
                group=fabric.group,
                placement=fabric.placement,
                profile=None,
                user_data=of_node,
                tags=self._plan.tags,
                opts=self._own,
            ).ids
        return ids

    def _access(
        self,
        network: Network | ExistingNetwork,
        fabric: Fabric,
        ids: Mapping[str, pulumi.Output[str]],
    ) -> None:
        plan = self._plan
        doors = plan.with_role("login") or plan.with_role("controller")
        if plan.ssh_from:
            self.login_address = LoginBalancer(
                f"{self._name}-login",
                vpc_id=network.vpc_id,
                subnet=network.public,
                nodes_group=fabric.group,
                ssh_from=plan.ssh_from,
                nodes={door.name: ids[door.name] for door in doors},
                tags=plan.tags,
                opts=self._own,
            ).address
            self.ssh_command = pulumi.Output.concat("ssh ", self.login_address)
            return
        InstanceConnect(
            self._name, subnet=network.services, group=fabric.group, tags=plan.tags, opts=self._own
        )
        self.login_address = pulumi.Output.from_input(doors[0].address)
        tunnel = "aws ec2-instance-connect open-tunnel --region"
        self.ssh_command = pulumi.Output.concat(
            f"ssh -o ProxyCommand='{tunnel} {plan.region} --instance-id ",
            ids[doors[0].name],
            f"' {doors[0].address}",
        )


def _user_data(plan: AwsPlan, signer: str, node: str, url: str) -> str:
    return user_data(plan.cluster, url, signer, node=node)

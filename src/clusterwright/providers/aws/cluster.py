"""A cluster on AWS: its network, fabric, store, file systems, machines and the way in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import pulumi
import pulumi_aws as aws

from clusterwright.bundle.userdata import admitting, user_data
from clusterwright.handoff import from_plan
from clusterwright.plan.aws import AwsPlan, Machine, aws_plan
from clusterwright.plan.builders import Recipe
from clusterwright.plan.model import ClusterPlan
from clusterwright.providers.aws.access import InstanceConnect, LoginBalancer
from clusterwright.providers.aws.fabric import Fabric
from clusterwright.providers.aws.filled import filled
from clusterwright.providers.aws.groups import NodeGroup
from clusterwright.providers.aws.identity import NodeIdentity
from clusterwright.providers.aws.image import Images
from clusterwright.providers.aws.join import Joined
from clusterwright.providers.aws.names import Names
from clusterwright.providers.aws.network import ExistingNetwork, Network
from clusterwright.providers.aws.nodes import NodePool
from clusterwright.providers.aws.snapshots import Snapshots
from clusterwright.providers.aws.state import KeptVolume
from clusterwright.providers.aws.storage import SharedStorage
from clusterwright.providers.aws.store import Store
from clusterwright.providers.aws.watch import Budget, RefusedTraffic


class Cluster(pulumi.ComponentResource):
    """Everything that a plan asks AWS for."""

    handoff: pulumi.Output[str]
    """The hand-off document, as text."""
    login_address: pulumi.Output[str]
    """Where people connect to."""
    ssh_command: pulumi.Output[str]
    """How they do."""
    store: pulumi.Output[str]
    """Name of the bucket that bundles are published in; empty where none is."""
    url: pulumi.Output[str]
    """Address of that bucket as nodes see it; empty where there is none."""
    machines: pulumi.Output[dict[str, str]]
    """IDs of instances by node."""
    groups: Mapping[str, pulumi.Output[str]]
    """Names of Auto Scaling groups by pool: which machines they have is theirs to know."""
    region: str

    def __init__(
        self,
        name: str,
        plan: ClusterPlan,
        *,
        signer: str = "",
        operator: str = "",
        builds: ClusterPlan | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`signer`: the public key that nodes take bundles from; `operator`: in its place, the public key
        that opens them, for machines that are pushed to as one cluster with those of other sites; `builds`:
        the plan of other machines, whose images these become."""
        super().__init__("clusterwright:aws:Cluster", name, None, opts)
        self._plan, self._name, self._whole = aws_plan(plan), name, plan
        self._signer, self._operator = signer, operator
        self._builds = builds is not None
        region = aws.Provider(name, region=self._plan.region, opts=pulumi.ResourceOptions(parent=self))
        self._own = pulumi.ResourceOptions(parent=self, provider=region)
        self._network = self._made_network()
        self._fabric = Fabric(
            name,
            vpc_id=self._network.vpc_id,
            placement=self._plan.placement,
            tags=self._plan.tags,
            opts=self._own,
        )
        self._publishes()
        if self._plan.join is not None:
            Joined(
                name,
                join=self._plan.join,
                vpc_id=self._network.vpc_id,
                subnet=self._network.services,
                routes=self._network.routes,
                nodes_group=self._fabric.group,
                tags=self._plan.tags,
                opts=self._own,
            )
        systems = self._storage()
        self._ids = self._nodes()
        self._access()
        self._watch()
        self.handoff = pulumi.Output.from_input(systems).apply(
            partial(filled, from_plan(builds or plan).dumps())
        )
        self.region = self._plan.region
        self.machines = pulumi.Output.all(**self._ids)
        self.register_outputs(
            {"login_address": self.login_address, "ssh_command": self.ssh_command, "store": self.store}
        )

    def _publishes(self) -> None:
        """Only where nodes pull: machines that are pushed to look for no bundle."""
        if self._operator:
            self.store = self.url = pulumi.Output.from_input("")
            return
        store = Store(self._name, s3_endpoint=self._network.s3_endpoint, tags=self._plan.tags, opts=self._own)
        self.store, self.url = store.bucket, store.url

    def images(self, recipes: Iterable[Recipe], after: pulumi.Resource) -> Images:
        """What its machines became, once `after` says that they are done."""
        return Images(
            self._name,
            recipes=recipes,
            machines=self.machines,
            tags=self._plan.tags,
            after=after,
            # Not below the cluster: what says that machines are done waits for all that is.
            opts=pulumi.ResourceOptions(provider=self._own.provider),
        )

    def _made_network(self) -> Network | ExistingNetwork:
        plan = self._plan
        if plan.vpc is not None:
            return ExistingNetwork(
                self._name, vpc=plan.vpc, cidr=plan.network, set_aside=plan.set_aside, opts=self._own
            )
        assert plan.subnets is not None
        return Network(
            self._name,
            region=plan.region,
            zone=plan.zone,
            cidr=plan.network,
            subnets=plan.subnets,
            nat=plan.nat,
            internet=plan.public,
            endpoints=plan.endpoints,
            set_aside=plan.set_aside,
            tags=plan.tags,
            opts=self._own,
        )

    def _storage(self) -> Mapping[str, pulumi.Output[str]]:
        """Names that Lustre clients mount, by mount point."""
        names = Names(
            self._name,
            domain=self._plan.domain,
            vpc_id=self._network.vpc_id,
            nodes={machine.name: machine.address for machine in self._plan.single},
            tags=self._plan.tags,
            opts=self._own,
        )
        found: dict[str, pulumi.Output[str]] = {}
        for system in self._plan.file_systems:
            made = SharedStorage(
                f"{self._name}-{system.name}",
                plan=system,
                vpc_id=self._network.vpc_id,
                subnet=self._network.services,
                nodes_group=self._fabric.group,
                kms_key=self._plan.kms_key,
                tags=self._plan.tags,
                opts=self._own,
            )
            names.add(system.name, made.record, system.server, made.address)
            if made.file_system is not None:
                found[system.mount] = made.file_system
        return found

    def _nodes(self) -> Mapping[str, pulumi.Output[str]]:
        plan, ids = self._plan, dict[str, pulumi.Output[str]]()
        volumes = {
            machine.name: KeptVolume(
                machine.name,
                zone=plan.zone,
                gib=machine.kept.gib,
                snapshot=machine.kept.snapshot,
                kms_key=plan.kms_key,
                snapshots=plan.cluster if plan.snapshot_days else None,
                tags=plan.tags,
                opts=self._own,
            )
            for machine in plan.machines
            if machine.kept is not None
        }
        if volumes and plan.snapshot_days:
            Snapshots(
                self._name,
                days=plan.snapshot_days,
                kms_key=plan.kms_key,
                boundary=plan.permissions_boundary,
                tags=plan.tags,
                opts=self._own,
            )
        profiles = {
            one.name: NodeIdentity(
                f"{self._name}-{one.name}",
                identity=one,
                boundary=plan.permissions_boundary,
                tags=plan.tags,
                opts=self._own,
            ).profile
            for one in plan.identities
        }
        self.groups = {pool: self._group(pool, members, profiles) for pool, members in plan.groups.items()}
        for pool in dict.fromkeys(machine.pool for machine in plan.single):
            machines = [machine for machine in plan.single if machine.pool == pool]
            ids |= NodePool(
                pool,
                machines=machines,
                subnet=self._network.nodes,
                group=self._fabric.group,
                placement=self._fabric.placement,
                profiles=profiles,
                user_data={
                    machine.name: self._user_data(machine, volumes.get(machine.name)) for machine in machines
                },
                kms_key=plan.kms_key,
                tags=plan.tags,
                opts=self._own,
            ).ids
        for name, volume in volumes.items():
            volume.attach(ids[name])
        return ids

    def _group(
        self, pool: str, members: Sequence[Machine], profiles: Mapping[str, pulumi.Output[str]]
    ) -> pulumi.Output[str]:
        plan = self._plan
        assert plan.root_device is not None, "checked before"
        told = partial(user_data, plan.cluster, signer=self._signer, member=True)
        return NodeGroup(
            pool,
            members=members,
            root_device=plan.root_device,
            subnet=self._network.nodes,
            security_group=self._fabric.group,
            placement=self._fabric.placement,
            profiles=profiles,
            user_data=self.url.apply(told),
            after=self._network.set_aside,
            kms_key=plan.kms_key,
            tags=plan.tags,
            opts=self._own,
        ).group

    def _user_data(self, machine: Machine, volume: KeptVolume | None) -> pulumi.Output[str]:
        if self._operator:
            return pulumi.Output.from_input(admitting(machine.name, self._operator))
        said = partial(_user_data, self._plan, self._signer, machine, self._builds)
        if volume is None:
            return self.url.apply(said)
        return pulumi.Output.all(self.url, volume.device).apply(lambda known: said(*known))

    def _access(self) -> None:
        plan = self._plan
        doors = plan.with_role("login") or plan.with_role("controller")
        if plan.ssh_from:
            self.login_address = LoginBalancer(
                f"{self._name}-login",
                vpc_id=self._network.vpc_id,
                subnet=self._network.public,
                nodes_group=self._fabric.group,
                ssh_from=plan.ssh_from,
                nodes={door.name: self._ids[door.name] for door in doors},
                tags=plan.tags,
                opts=self._own,
            ).address
            self.ssh_command = pulumi.Output.concat("ssh ", self.login_address)
            return
        if not doors:
            self.login_address, self.ssh_command = _entrance(self._whole)
            return
        self.login_address = pulumi.Output.from_input(doors[0].address)
        if plan.session_manager:
            tunnel = "ssm start-session --document-name AWS-StartSSHSession --parameters portNumber=22"
            by = "--target"
        else:
            tunnel, by = "ec2-instance-connect open-tunnel", "--instance-id"
            InstanceConnect(
                self._name,
                subnet=self._network.services,
                group=self._fabric.group,
                tags=plan.tags,
                opts=self._own,
            )
        self.ssh_command = pulumi.Output.concat(
            f"ssh -o ProxyCommand='aws {tunnel} --region {plan.region} {by} ",
            self._ids[doors[0].name],
            f"' {doors[0].address}",
        )

    def _watch(self) -> None:
        plan = self._plan
        if plan.vpc is None:
            RefusedTraffic(
                self._name,
                vpc_id=self._network.vpc_id,
                boundary=plan.permissions_boundary,
                tags=plan.tags,
                opts=self._own,
            )
        if plan.budget is not None and plan.budget_email is not None:
            Budget(
                self._name,
                dollars=plan.budget,
                email=plan.budget_email,
                tags=plan.tags,
                opts=self._own,
            )


def _entrance(whole: ClusterPlan) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
    """At another site, where people come in as they did before."""
    door = (*whole.with_role("login"), *whole.with_role("controller"))[0].address
    return pulumi.Output.from_input(door), pulumi.Output.from_input(f"ssh {door}")


def _user_data(
    plan: AwsPlan, signer: str, machine: Machine, builds: bool, url: str, device: str | None = None
) -> str:
    keep = (device, *machine.kept.paths) if device and machine.kept else ()
    return user_data(plan.cluster, url, signer, node=machine.name, keep=keep, builds=builds)

"""A cluster on Google Cloud: its networks, file systems, store, machines and the way in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import pulumi
import pulumi_gcp as gcp

from clusterwright.bundle.userdata import user_data
from clusterwright.handoff import from_plan
from clusterwright.plan.builders import Recipe
from clusterwright.plan.gcp import gcp_plan
from clusterwright.plan.gcp.model import LABEL, GcpPlan, Machine
from clusterwright.plan.gcp.names import bucket_name, machine_name
from clusterwright.plan.gcp.network import FIRST
from clusterwright.plan.model import ClusterPlan
from clusterwright.providers.gcp.access import Doors, NodeAccount
from clusterwright.providers.gcp.fabric import Fabric, Subnets
from clusterwright.providers.gcp.groups import NodeGroup
from clusterwright.providers.gcp.image import Images
from clusterwright.providers.gcp.network import ExistingNetwork, Network
from clusterwright.providers.gcp.nodes import NodePool
from clusterwright.providers.gcp.snapshots import Snapshots
from clusterwright.providers.gcp.state import PATH
from clusterwright.providers.gcp.storage import SharedStorage
from clusterwright.providers.gcp.store import Store
from clusterwright.providers.gcp.watch import Budget
from clusterwright.spec.nodeset import fold

_TOKEN = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"
"""Compute Engine documentation, access tokens of an attached service account."""


class Cluster(pulumi.ComponentResource):
    """Everything that a plan asks Google Cloud for."""

    handoff: pulumi.Output[str]
    """The hand-off document, as text."""
    login_address: pulumi.Output[str]
    ssh_command: pulumi.Output[str]
    store: pulumi.Output[str]
    """Name of the bucket that bundles are published in."""
    url: pulumi.Output[str]
    """The bucket as nodes see it."""
    machines: pulumi.Output[dict[str, str]]
    """Path of its machine by node."""
    groups: Mapping[str, pulumi.Output[str]]
    """Paths of managed instance groups by the nodes that they keep."""
    region: str

    def __init__(
        self,
        name: str,
        plan: ClusterPlan,
        *,
        signer: str,
        builds: ClusterPlan | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`signer`: the public key that nodes take bundles from; `builds`: the plan of other machines, whose
        images these become."""
        super().__init__("clusterwright:gcp:Cluster", name, None, opts)
        self._plan, self._name, self._builds = gcp_plan(plan), name, builds is not None
        google = gcp.Provider(
            name,
            project=self._plan.project,
            region=self._plan.region,
            zone=self._plan.zone,
            default_labels=self._plan.labels,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self._own = pulumi.ResourceOptions(parent=self, provider=google)
        network = self._network()
        Doors(
            name,
            project=network.project,
            network=network.network,
            inside=self._plan.network,
            ssh_from=self._plan.ssh_from,
            opts=self._own,
        )
        fabric = Fabric(
            name,
            project=self._plan.project,
            region=self._plan.region,
            vpcs=[vpc for vpc in self._plan.vpcs if vpc.name != FIRST],
            policies=self._plan.policies,
            opts=self._own,
        )
        self._storage(network)
        if self._plan.budget is not None:
            Budget(
                name,
                budget=self._plan.budget,
                project=self._plan.project,
                label={LABEL: self._plan.labels[LABEL]},
                opts=self._own,
            )
        self._access(self._nodes(network, fabric, signer))
        self.handoff = pulumi.Output.from_input(from_plan(builds or plan).dumps())
        self.register_outputs(
            {"login_address": self.login_address, "ssh_command": self.ssh_command, "store": self.store}
        )

    def images(self, recipes: Iterable[Recipe], after: pulumi.Resource) -> Images:
        """What its machines became, once `after` says that they are done."""
        plan = self._plan
        return Images(
            self._name,
            cluster=plan.cluster,
            project=plan.project,
            zone=plan.zone,
            recipes=recipes,
            after=after,
            kms_key=plan.kms_key,
            # Not below the cluster: what says that machines are done waits for all that is.
            opts=pulumi.ResourceOptions(provider=self._own.provider),
        )

    def _network(self) -> Network | ExistingNetwork:
        plan = self._plan
        if plan.existing is not None:
            return ExistingNetwork(
                self._name, vpc=plan.existing, project=plan.project, region=plan.region, opts=self._own
            )
        first = next(vpc for vpc in plan.vpcs if vpc.name == FIRST)
        return Network(self._name, vpc=first, project=plan.project, region=plan.region, opts=self._own)

    def _storage(self, network: Network | ExistingNetwork) -> None:
        plan = self._plan
        if plan.shares:
            SharedStorage(
                self._name,
                region=plan.region,
                zone=plan.zone,
                domain=plan.domain,
                network=network.network,
                clients=plan.network,
                services=None if plan.existing else plan.services,
                shares=plan.shares,
                kms_key=plan.kms_key,
                opts=self._own,
            )

    def _nodes(
        self, network: Network | ExistingNetwork, fabric: Fabric, signer: str
    ) -> Mapping[str, pulumi.Output[str]]:
        plan = self._plan
        account = NodeAccount(self._name, project=plan.project, buckets=plan.buckets, opts=self._own)
        store = Store(
            self._name,
            bucket=bucket_name(plan.project, plan.cluster),
            region=plan.region,
            account=account.email,
            names=bool(plan.groups),
            kms_key=plan.kms_key,
            opts=self._own,
        )
        self.store, self.url, self.region = store.bucket, store.url, plan.region

        def of_machine(machine: Machine) -> pulumi.Output[str]:
            return store.url.apply(partial(_user_data, plan, signer, machine, self._builds))

        snapshots = self._snapshots()
        subnets: Subnets = {(FIRST, 0): network.subnet, **fabric.subnets}
        public: dict[str, pulumi.Output[str]] = {}
        ids: dict[str, pulumi.Output[str]] = {}
        for pool in dict.fromkeys(machine.pool for machine in plan.single):
            made = NodePool(
                f"{plan.cluster}-{pool}",
                project=plan.project,
                cluster=plan.cluster,
                domain=plan.domain,
                zone=plan.zone,
                region=plan.region,
                machines=[machine for machine in plan.single if machine.pool == pool],
                subnets=subnets,
                policies=fabric.policies,
                account=account.email,
                user_data=of_machine,
                os_login=plan.os_login,
                kms_key=plan.kms_key,
                snapshots=snapshots,
                opts=self._own,
            )
            public |= made.addresses
            ids |= made.ids
        self.machines = pulumi.Output.all(**ids)
        told = store.url.apply(partial(user_data, plan.cluster, signer=signer, token_url=_TOKEN, member=True))
        self.groups = {
            fold(one.name for one in members): self._group(name, members, subnets, fabric, account, told)
            for name, members in plan.groups.items()
        }
        return public

    def _snapshots(self) -> Snapshots | None:
        plan = self._plan
        if not plan.snapshot_days or not any(machine.kept for machine in plan.machines):
            return None
        return Snapshots(
            self._name,
            zone=plan.zone,
            region=plan.region,
            days=plan.snapshot_days,
            labels=plan.labels,
            opts=self._own,
        )

    def _group(
        self,
        name: str,
        members: Sequence[Machine],
        subnets: Subnets,
        fabric: Fabric,
        account: NodeAccount,
        told: pulumi.Output[str],
    ) -> pulumi.Output[str]:
        plan = self._plan
        policy = next((one for one in plan.policies if one.name == members[0].policy), None)
        return NodeGroup(
            f"{plan.cluster}-{name}",
            project=plan.project,
            cluster=plan.cluster,
            zone=plan.zone,
            members=members,
            subnets=subnets,
            policy=fabric.policies[policy.name] if policy else None,
            of_group=bool(policy and policy.of_group),
            account=account.email,
            user_data=told,
            os_login=plan.os_login,
            labels=plan.labels,
            kms_key=plan.kms_key,
            opts=self._own,
        ).group

    def _access(self, public: Mapping[str, pulumi.Output[str]]) -> None:
        plan = self._plan
        door = (*plan.with_role("login"), *plan.with_role("controller"))[0]
        if door.name in public:
            self.login_address = public[door.name]
            self.ssh_command = pulumi.Output.concat("ssh ", self.login_address)
            return
        self.login_address = pulumi.Output.from_input(door.address)
        self.ssh_command = pulumi.Output.from_input(
            f"gcloud compute ssh {machine_name(plan.cluster, door.name)}"
            f" --project {plan.project} --zone {plan.zone} --tunnel-through-iap"
        )


def _user_data(plan: GcpPlan, signer: str, machine: Machine, builds: bool, url: str) -> str:
    keep = (PATH, *machine.kept.paths) if machine.kept else ()
    return user_data(plan.cluster, url, signer, keep=keep, token_url=_TOKEN, builds=builds)

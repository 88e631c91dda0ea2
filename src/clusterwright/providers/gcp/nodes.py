"""Machines: an instance for each node, with a card in every network of its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import pulumi
import pulumi_gcp as gcp

from clusterwright.bundle.userdata import startup_script
from clusterwright.plan.gcp.model import Machine
from clusterwright.plan.gcp.names import machine_name
from clusterwright.plan.interfaces import Interface
from clusterwright.providers.gcp.capacity import reservation, scheduling
from clusterwright.providers.gcp.fabric import Subnets
from clusterwright.providers.gcp.snapshots import Snapshots
from clusterwright.providers.gcp.state import DEVICE, KeptDisk

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
"""Of machines: what they may do is said by the roles of their account."""
UserData = Callable[[Machine], pulumi.Input[str]]


class NodePool(pulumi.ComponentResource):
    """The machines of one pool."""

    addresses: Mapping[str, pulumi.Output[str]]
    """Public addresses by node, of those that have one."""
    ids: Mapping[str, pulumi.Output[str]]
    """Path of each node's machine, with the number that no other machine ever has."""

    def __init__(
        self,
        name: str,
        *,
        project: str,
        cluster: str,
        domain: str,
        zone: str,
        region: str,
        machines: Iterable[Machine],
        subnets: Subnets,
        policies: Mapping[str, pulumi.Output[str]],
        account: pulumi.Input[str],
        user_data: UserData,
        os_login: bool,
        kms_key: str | None = None,
        snapshots: Snapshots | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:gcp:NodePool", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        self._project, self._cluster, self._domain = project, cluster, domain
        self._zone, self._region = zone, region
        self._subnets, self._policies, self._account = subnets, policies, account
        self._user_data, self._os_login = user_data, os_login
        self._key, self._snapshots = kms_key, snapshots
        self.addresses = {machine.name: self._address(machine) for machine in machines if machine.public}
        self.ids = {machine.name: self._instance(machine) for machine in machines}
        self.register_outputs({"addresses": dict(self.addresses), "ids": dict(self.ids)})

    def _address(self, machine: Machine) -> pulumi.Output[str]:
        name = machine_name(self._cluster, machine.name)
        return gcp.compute.Address(name, name=name, region=self._region, opts=self._own).address

    def _instance(self, machine: Machine) -> pulumi.Output[str]:
        name = machine_name(self._cluster, machine.name)
        made = gcp.compute.Instance(
            name,
            name=name,
            hostname=f"{machine.name}.{self._cluster}.{self._domain}",
            zone=self._zone,
            machine_type=machine.kind,
            boot_disk=self._boot_disk(machine),
            attached_disks=[self._kept(name, machine)] if machine.kept else None,
            network_interfaces=list(self._interfaces(machine)),
            scheduling=scheduling(machine),
            reservation_affinity=reservation(machine),
            resource_policies=self._policies[machine.policy] if machine.policy else None,
            service_account=gcp.compute.InstanceServiceAccountArgs(email=self._account, scopes=[SCOPE]),
            metadata=metadata(self._user_data(machine), self._os_login),
            shielded_instance_config=_shielded(machine),
            tags=[self._cluster, *([f"{self._cluster}-login"] if machine.public else [])],
            labels={"clusterwright-node": machine.name, "clusterwright-pool": machine.pool},
            # Another machine type stops the machine and starts it again, with its disks and its address.
            allow_stopping_for_update=True,
            opts=pulumi.ResourceOptions.merge(
                self._own,
                pulumi.ResourceOptions(
                    # A family of images moves on: a new image is a decision (`clusterwright node replace`).
                    ignore_changes=["bootDisk.initializeParams.image"],
                    # Name and address are free only when the old machine is gone.
                    delete_before_replace=True,
                ),
            ),
        )
        folder = f"projects/{self._project}/zones/{self._zone}/instances"
        return pulumi.Output.concat(folder, "/", made.instance_id)

    def _kept(self, name: str, machine: Machine) -> gcp.compute.InstanceAttachedDiskArgs:
        assert machine.kept is not None
        made = KeptDisk(
            name,
            zone=self._zone,
            kind=machine.disk,
            gib=machine.kept.gib,
            kms_key=self._key,
            snapshot=machine.kept.snapshot,
            snapshots=self._snapshots,
            opts=self._own,
        )
        return gcp.compute.InstanceAttachedDiskArgs(source=made.disk, device_name=DEVICE, mode="READ_WRITE")

    def _boot_disk(self, machine: Machine) -> gcp.compute.InstanceBootDiskArgs:
        return gcp.compute.InstanceBootDiskArgs(
            auto_delete=True,
            kms_key_self_link=self._key,
            initialize_params=gcp.compute.InstanceBootDiskInitializeParamsArgs(
                image=machine.image,
                size=machine.disk_gib,
                type=machine.disk,
                labels={"clusterwright-cluster": self._cluster, "clusterwright-node": machine.name},
            ),
        )

    def _interfaces(self, machine: Machine) -> Iterator[gcp.compute.InstanceNetworkInterfaceArgs]:
        for place, one in enumerate(machine.interfaces):
            yield gcp.compute.InstanceNetworkInterfaceArgs(
                subnetwork=self._subnets[one.network, one.subnet],
                nic_type=one.kind.upper(),
                network_ip=machine.address if place == 0 else None,
                stack_type=stack_type(one),
                access_configs=[
                    gcp.compute.InstanceNetworkInterfaceAccessConfigArgs(nat_ip=self.addresses[machine.name])
                ]
                if place == 0 and machine.public
                else None,
            )


def metadata(user_data: pulumi.Input[str], os_login: bool) -> dict[str, pulumi.Input[str]]:
    """What a machine is told."""
    return {
        "user-data": user_data,
        "enable-oslogin": str(os_login).upper(),
        # Keys of the project's metadata would let people in whom the description does not know.
        "block-project-ssh-keys": "TRUE",
        # Google's own images of Debian and of Red Hat's family come without cloud-init.
        "startup-script": startup_script(),
    }


def stack_type(interface: Interface) -> str | None:
    """Google's own subnet for bare-metal machines with RDMA has no IPv4."""
    return "IPV6_ONLY" if interface.network == "rdma-metal" else None


def _shielded(machine: Machine) -> gcp.compute.InstanceShieldedInstanceConfigArgs | None:
    """Secure boot would refuse modules that the vendors' packages build on the node."""
    if not machine.shielded:
        return None
    return gcp.compute.InstanceShieldedInstanceConfigArgs(
        enable_secure_boot=False, enable_vtpm=True, enable_integrity_monitoring=True
    )

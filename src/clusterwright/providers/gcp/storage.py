"""File systems that Google runs for the cluster, reached under names of its own private zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_gcp as gcp

from clusterwright.catalog.cloud import GIB
from clusterwright.plan.shares import EXPORT, slug
from clusterwright.spec.google_storage import Filestore, ManagedLustre


class SharedStorage(pulumi.ComponentResource):
    """Filestore and Managed Lustre. Nodes hold names, not addresses: a file system that is restored from a
    backup changes a record, and no node."""

    servers: Mapping[str, pulumi.Output[str]]
    """Address of what serves each mount point."""

    def __init__(
        self,
        name: str,
        *,
        region: str,
        zone: str,
        domain: str,
        network: pulumi.Input[str],
        clients: str,
        services: str | None,
        shares: Mapping[str, Filestore | ManagedLustre],
        kms_key: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`clients`: the range of the nodes. `services`: the range that Google's networks are joined with;
        None where that was done already."""
        super().__init__("clusterwright:gcp:SharedStorage", name, None, opts)
        self._name, self._region, self._zone = name, region, zone
        self._network, self._clients, self._key = network, clients, kms_key
        # People's files: `pulumi destroy` refuses until `pulumi state unprotect` says that they may go.
        self._kept = pulumi.ResourceOptions(parent=self, protect=True)
        self._own = pulumi.ResourceOptions(parent=self)
        joined = self._join(services) if services else None
        if services and any(isinstance(share, ManagedLustre) for share in shares.values()):
            self._let_in(services)
        self.servers = {
            mount: self._filestore(mount, share, joined)
            if isinstance(share, Filestore)
            else self._lustre(mount, share, joined)
            for mount, share in shares.items()
        }
        self._zone_of_names(domain)
        self.register_outputs({"servers": dict(self.servers)})

    def _join(self, services: str) -> gcp.servicenetworking.Connection:
        """Private services access: Google's own networks get a range of this one."""
        name = f"{self._name}-services"
        address, _, length = services.partition("/")
        taken = gcp.compute.GlobalAddress(
            name,
            name=name,
            purpose="VPC_PEERING",
            address_type="INTERNAL",
            address=address,
            prefix_length=int(length),
            network=self._network,
            opts=self._own,
        )
        return gcp.servicenetworking.Connection(
            name,
            network=self._network,
            service="servicenetworking.googleapis.com",
            reserved_peering_ranges=[taken.name],
            # Google frees the addresses hours after a file system is gone; the network goes before that.
            deletion_policy="ABANDON",
            opts=self._own,
        )

    def _let_in(self, services: str) -> None:
        """Servers of Lustre open connections to their clients: Managed Lustre documentation, firewall."""
        name = f"{self._name}-lustre"
        gcp.compute.Firewall(
            name,
            name=name,
            network=self._network,
            direction="INGRESS",
            source_ranges=[services],
            target_tags=[self._name],
            allows=[gcp.compute.FirewallAllowArgs(protocol="tcp", ports=["988", "6988"])],
            opts=self._own,
        )

    def _after(self, joined: gcp.servicenetworking.Connection | None) -> pulumi.ResourceOptions:
        more = pulumi.ResourceOptions(depends_on=[joined] if joined else None)
        return pulumi.ResourceOptions.merge(self._kept, more)

    def _filestore(
        self, mount: str, share: Filestore, joined: gcp.servicenetworking.Connection | None
    ) -> pulumi.Output[str]:
        name = f"{self._name}-{slug(mount)}"
        made = gcp.filestore.Instance(
            name,
            name=name,
            location=self._zone if share.tier == "zonal" else self._region,
            tier=share.tier.upper(),
            protocol="NFS_V4_1",
            kms_key_name=self._key,
            file_shares=gcp.filestore.InstanceFileSharesArgs(
                name=EXPORT.strip("/"),
                capacity_gb=share.size // GIB,
                nfs_export_options=[
                    gcp.filestore.InstanceFileSharesNfsExportOptionArgs(
                        ip_ranges=[self._clients], access_mode="READ_WRITE", squash_mode="NO_ROOT_SQUASH"
                    )
                ],
            ),
            networks=[
                gcp.filestore.InstanceNetworkArgs(
                    network=self._network,
                    modes=["MODE_IPV4"],
                    connect_mode="PRIVATE_SERVICE_ACCESS" if joined else "DIRECT_PEERING",
                )
            ],
            deletion_protection_enabled=True,
            opts=self._after(joined),
        )
        return made.networks.apply(_address)

    def _lustre(
        self, mount: str, share: ManagedLustre, joined: gcp.servicenetworking.Connection | None
    ) -> pulumi.Output[str]:
        name = f"{self._name}-{slug(mount)}"
        made = gcp.lustre.Instance(
            name,
            instance_id=name,
            location=self._zone,
            filesystem=share.file_system,
            capacity_gib=str(share.size // GIB),
            per_unit_storage_throughput=str(share.throughput_per_tib),
            network=self._network,
            kms_key=self._key,
            opts=self._after(joined),
        )
        return made.mount_point.apply(lambda told: told.partition("@")[0])

    def _zone_of_names(self, domain: str) -> None:
        name = f"{self._name}-storage"
        below = f"storage.{self._name}.{domain}."
        zone = gcp.dns.ManagedZone(
            name,
            name=name,
            dns_name=below,
            description=f"File systems of the cluster {self._name}",
            visibility="private",
            private_visibility_config=gcp.dns.ManagedZonePrivateVisibilityConfigArgs(
                networks=[gcp.dns.ManagedZonePrivateVisibilityConfigNetworkArgs(network_url=self._network)]
            ),
            opts=self._own,
        )
        for mount, address in self.servers.items():
            gcp.dns.RecordSet(
                f"{self._name}-{slug(mount)}",
                managed_zone=zone.name,
                name=f"{slug(mount)}.{below}",
                type="A",
                ttl=60,
                rrdatas=[address],
                opts=self._own,
            )


def _address(networks: Sequence[gcp.filestore.outputs.InstanceNetwork]) -> str:
    """A preview may tell what was asked for, without the address that is given later."""
    return next(iter(networks[0].ip_addresses or ()), "")

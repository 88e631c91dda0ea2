"""File systems that Amazon runs, in the subnet of services and open to nodes only."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.plan.aws.storage import FileSystem
from clusterwright.providers.aws.tags import named

_Ports = tuple[str, int | None, int | None]
"""Protocol, first and last; None for all."""
_ALL: _Ports = ("-1", None, None)
_PORTS: Mapping[str, tuple[_Ports, ...]] = {
    # FSx for Lustre User Guide, file system access control with Amazon VPC.
    "fsx-lustre": (("tcp", 988, 988), ("tcp", 1018, 1023)),
    # Amazon EFS User Guide, using VPC security groups.
    "efs": (("tcp", 2049, 2049),),
    # FSx for OpenZFS User Guide, file system access control with Amazon VPC.
    "fsx-openzfs": tuple(
        (protocol, first, last)
        for protocol in ("tcp", "udp")
        for first, last in ((111, 111), (2049, 2049), (20001, 20003))
    ),
}


class SharedStorage(pulumi.ComponentResource):
    """One file system."""

    address: pulumi.Output[str]
    """DNS name or address of what serves it."""
    record: str
    """Kind of record that leads to the address: `CNAME` or `A`."""
    file_system: pulumi.Output[str] | None
    """Name that Lustre clients mount; None for NFS."""

    def __init__(
        self,
        name: str,
        *,
        plan: FileSystem,
        vpc_id: pulumi.Input[str],
        subnet: pulumi.Input[str],
        nodes_group: pulumi.Input[str],
        kms_key: str | None = None,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:SharedStorage", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        # Files of people: neither a slip in the description nor `pulumi destroy` takes them away. Who means
        # it runs `pulumi state unprotect` first; the file system then stays with AWS, without its stack.
        lasting = pulumi.ResourceOptions(protect=True, retain_on_delete=True)
        self._kept = pulumi.ResourceOptions.merge(self._own, lasting if plan.lasts else None)
        self._name, self._plan, self._tags = name, plan, named(tags, name)
        self._key = kms_key
        self._subnet, self._group = subnet, self._opened(vpc_id, nodes_group)
        self.file_system = None
        match plan.kind:
            case "fsx-lustre":
                self._lustre()
            case "efs":
                self._efs()
            case _:
                self._openzfs()
        self.register_outputs({"address": self.address})

    def _opened(self, vpc_id: pulumi.Input[str], nodes: pulumi.Input[str]) -> pulumi.Output[str]:
        group = aws.ec2.SecurityGroup(
            self._name,
            description=f"File system {self._plan.mount}",
            vpc_id=vpc_id,
            tags=self._tags,
            opts=self._own,
        )
        if self._plan.efa:
            self._open_to_efa(group.id, nodes)
        for ports in () if self._plan.efa else _PORTS[self._plan.kind]:
            name = f"{self._name}-{ports[0]}-{ports[1]}"
            self._let_in(name, group.id, nodes, ports)
            if self._plan.kind == "fsx-lustre":
                # Servers of Lustre talk to each other, and call their clients.
                self._let_in(f"{name}-servers", group.id, group.id, ports)
                self._let_in(f"{name}-back", nodes, group.id, ports)
                self._let_out(f"{name}-servers", group.id, group.id, ports)
                self._let_out(f"{name}-out", group.id, nodes, ports)
        return group.id

    def _open_to_efa(self, group: pulumi.Output[str], nodes: pulumi.Input[str]) -> None:
        """All traffic in both ways, by the groups themselves: rules for addresses do not count for EFA.

        FSx for Lustre User Guide, file system access control with Amazon VPC."""
        rules: list[pulumi.Resource] = []
        for name, near, far in (("nodes", group, nodes), ("servers", group, group), ("back", nodes, group)):
            rules.append(self._let_in(f"{self._name}-efa-{name}", near, far, _ALL))
            rules.append(self._let_out(f"{self._name}-efa-{name}", near, far, _ALL))
        # Amazon looks at the group when it makes the file system.
        self._kept = pulumi.ResourceOptions.merge(self._kept, pulumi.ResourceOptions(depends_on=rules))

    def _let_in(
        self, name: str, to: pulumi.Input[str], whence: pulumi.Input[str], ports: _Ports
    ) -> pulumi.Resource:
        return aws.vpc.SecurityGroupIngressRule(
            name,
            security_group_id=to,
            referenced_security_group_id=whence,
            ip_protocol=ports[0],
            from_port=ports[1],
            to_port=ports[2],
            tags=self._tags,
            opts=self._own,
        )

    def _let_out(
        self, name: str, whence: pulumi.Input[str], to: pulumi.Input[str], ports: _Ports
    ) -> pulumi.Resource:
        return aws.vpc.SecurityGroupEgressRule(
            name,
            security_group_id=whence,
            referenced_security_group_id=to,
            ip_protocol=ports[0],
            from_port=ports[1],
            to_port=ports[2],
            tags=self._tags,
            opts=self._own,
        )

    def _lustre(self) -> None:
        plan = self._plan
        made = aws.fsx.LustreFileSystem(
            self._name,
            deployment_type=plan.deployment,
            storage_type="SSD",
            storage_capacity=plan.gib,
            per_unit_storage_throughput=plan.throughput,
            file_system_type_version="2.15",
            # Scratch file systems take no key: Amazon FSx API Reference, KmsKeyId.
            kms_key_id=self._key if plan.lasts else None,
            efa_enabled=True if plan.efa else None,
            data_compression_type="LZ4",
            metadata_configuration=aws.fsx.LustreFileSystemMetadataConfigurationArgs(mode="AUTOMATIC")
            if plan.lasts
            else None,
            subnet_ids=self._subnet,
            security_group_ids=[self._group],
            tags=self._tags,
            opts=self._kept,
        )
        for path, place in plan.repositories.items():
            aws.fsx.DataRepositoryAssociation(
                f"{self._name}{path.replace('/', '-')}",
                file_system_id=made.id,
                file_system_path=path,
                data_repository_path=place,
                batch_import_meta_data_on_create=True,
                s3=_follow(),
                tags=self._tags,
                opts=self._own,
            )
        self.address, self.record, self.file_system = made.dns_name, "CNAME", made.mount_name

    def _efs(self) -> None:
        made = aws.efs.FileSystem(
            self._name,
            encrypted=True,
            kms_key_id=self._key,
            performance_mode="generalPurpose",
            throughput_mode=self._plan.deployment,
            tags=self._tags,
            opts=self._kept,
        )
        if self._plan.backup_days:
            aws.efs.BackupPolicy(
                self._name,
                file_system_id=made.id,
                backup_policy=aws.efs.BackupPolicyBackupPolicyArgs(status="ENABLED"),
                opts=self._own,
            )
        target = aws.efs.MountTarget(
            self._name,
            file_system_id=made.id,
            subnet_id=self._subnet,
            security_groups=[self._group],
            opts=self._own,
        )
        self.address, self.record = target.ip_address, "A"

    def _openzfs(self) -> None:
        plan = self._plan
        options = aws.fsx.OpenZfsFileSystemRootVolumeConfigurationNfsExportsArgs(
            client_configurations=[
                aws.fsx.OpenZfsFileSystemRootVolumeConfigurationNfsExportsClientConfigurationArgs(
                    clients="*", options=["rw", "crossmnt", "no_root_squash", "sync"]
                )
            ]
        )
        made = aws.fsx.OpenZfsFileSystem(
            self._name,
            deployment_type=plan.deployment,
            storage_capacity=plan.gib,
            throughput_capacity=plan.throughput or 0,
            kms_key_id=self._key,
            automatic_backup_retention_days=plan.backup_days,
            copy_tags_to_backups=True,
            subnet_ids=[self._subnet],
            security_group_ids=[self._group],
            root_volume_configuration=aws.fsx.OpenZfsFileSystemRootVolumeConfigurationArgs(
                data_compression_type="LZ4", nfs_exports=options
            ),
            tags=self._tags,
            opts=self._kept,
        )
        self.address, self.record = made.dns_name, "CNAME"


def _follow() -> aws.fsx.DataRepositoryAssociationS3Args:
    events = ["NEW", "CHANGED", "DELETED"]
    return aws.fsx.DataRepositoryAssociationS3Args(
        auto_import_policy=aws.fsx.DataRepositoryAssociationS3AutoImportPolicyArgs(events=events),
        auto_export_policy=aws.fsx.DataRepositoryAssociationS3AutoExportPolicyArgs(events=events),
    )

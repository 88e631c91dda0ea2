"""Names in a private zone: of nodes, and of file systems, so that nothing has to know an ID of Amazon's."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from clusterwright.providers.aws.tags import named

_TTL = 60


class Names(pulumi.ComponentResource):
    """The zone `CLUSTER.DOMAIN`, answered inside the network only."""

    zone_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        domain: str,
        vpc_id: pulumi.Input[str],
        nodes: Mapping[str, str],
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("clusterwright:aws:Names", name, None, opts)
        self._own, self._domain = pulumi.ResourceOptions(parent=self), domain
        zone = aws.route53.Zone(
            name,
            name=domain,
            comment=f"Nodes of {name}",
            vpcs=[aws.route53.ZoneVpcArgs(vpc_id=vpc_id)],
            tags=named(tags, name),
            opts=self._own,
        )
        self.zone_id = zone.zone_id
        for node, address in nodes.items():
            self.add(node, "A", f"{node}.{domain}", address)
        self.register_outputs({"zone_id": self.zone_id})

    def add(self, name: str, kind: str, record: str, value: pulumi.Input[str]) -> None:
        """A record: `A` for an address, `CNAME` for a name of Amazon's."""
        aws.route53.Record(
            name,
            zone_id=self.zone_id,
            name=record,
            type=kind,
            ttl=_TTL,
            records=[value],
            opts=self._own,
        )

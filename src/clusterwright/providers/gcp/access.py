"""Who may come in, and what nodes may do: firewall, and their service account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_gcp as gcp

from clusterwright.plan.gcp.names import account_id

_IAP = "35.235.240.0/20"
"""Identity-Aware Proxy documentation, TCP forwarding: the range that its connections come from."""
_ROLES = ("roles/logging.logWriter", "roles/monitoring.metricWriter")
"""In the project. What they may do in the store is said there."""
_READS, _WRITES = "roles/storage.objectViewer", "roles/storage.objectUser"
"""Cloud Storage FUSE documentation, required roles for mounting and accessing a bucket (2026-11)."""


class Doors(pulumi.ComponentResource):
    """Nodes reach each other; people reach nodes through Identity-Aware Proxy, or from stated networks."""

    def __init__(
        self,
        name: str,
        *,
        project: str,
        network: pulumi.Input[str],
        inside: str,
        ssh_from: Sequence[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`project`: the network's. `inside`: the range of the nodes. Other machines are not opened."""
        super().__init__("clusterwright:gcp:Doors", name, None, opts)
        self._own = pulumi.ResourceOptions(parent=self)
        self._name, self._project, self._network = name, project, network
        self._rule("inside", [inside], "all", [], name)
        self._rule("iap", [_IAP], "tcp", ["22"], name)
        if ssh_from:
            self._rule("ssh", ssh_from, "tcp", ["22"], f"{name}-login")
        self.register_outputs({})

    def _rule(self, what: str, sources: Sequence[str], protocol: str, ports: list[str], tag: str) -> None:
        name = f"{self._name}-{what}"
        gcp.compute.Firewall(
            name,
            name=name,
            project=self._project,
            network=self._network,
            direction="INGRESS",
            source_ranges=list(sources),
            target_tags=[tag],
            allows=[gcp.compute.FirewallAllowArgs(protocol=protocol, ports=ports or None)],
            opts=self._own,
        )


class NodeAccount(pulumi.ComponentResource):
    """What nodes are to Google: an account that may write logs and metrics, and use mounted buckets."""

    email: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        project: str,
        buckets: Mapping[str, bool] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`buckets`: those that nodes mount, and whether they write there."""
        super().__init__("clusterwright:gcp:NodeAccount", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        account = gcp.serviceaccount.Account(
            name,
            account_id=account_id(name),
            display_name=f"Nodes of the cluster {name}",
            opts=own,
        )
        for role in _ROLES:
            gcp.projects.IAMMember(
                f"{name}-{role.rpartition('.')[2]}",
                project=project,
                role=role,
                member=account.member,
                opts=own,
            )
        for bucket, writable in (buckets or {}).items():
            gcp.storage.BucketIAMMember(
                f"{name}-{bucket}",
                bucket=bucket,
                role=_WRITES if writable else _READS,
                member=account.member,
                opts=own,
            )
        self.email = account.email
        self.register_outputs({"email": self.email})

"""The Pulumi provider plugin `pulumi-resource-clusterwright`: the verbs of `operate` as a resource's life."""

from __future__ import annotations

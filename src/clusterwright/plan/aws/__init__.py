"""What a cluster is on AWS, decided before anything is made."""

from __future__ import annotations

from clusterwright.plan.aws.build import aws_plan
from clusterwright.plan.aws.model import AwsPlan, Machine, PlacementGroup

__all__ = ["AwsPlan", "Machine", "PlacementGroup", "aws_plan"]

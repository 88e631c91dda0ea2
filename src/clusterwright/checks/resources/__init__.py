"""Rules on what a program asks of a cloud: those of a description, held against its resources.

They see what a description cannot tell: what somebody adds to a stack, or changes in a program of their own.
"""

from clusterwright.checks.resources.rule import Breach, Resource, ResourceRule, breaches
from clusterwright.checks.resources.rules import RULES

__all__ = ["RULES", "Breach", "Resource", "ResourceRule", "breaches"]

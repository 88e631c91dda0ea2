"""Rules over a description: one function per rule, each with a code that `clusterwright explain` takes."""

from __future__ import annotations

from clusterwright.checks.check import check, rules
from clusterwright.checks.explain import Explanation, explain

__all__ = ["Explanation", "check", "explain", "rules"]

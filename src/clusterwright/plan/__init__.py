"""Description and catalog in, a frozen ClusterPlan out. Pure: the same input gives the same bytes.

What plans is loaded when it is asked for: whoever reads a lock, or names a type, starts without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clusterwright.plan.build import plan
    from clusterwright.plan.rehearsal import Rehearsal, rehearse

__all__ = ["Rehearsal", "plan", "rehearse"]
_HOME = {"plan": "build", "Rehearsal": "rehearsal", "rehearse": "rehearsal"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)

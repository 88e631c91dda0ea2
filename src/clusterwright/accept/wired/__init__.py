"""What is wired, as InfiniBand's own tools see it, against what is described."""

from __future__ import annotations

from clusterwright.accept.wired.compare import compare
from clusterwright.accept.wired.discovered import Discovered, Illegible, read
from clusterwright.accept.wired.port_states import PortStates, read_states

__all__ = ["Discovered", "Illegible", "PortStates", "compare", "read", "read_states"]

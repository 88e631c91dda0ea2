"""The software of every pool, solved from data: machines and wishes in, a lock out.

Only the lock itself is imported here: everything that reads one starts without the solver. The way in to that
is `clusterwright.plan.software.solve`, and `asked` for what a description asks.
"""

from __future__ import annotations

from clusterwright.plan.software.lock import DISTRIBUTION, Lock, Locked, Source, beside, load, loads

__all__ = ["DISTRIBUTION", "Lock", "Locked", "Source", "beside", "load", "loads"]

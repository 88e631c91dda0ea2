"""How a node that SSH reaches is told to look for its bundle now."""

from __future__ import annotations

WAKE = "systemctl start --no-block clusterwright-pull.service"
WAKE_AGAIN_SECONDS = 5.0
"""An agent that was just ending missed the call."""
WAKE_SILENT_SECONDS = 30.0
"""One that works or waits says so once. One that was killed then says nothing, and is to begin again."""

"""What this machine keeps of a stack, in `stack/` of the cluster's folder: where its state is, and with which
passphrase; and the state itself where the user has no other place for it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.event import Event, Report
from clusterwright.operate.home import ClusterHome, write_atomically

if TYPE_CHECKING:
    from clusterwright.providers.engine.stack import Stack


@dataclass(frozen=True, slots=True)
class StackFolder:
    """Of one cluster."""

    home: ClusterHome

    @property
    def root(self) -> Path:
        return self.home.root / "stack"

    def exists(self) -> bool:
        """Whether the cluster is a stack that was brought up from here."""
        return self._backend.exists()

    def stack(self, report: Report) -> Stack:
        """Ready to be opened. Raises Refused where there is no engine, or no place for the state."""
        from clusterwright.providers.engine.backend import backend
        from clusterwright.providers.engine.command import Command
        from clusterwright.providers.engine.executable import executable
        from clusterwright.providers.engine.stack import Stack

        program = executable()
        recorded = self._backend.read_text().strip() if self._backend.exists() else None
        found = backend(self.root / "state", recorded)
        environment = found.environment(self._passphrase)
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if found.own:
            self._keep_own_state()
        write_atomically(self._backend, found.url, 0o600)  # its address may hold a password

        def interrupted() -> None:
            report(Event("resources", "progress", "interrupted: ends what is under way"))

        return Stack(self.root, self.home.name, environment, Command(program, interrupted))

    def _keep_own_state(self) -> None:
        (self.root / "state").mkdir(mode=0o700, exist_ok=True)
        if not self._passphrase.exists():
            write_atomically(self._passphrase, secrets.token_urlsafe(32), 0o600)

    @property
    def _backend(self) -> Path:
        return self.root / "backend"

    @property
    def _passphrase(self) -> Path:
        return self.root / "passphrase"

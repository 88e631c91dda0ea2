"""The store's server, where no lab is around it."""

from __future__ import annotations

import os
import signal
from ipaddress import IPv4Network
from pathlib import Path
from threading import Timer

import pytest

from clusterwright.providers.lab.network import Network
from clusterwright.providers.lab.store import LabStore, servers, stop

KEY = "ends-now"


def test_a_store_that_was_stopped_is_gone_and_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that takes its time to end it."""
    store = LabStore(tmp_path / "store", Network(KEY, IPv4Network("127.0.9.0/24")))

    def late(_handle: int, number: signal.Signals) -> None:
        [server] = servers(KEY)
        Timer(0.3, os.kill, [server, number]).start()

    monkeypatch.setattr(signal, "pidfd_send_signal", late)
    try:
        for _ in range(2):
            store.start()
            stop(KEY)
            assert [*servers(KEY)] == []
    finally:
        stop(KEY)

"""Agents of nodes, and what nodes say of themselves in the store."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from .world import World


def looking(agent: ModuleType, world: World, node: str) -> Any:
    """The agent of a node that has verified what is published."""
    one = started(agent, world, node)
    one.step(verify_only=True)
    return one


def started(agent: ModuleType, world: World, node: str) -> Any:
    one = agent.Agent(str(world.node(node)))
    world.agents.append(one)
    return one


def say(
    world: World,
    agent: ModuleType,
    node: str,
    state: str,
    digest: str = "",
    key: Path | None = None,
    cause: str = "its fan",
) -> None:
    digest = digest or world.desired().wanted[node].digest
    text = json.dumps({"node": node, "state": state, "digest": digest, "cause": cause})
    signer = key or world.node(node) / "etc/ssh/ssh_host_ed25519_key"
    body = {"signed": text, "signature": agent.sign(text, str(signer), agent.REPORT)}
    (world.stored / "reports" / node).write_text(json.dumps(body))

"""What a bundle is collected for is what the nodes of every example install."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.bundle import directory, generated, shares
from clusterwright.bundle.build import Bundle
from clusterwright.bundle.offline import transactions
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.prepare import described
from clusterwright.operate.source import Source
from clusterwright.plan import plan
from clusterwright.render import render

CLUSTERS = Path(__file__).parents[2] / "clusters"
EXAMPLES = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.stem.endswith(".lock")]
KEYS = {"/etc/slurm/slurm.key": b"k1", "/etc/munge/munge.key": b"k2", "/etc/slurm/jwt_hs256.key": b"k3"}


def outside(handoff: Handoff) -> dict[str, bytes]:
    """What clients of file systems and of a directory must keep secret."""
    return dict.fromkeys((*shares.secrets(handoff), *directory.secrets(handoff)), b"secret")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_node_and_every_image_is_one_transaction(example: Path) -> None:
    description = described(Source(example))
    handoff = from_plan(plan(description.spec, lock=description.lock))
    texts = {path: path for path in generated.attachments(handoff)}
    bundle = Bundle(handoff, render(handoff), {**KEYS, **outside(handoff)}, texts)
    collected = {transaction.packages for transaction in transactions(handoff)}
    assert {wanted.packages for wanted in bundle.all().values()} <= collected
    processors = {row.architecture for row in handoff.hardware.values()}
    if len(processors) == 1:
        assert {image.kind.packages for image in bundle.images()} <= collected

"""A stack is a cluster: `clusterwright:cluster` is its description's path from the repository's root."""

from __future__ import annotations

from pathlib import Path

import pulumi

from clusterwright.finding import Refused
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.providers.stack import build

ROOT = Path(__file__).absolute().parent.parent

file = ROOT / pulumi.Config().require("cluster")

try:
    description = described(Source(file))
    prepared = prepare(description)
    outputs = build(file, prepared.plan, description.loaded.where)
except Refused as refused:
    raise pulumi.RunError("\n".join(map(str, refused.findings))) from None

for finding in prepared.findings:
    pulumi.warn(str(finding))
for name, value in outputs.items():
    pulumi.export(name, value)

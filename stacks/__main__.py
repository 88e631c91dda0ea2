"""A stack is a cluster: `clusterwright:cluster` is its description's path from the repository's root."""

from __future__ import annotations

from pathlib import Path

import pulumi

from clusterwright.finding import Refused
from clusterwright.providers.stack import build

ROOT = Path(__file__).absolute().parent.parent

try:
    outputs = build(ROOT / pulumi.Config().require("cluster"))
except Refused as refused:
    raise pulumi.RunError("\n".join(map(str, refused.findings))) from None

for name, value in outputs.items():
    pulumi.export(name, value)

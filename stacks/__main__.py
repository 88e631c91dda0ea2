"""A stack is a cluster, or with `clusterwright:image` the builders of its images.

`clusterwright:cluster` is the description's path from the repository's root.
"""

from __future__ import annotations

from pathlib import Path

import pulumi

from clusterwright.operate.stack.program import declare_cluster

ROOT = Path(__file__).absolute().parent.parent

config = pulumi.Config()
declare_cluster(ROOT / config.require("cluster"), image=config.get_bool("image") is True)

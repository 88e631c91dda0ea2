"""Where Pulumi's engine is on this machine, and the plugin of our own that it starts."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from clusterwright.finding import Finding, Refused, Where, refuse

PLUGIN = "pulumi-resource-clusterwright"
_SDKS = {"aws": "pulumi_aws", "gcp": "pulumi_gcp"}


def executable() -> Path:
    """`pulumi` on PATH, where its installer puts it, or what `make engine` built. Raises Refused."""
    found = shutil.which("pulumi")
    candidates = [Path(found)] if found else []
    candidates += [_pulumi_home() / "bin/pulumi", *_built()]
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return candidate
    raise refuse(
        "CW7110",
        Where(path="pulumi"),
        "the program `pulumi` is not installed: it makes the machines of a cloud",
        "Install it as pulumi.com/docs/install says, or build it with `make engine` where only Go's modules "
        "can be had",
    )


def plugin_folder() -> Path:
    """Of the plugin that came with this very package."""
    beside = Path(sys.executable).with_name(PLUGIN)
    found = beside if beside.exists() else shutil.which(PLUGIN)
    if found is None:
        what = f"the program {PLUGIN} is not beside {sys.executable}"
        raise refuse("CW7111", Where(path=PLUGIN), what, "Install clusterwright anew with pip")
    return Path(found).absolute().parent


def lacks(provider: str, where: Where) -> Iterator[Finding]:
    """What has to be installed before a stack on this cloud can be made; `where` names the cloud."""
    if find_spec("pulumi") is None or find_spec(_SDKS[provider]) is None:
        what = f"Pulumi's SDK for {provider} is not installed"
        yield Finding("CW7101", where, what, f"Run `pip install 'clusterwright[{provider}]'`")
    try:
        executable()
    except Refused as refused:
        yield from refused.findings


def _pulumi_home() -> Path:
    return Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")


def _built() -> list[Path]:
    """The newest first."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clusterwright/engine"
    return sorted(cache.glob("*/bin/pulumi"), key=lambda path: path.stat().st_mtime, reverse=True)

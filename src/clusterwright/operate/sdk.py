"""What a cloud is asked with: its own SDK, which comes as an extra."""

from __future__ import annotations

from importlib.util import find_spec

from clusterwright.finding import Where, refuse

_NEEDED = {"aws": "botocore", "gcp": "google.auth"}


def refuse_without_sdk(provider: str, where: Where) -> None:
    """`where` names the cloud."""
    if not _is_there(_NEEDED[provider]):
        remedy = f"Run `pip install 'clusterwright[{provider}]'`"
        raise refuse("CW7101", where, f"the SDK of {provider} is not installed", remedy)


def _is_there(module: str) -> bool:
    """Not only its first part: any package of Google's brings a `google`, protobuf for one."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

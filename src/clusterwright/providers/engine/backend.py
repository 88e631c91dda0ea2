"""Where a stack's state is kept, and what encrypts the secrets in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from clusterwright.finding import Where, refuse

_SERVICE = "https://api.pulumi.com"
_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")


@dataclass(frozen=True, slots=True)
class Backend:
    """`url` as `pulumi login` takes it."""

    url: str
    own: bool
    """Whether it is a folder of this cluster's, which nobody else knows."""

    def environment(self, passphrase_file: Path) -> Mapping[str, str]:
        """What tells the engine. Raises Refused where nothing would encrypt what is secret."""
        where = {"PULUMI_BACKEND_URL": self.url}
        if self.own:
            return {**where, "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file)}
        hosted = urlsplit(self.url).scheme in ("http", "https")
        if not hosted and not any(os.environ.get(name) for name in _PASSPHRASES):
            what = "no passphrase is given that encrypts the secrets of its state"
            remedy = "Set PULUMI_CONFIG_PASSPHRASE_FILE, as everybody does who works on this state"
            raise refuse("CW7113", Where(path=self.shown), what, remedy)
        return where

    @property
    def shown(self) -> str:
        """Without the password that an address may hold."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=host).geturl() if parts.netloc else self.url


def backend(folder: Path, recorded: str | None) -> Backend:
    """What was recorded; else what the user chose for Pulumi; else a folder below `folder`.

    Raises Refused where the environment names another one than was recorded: it would be another stack."""
    own = f"file://{folder}"
    asked = os.environ.get("PULUMI_BACKEND_URL")
    if recorded is None:
        url = asked or _logged_in() or own
    elif asked and asked.rstrip("/") != recorded.rstrip("/"):
        kept = Backend(recorded, recorded == own).shown
        what = f"PULUMI_BACKEND_URL names another state than the one that this cluster is in, {kept}"
        remedy = "Unset it; to move the state, `pulumi stack export` there and `pulumi stack import` here"
        raise refuse("CW7114", Where(path="PULUMI_BACKEND_URL"), what, remedy)
    else:
        url = recorded
    return Backend(url, url == own)


def _logged_in() -> str | None:
    """What `pulumi login` chose last."""
    if os.environ.get("PULUMI_ACCESS_TOKEN"):
        return _SERVICE
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    try:
        current = json.loads((home / "credentials.json").read_text()).get("current")
    except (OSError, ValueError, AttributeError):
        return None
    return current or None

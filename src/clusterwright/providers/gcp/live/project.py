"""One project, with the credentials that `gcloud` and Pulumi would use. It is only asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from google.auth.exceptions import GoogleAuthError, RefreshError
from requests.exceptions import RequestException

from clusterwright.checks.live.answer import Unanswered
from clusterwright.finding import Refused, refuse
from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.gcp.service import session

_GOOGLE = "https://{}.googleapis.com"
_DISABLED = ("SERVICE_DISABLED", "accessNotConfigured")


class Project:
    """Interfaces of Google's by the name of their host: `compute`, `serviceusage`, `cloudquotas` …"""

    def __init__(
        self, name: str, *, base: str = "https://{}.googleapis.com", credentials: Any = None
    ) -> None:
        """Raises Refused where this machine has no credentials."""
        self.name, self._base = name, base
        try:
            self._session = session(credentials)
        except Refused as refused:
            (one,) = refused.findings
            raise refuse("CW7082", one.where, one.what, one.remedy) from refused

    def ask(self, service: str, path: str, permission: str, body: Any = None, **params: Any) -> Any:
        """The answer; None for what is not there. Raises NoAnswer."""
        address = f"{self._base.format(service)}/{path}"
        method = "GET" if body is None else "POST"
        try:
            answer = self._session.request(method, address, timeout=(5, 20), json=body, params=params)
        except RefreshError as error:
            raise NoAnswer(Unanswered("refused", permission, str(error))) from error
        except (RequestException, GoogleAuthError) as error:
            raise NoAnswer(Unanswered("unreachable", permission, str(error))) from error
        if answer.status_code == 404:
            return None
        if not answer.ok:
            raise NoAnswer(_why(answer.status_code, answer.text, permission))
        return answer.json()

    def list(self, service: str, path: str, permission: str, **params: Any) -> list[Mapping[str, Any]]:
        """All pages of an answer. Raises NoAnswer."""
        found: list[Mapping[str, Any]] = []
        asked = dict(params)
        while True:
            page = self.ask(service, path, permission, **asked) or {}
            found += page.get("items", ())
            if "nextPageToken" not in page:
                return found
            asked["pageToken"] = page["nextPageToken"]

    def close(self) -> None:
        self._session.close()


def _why(status: int, text: str, permission: str) -> Unanswered:
    words = _message(text)
    if any(mark in text for mark in _DISABLED):
        return Unanswered("refused", permission, words)
    if status in (401, 403):
        return Unanswered("permission", permission, words)
    return Unanswered("throttled" if status == 429 else "refused", permission, words)


def _message(text: str) -> str:
    """What Google's error says to a person; all of it, where it has another form."""
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text

"""Google's own HTTP interfaces, with the credentials that `gcloud` and Pulumi would use on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import google.auth
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import AuthorizedSession
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException
from urllib3.util import Retry

from clusterwright.finding import Refused, Where, refuse

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_TIMES = Retry(total=5, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504), raise_on_status=False)
"""Google Cloud Storage documentation, retry strategy: these answers may be asked for again."""
_LOGIN = "Run `gcloud auth application-default login`, then the same command again"


@dataclass(frozen=True)
class Service:
    """One interface. `code` is of the finding when it refuses."""

    base: str
    code: str
    session: Any

    def ask(self, method: str, path: str, permission: str, **more: Any) -> Any:
        """The answer; None for what is not there. Raises Refused with the permission that is missing."""
        try:
            answer = self.session.request(method, f"{self.base}/{path}", timeout=(10, 60), **more)
        except (RequestException, GoogleAuthError) as error:
            remedy = "Mend the cause and run the same command again: it goes on where it stopped"
            raise self._refused(path, str(error), remedy) from error
        if answer.status_code == 404:
            return None
        if answer.status_code in (401, 403):
            remedy = f"Let these credentials do {permission}, then run the same command again"
            raise self._refused(path, answer.text, remedy)
        if not answer.ok:
            raise self._refused(path, f"{answer.status_code}: {answer.text}", "Run the same command again")
        return answer

    def _refused(self, path: str, words: str, remedy: str) -> Refused:
        return refuse(self.code, Where(path=path.partition("?")[0]), " ".join(words.split())[:400], remedy)


def session(credentials: Any = None) -> AuthorizedSession:
    """Raises Refused where this machine has no credentials."""
    if credentials is None:
        try:
            credentials, _ = google.auth.default(scopes=[_SCOPE])
        except GoogleAuthError as error:
            raise refuse("CW7080", Where(path="credentials"), str(error), _LOGIN) from error
    made = AuthorizedSession(credentials)
    made.mount("https://", HTTPAdapter(max_retries=_TIMES, pool_maxsize=16))
    return made

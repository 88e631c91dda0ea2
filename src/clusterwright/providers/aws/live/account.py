"""One account in one region, with the credentials that the AWS tools would use. It is only asked."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError
from botocore.parsers import ResponseParserError
from botocore.session import Session

from clusterwright.checks.live.answer import Unanswered
from clusterwright.finding import Where, refuse
from clusterwright.providers.asking import NoAnswer

_CONFIG = Config(retries={"mode": "standard", "max_attempts": 4}, connect_timeout=5, read_timeout=20)
_PREFIXES = {"efs": "elasticfilesystem", "service-quotas": "servicequotas"}
_DENIED = {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "Client.UnauthorizedOperation"}
_SILENT = (ConnectionError, HTTPClientError, ResponseParserError)
"""Nobody answered, or somebody who is not the service: a proxy's own page is no answer."""
FAILED = (ClientError, BotoCoreError, ResponseParserError)
_TOO_OFTEN = {"RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException"}


class Account:
    """Clients are made once, and shared by threads."""

    def __init__(self, region: str) -> None:
        self._region, self._session, self._lock = region, Session(), threading.Lock()
        self._clients: dict[str, Any] = {}

    def number(self) -> str:
        """Of the account. Raises Refused where these credentials are none; empty where nobody answers."""
        try:
            return str(self.client("sts").get_caller_identity()["Account"])
        except _SILENT:
            return ""
        except (ClientError, BotoCoreError) as error:
            remedy = "Run `aws sts get-caller-identity` until it tells your account"
            raise refuse("CW7082", Where(path="credentials"), str(error), remedy) from error

    def ask(self, service: str, operation: str, **asked: Any) -> Mapping[str, Any]:
        """One answer. Raises NoAnswer."""
        try:
            answer: Mapping[str, Any] = getattr(self.client(service), operation)(**asked)
            return answer
        except FAILED as error:
            raise NoAnswer(self.why(error, service, operation)) from error

    def list(self, service: str, operation: str, key: str, **asked: Any) -> list[Mapping[str, Any]]:
        """All pages of an answer. Raises NoAnswer."""
        try:
            pages = self.client(service).get_paginator(operation).paginate(**asked)
            return [row for page in pages for row in page.get(key, ())]
        except FAILED as error:
            raise NoAnswer(self.why(error, service, operation)) from error

    def code(self, error: NoAnswer) -> str:
        """What the service calls what went wrong; empty where nothing was answered."""
        cause = error.__cause__
        return str(cause.response.get("Error", {}).get("Code", "")) if isinstance(cause, ClientError) else ""

    def why(self, error: Exception, service: str, operation: str) -> Unanswered:
        permission = self.permission(service, operation)
        if isinstance(error, _SILENT):
            return Unanswered("unreachable", permission, str(error))
        code = error.response.get("Error", {}).get("Code", "") if isinstance(error, ClientError) else ""
        if code in _DENIED:
            return Unanswered("permission", permission, str(error))
        return Unanswered("throttled" if code in _TOO_OFTEN else "refused", permission, str(error))

    @staticmethod
    def permission(service: str, operation: str) -> str:
        """`ec2:DescribeInstances`."""
        verb = "".join(part.capitalize() for part in operation.split("_"))
        return f"{_PREFIXES.get(service, service)}:{verb.replace('Aws', 'AWS')}"

    def client(self, service: str) -> Any:
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._session.create_client(service, self._region, config=_CONFIG)
            return self._clients[service]

"""Policies as the text that IAM takes: the same for the same rights."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence


def policy(statements: Sequence[Mapping[str, object]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)}, sort_keys=True)


def trusting(service: str) -> str:
    """Who may take a role: this service of Amazon's, `ec2.amazonaws.com` for instance."""
    allowed = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return policy([allowed])

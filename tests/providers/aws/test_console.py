"""Host keys read from consoles as EC2 answers, with the service's own shapes checked by botocore."""

from __future__ import annotations

import base64

import pytest
from botocore.stub import Stubber

from clusterwright.finding import Refused
from clusterwright.providers.aws.console import Consoles, keys_of
from clusterwright.providers.host_keys import host_key

FIRST, SECOND = "A" * 68, "B" * 68


def printed(*keys: str) -> str:
    """What cloud-init's module `keys_to_console` prints, once for each boot that made a key."""
    boots = [
        "[   12.34] cloud-init[811]: Cloud-init v. 25.1 running 'modules:final'\r\n"
        "-----BEGIN SSH HOST KEY KEYS-----\r\n"
        f"ecdsa-sha2-nistp256 {'E' * 92} root@gpu-001\r\n"
        f"ssh-ed25519 {key} root@gpu-001\r\n"
        "-----END SSH HOST KEY KEYS-----\r\n"
        for key in keys
    ]
    return "".join(boots)


def test_the_last_key_counts() -> None:
    assert host_key(printed(FIRST)) == f"ssh-ed25519 {FIRST}"
    assert host_key(printed(FIRST, SECOND)) == f"ssh-ed25519 {SECOND}"


@pytest.mark.parametrize(
    "text", ["", "login:", printed(FIRST).partition("-----END")[0], f"ssh-ed25519 {FIRST}"]
)
def test_what_is_not_between_the_marks_is_no_host_key(text: str) -> None:
    assert host_key(text) is None


@pytest.fixture
def consoles(monkeypatch: pytest.MonkeyPatch) -> Consoles:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return Consoles("us-east-2")


def test_machines_that_printed_theirs_are_known(consoles: Consoles) -> None:
    with Stubber(consoles._client) as ec2:
        for instance, text in (("i-1", printed(FIRST)), ("i-2", "")):
            output = base64.b64encode(text.encode()).decode()
            asked = {"InstanceId": instance, "Latest": True}
            ec2.add_response("get_console_output", {"InstanceId": instance, "Output": output}, asked)
        assert keys_of(consoles, {"gpu-001": "i-1", "gpu-002": "i-2"}) == {"gpu-001": f"ssh-ed25519 {FIRST}"}
        ec2.assert_no_pending_responses()


def test_a_missing_permission_is_named(consoles: Consoles) -> None:
    with Stubber(consoles._client) as ec2:
        ec2.add_client_error("get_console_output", "UnauthorizedOperation", "You are not authorized")
        with pytest.raises(Refused, match="ec2:GetConsoleOutput") as refused:
            consoles.host_key("i-1")
    assert [finding.code for finding in refused.value.findings] == ["CW7081"]

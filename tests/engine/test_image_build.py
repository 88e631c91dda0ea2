"""`clusterwright image`: the real command on the real engine; what it made is told to a played Amazon."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from tests.providers.aws.amazon import built, serving

from .somebody import CLOUDY, Operator

pytestmark = pytest.mark.engine
INSTANCE = "aws:ec2/instance:Instance"
REGION = "us-east-2"
OLD = "0123456789abcdef"


@pytest.fixture
def account(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serving() as amazon:
        settings = {"AWS_ENDPOINT_URL": amazon.url}
        settings |= dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "testing")
        for name, text in settings.items():
            monkeypatch.setenv(name, text)
        operator.environment.update(settings)
        yield amazon.url


def test_a_build_that_was_killed_goes_on_and_the_next_has_nothing_to_do(
    operator: Operator, account: str
) -> None:
    operator.describe(f"{CLOUDY}software: {{distribution: ubuntu-24.04}}\n")
    built(account, REGION, OLD)
    listed, _ = operator.run("image", "list", "--of", "cloudy.yaml")
    [digest] = [line.split()[0] for line in listed.splitlines() if "not there" in line]

    # Killed while the builder is made: the engine ends that by itself, and the next build goes on with it.
    build = ("image", "build", "cloudy.yaml")
    with operator.held_at(f"Instance builder-{digest}", *build) as killed:
        killed.kill()
    (operator.root / "SLOW").unlink()
    locks = operator.state.with_name("image-cloudy") / "stack/state/.pulumi/locks"
    until = time.monotonic() + 600
    while [*locks.rglob("*.json")]:
        assert time.monotonic() < until, "the engine that was left holds the stack"
        time.sleep(0.1)
    output, _ = operator.run(*build)
    assert output == f"{digest}  built\n"
    done = [line.split(" ", 2) for line in operator.deeds.splitlines()]
    builder = [deed for deed, kind, name in done if (kind, name) == (INSTANCE, f"builder-{digest}")]
    assert builder == ["create", "delete"]
    image = [deed for deed, _, name in done if name == f"clusterwright-{digest}"]
    assert image == ["create", "create"], "the image and its parameter stay"
    last = max(number for number, row in enumerate(done) if row[2] == f"clusterwright-{digest}")
    assert last < done.index(["delete", INSTANCE, f"builder-{digest}"])

    # There is nothing to build then. What no description wants, and no machine stands on, can go.
    built(account, REGION, digest)
    before = operator.deeds
    assert operator.run(*build)[0] == "every image is there already\n"
    said = operator.run(*build, "--json")[0].splitlines()
    assert json.loads(said[-1]) == {"outcome": {"cluster": "cloudy", "ok": True, "built": []}}
    assert operator.deeds == before
    assert operator.run("image", "remove", "--of", "cloudy.yaml", "--unused")[0].startswith(
        "1 images removed"
    )
    listed, _ = operator.run("image", "list", "--of", "cloudy.yaml")
    assert OLD not in listed
    assert digest in listed

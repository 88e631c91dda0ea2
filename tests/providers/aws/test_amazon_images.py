"""Images of a region, listed and removed by their tag, on moto's EC2 and Systems Manager."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from amazon import Amazon, built, client, serving

from clusterwright.finding import Refused
from clusterwright.plan.images import PARAMETER
from clusterwright.providers.aws.stock import Stock
from clusterwright.providers.built import remove

REGION = "us-west-2"
OLD, NEW = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture(scope="module")
def account() -> Iterator[Amazon]:
    with serving() as served, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", served.url)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        yield served


@pytest.fixture(scope="module")
def stock(account: Amazon) -> Stock:
    assert account.url
    return Stock(REGION)


@pytest.fixture
def amazon(account: Amazon, stock: Stock) -> Iterator[Amazon]:
    yield account
    for image in stock.known():
        client(account.url, "ec2", REGION).deregister_image(ImageId=image.name)


def parameters(amazon: Amazon) -> list[str]:
    return [row["Name"] for row in client(amazon.url, "ssm", REGION).describe_parameters()["Parameters"]]


def test_what_was_built_is_listed_and_nothing_else(amazon: Amazon, stock: Stock) -> None:
    image = built(amazon.url, REGION, OLD)
    [found] = stock.known()
    assert (found.digest, found.name, found.ready, found.machines) == (OLD, image, True, ())


def test_an_image_goes_with_its_parameter(amazon: Amazon, stock: Stock) -> None:
    built(amazon.url, REGION, OLD), built(amazon.url, REGION, NEW)
    assert [image.digest for image in remove(stock, [OLD])] == [OLD]
    assert [image.digest for image in stock.known()] == [NEW]
    assert f"{PARAMETER}{OLD}" not in parameters(amazon)
    assert f"{PARAMETER}{NEW}" in parameters(amazon)


def test_a_removal_that_was_interrupted_is_ended(amazon: Amazon, stock: Stock) -> None:
    built(amazon.url, REGION, OLD)
    [image] = stock.known()
    client(amazon.url, "ssm", REGION).delete_parameter(Name=f"{PARAMETER}{OLD}")
    stock.remove(image)
    assert stock.known() == []
    stock.remove(image)


def test_one_that_machines_were_made_from_stays_and_all_others_with_it(amazon: Amazon, stock: Stock) -> None:
    image = built(amazon.url, REGION, OLD)
    built(amazon.url, REGION, NEW)
    ec2 = client(amazon.url, "ec2", REGION)
    made = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    with pytest.raises(Refused, match="CW7062") as refused:
        remove(stock, [OLD, NEW, "0000000000000000"])
    assert sorted(finding.code for finding in refused.value.findings) == ["CW7061", "CW7062"]
    assert made in str(refused.value)
    assert len(stock.known()) == 2
    ec2.terminate_instances(InstanceIds=[made])


def test_a_missing_permission_is_named(amazon: Amazon, stock: Stock) -> None:
    amazon.refused["DescribeImages"] = "denied"
    with pytest.raises(Refused, match="CW7090") as refused:
        stock.known()
    assert "ec2:DescribeImages" in str(refused.value)
    amazon.refused.clear()

"""What cloud-init itself says of the user data of every example, and whether it is small enough."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from clusterwright.bundle.userdata import LIMIT, user_data

from .test_programs import EXAMPLES, SIGNER, made

AUTHORITY = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
needs_cloud_init = pytest.mark.skipif(not shutil.which("cloud-init"), reason="needs cloud-init")


def texts(shared: Path) -> Iterator[str]:
    """Of every machine of every example, and of a lab's nodes."""
    yield user_data("lab-pull", "https://10.80.0.1:8443", SIGNER, AUTHORITY)
    yield user_data("image-lab", "https://10.80.0.1:8443", SIGNER, builds=True)
    for file in EXAMPLES:
        for one in made(shared, file).of("aws:ec2/instance:Instance").values():
            yield one.inputs["userData"]
        for told in packed(shared, file):
            yield gzip.decompress(told).decode()
        for one in made(shared, file).of("gcp:compute/instance:Instance").values():
            yield one.inputs["metadata"]["user-data"]
        for one in made(shared, file).of("gcp:compute/instanceTemplate:InstanceTemplate").values():
            yield one.inputs["metadata"]["user-data"]


def packed(shared: Path, file: Path) -> Iterator[bytes]:
    """Of members of groups, as their template has it."""
    for one in made(shared, file).of("aws:ec2/launchTemplate:LaunchTemplate").values():
        if "userData" in one.inputs:
            yield base64.b64decode(one.inputs["userData"])


def shape(text: str) -> str:
    """Without what differs from cluster to cluster: cloud-init is slow to ask."""
    document = yaml.load(text, yaml.CSafeLoader)
    for file in document["write_files"]:
        file["content"] = ""
    return unnamed(yaml.safe_dump(document))


def unnamed(text: str) -> str:
    """Without what differs from node to node."""
    return re.sub(r"^hostname: .*$", "", text, flags=re.MULTILINE)


def valid(text: str, folder: Path) -> str:
    """What `cloud-init schema` has against it; empty where it has nothing."""
    file = folder / "user-data"
    file.write_text(text)
    argv = ["cloud-init", "schema", "--config-file", str(file)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    warned = "warning" in f"{done.stdout}{done.stderr}".lower() or "deprecated" in done.stdout.lower()
    return f"{done.stdout}{done.stderr}" if done.returncode or warned else ""


@needs_cloud_init
def test_cloud_init_takes_it(tmp_path: Path, shared: Path) -> None:
    alike = {unnamed(text): text for text in texts(shared)}
    shapes = {shape(text): text for text in alike.values()}
    assert len(shapes) >= 5
    assert [said for text in shapes.values() if (said := valid(text, tmp_path))] == []


@needs_cloud_init
def test_cloud_init_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    text = user_data("lab-pull", "https://10.80.0.1:8443", SIGNER)
    assert "permissions" in valid(text.replace("permissions: '0755'", "permissions: 755", 1), tmp_path)


def test_it_is_below_the_limit(shared: Path) -> None:
    plain = [text.encode() for text in texts(shared) if "preserve_hostname" not in text]
    members = [told for file in EXAMPLES for told in packed(shared, file)]
    assert members
    assert max(map(len, [*plain, *members])) <= LIMIT

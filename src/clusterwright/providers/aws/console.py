"""Host keys of instances, as cloud-init prints them on consoles: EC2 vouches for whose console it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from clusterwright.finding import Where, refuse
from clusterwright.providers.host_keys import host_key


@dataclass(frozen=True)
class Consoles:
    """Of the instances of one region, with the credentials that the AWS tools would use."""

    region: str
    endpoint: str | None = None

    def host_key(self, instance: str) -> str | None:
        """None as long as it has not printed it. Raises Refused where the console may not be read."""
        return host_key(self.text(instance))

    def text(self, instance: str) -> str:
        """What it printed, up to now; EC2 keeps the last 64 KiB. Raises Refused where it may not be read."""
        try:
            # Of machines of the Nitro system the console as it is now; of others EC2 refuses `Latest`.
            return str(self._client.get_console_output(InstanceId=instance, Latest=True).get("Output", ""))
        except (ClientError, BotoCoreError) as error:
            remedy = "Let these credentials do ec2:GetConsoleOutput, then run the same command again"
            raise refuse("CW7081", Where(path=instance), str(error), remedy) from error

    @cached_property
    def _client(self) -> Any:
        return Session().create_client("ec2", self.region, endpoint_url=self.endpoint)


def keys_of(consoles: Consoles, machines: Mapping[str, str]) -> Mapping[str, str]:
    """By node, for those of `machines` (node → instance) that printed one so far."""
    found = {node: consoles.host_key(machine) for node, machine in machines.items()}
    return {node: key for node, key in found.items() if key}

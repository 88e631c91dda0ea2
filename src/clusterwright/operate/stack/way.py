"""Into a node through the door that its cloud has, for commands that nobody types."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.finding import Where, refuse
from clusterwright.operate.home import ClusterHome, write_atomically
from clusterwright.operate.queue import Queue
from clusterwright.operate.remote import KNOCK_SECONDS, run_on
from clusterwright.operate.stack.known import Known, ssh_argv
from clusterwright.operate.stack.told import host_keys_of


@dataclass(frozen=True)
class Way:
    """As `clusterwright ssh` goes, with that user's own keys and settings; root there by `sudo`."""

    known: Known
    name: str

    def argv(self, command: str) -> list[str]:
        argv = ssh_argv(self.known, self.name, ["sudo", "-n", "sh", "-c", command], None)
        if argv[0] == "gcloud":
            return [*argv, "--quiet"]
        # Whoever could answer a question is not there.
        return ["ssh", "-o", "BatchMode=yes", *self._host_key(), *argv[1:]]

    def _host_key(self) -> list[str]:
        """The key that the cloud saw it show at its first boot, instead of what the user's files know."""
        keys = host_keys_of(self.known.kept)
        if self.name not in keys:
            return []
        file = ClusterHome.of(self.known.name).root / "stack/known_hosts"
        write_atomically(file, "".join(f"{node} {key}\n" for node, key in sorted(keys.items())), 0o600)
        return ["-o", f"UserKnownHostsFile={file}", "-o", f"HostKeyAlias={self.name}"]


def open_way(known: Known, node: str) -> Way:
    """Raises Refused where it is closed, with the words of the program that knocked."""
    way = Way(known, node)
    answer = run_on(way, "true", timeout=KNOCK_SECONDS)
    if answer.code:
        by_hand = f"clusterwright ssh {known.name} {node} -- sudo -n true"
        raise refuse(
            "CW8160",
            Where(path=node),
            f"no command runs there: {(answer.error or answer.output).strip()[-300:] or 'it says nothing'}",
            f"Mend what `{by_hand}` shows: your credentials, your key on the node, sudo there",
        )
    return way


@dataclass(frozen=True)
class OnCloud:
    """A cluster on a cloud whose Slurm is asked through its door."""

    known: Known

    @property
    def name(self) -> str:
        return self.known.name

    def nodes(self, text: str) -> tuple[str, ...]:
        return self.known.nodes(text)

    def reach(self, node: str) -> Way:
        return Way(self.known, node)

    def queue(self) -> Queue:
        """Asked on the first controller that answers. Raises Refused when none does."""
        *others, last = [node.name for node in self.known.handoff.with_role("controller")]
        for name in others:
            if run_on(self.reach(name), "true", timeout=KNOCK_SECONDS).code == 0:
                return Queue(self.reach(name))
        return Queue(open_way(self.known, last))

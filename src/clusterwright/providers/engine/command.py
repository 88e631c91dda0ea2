"""The engine's process: it is told once to end well when its user interrupts, and is waited for."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from pulumi import automation
from pulumi.automation.errors import create_command_error
from semver import VersionInfo

from clusterwright.finding import Where, refuse

_OLDEST = VersionInfo(3, 206, 0)
"""The first one that streams its events to the Automation API of our SDK."""
_OF_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")


class Command(automation.PulumiCommand):
    """In a session of its own: Ctrl-C reaches this process, which hands it on as one SIGINT."""

    def __init__(self, executable: Path, interrupted: Callable[[], None]) -> None:
        self.command = str(executable)
        self.version = _version(executable)
        self._interrupted = interrupted

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,
        on_error: Callable[[str], Any] | None = None,
    ) -> automation.CommandResult:
        """Raises what the SDK raises; KeyboardInterrupt once the engine has ended."""
        argv = [self.command, "--non-interactive", *args]
        # Files, no pipes: an engine whose reader was killed would die of its next word, and lose what it
        # is about to make. Like this it sees that its program is gone, ends what is under way, and saves.
        with TemporaryFile("w+", errors="replace") as output, TemporaryFile("w+", errors="replace") as errors:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=cwd,
                env=_environment(additional_env),
                start_new_session=True,
            )
            interrupted = self._ended(process)
            texts = _read(output, on_output), _read(errors, on_error)
        if interrupted:
            raise KeyboardInterrupt
        result = automation.CommandResult(*texts, process.returncode)
        if process.returncode:
            raise create_command_error(result)
        return result

    def _ended(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait; also whether it was interrupted. A second interrupt ends the engine at once."""
        interrupted = False
        while True:
            try:
                process.wait()
                return interrupted
            except KeyboardInterrupt:
                interrupted = True
                process.send_signal(signal.SIGINT)
                self._interrupted()


def _read(file: IO[str], tell: Callable[[str], Any] | None) -> str:
    file.seek(0)
    text = file.read()
    if tell:
        for line in text.splitlines():
            tell(line)
    return text.rstrip()


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """What the caller says of passphrases stands alone: the engine prefers a variable to a file."""
    own = dict(os.environ)
    if any(name in more for name in _OF_PASSPHRASES):
        own = {name: value for name, value in own.items() if name not in _OF_PASSPHRASES}
    return {**own, **more, "PULUMI_AUTOMATION_API": "true", "PULUMI_SKIP_UPDATE_CHECK": "true"}


def _version(executable: Path) -> VersionInfo:
    said = subprocess.run([executable, "version"], capture_output=True, text=True, check=False)
    words = said.stdout.strip().removeprefix("v")
    try:
        version = VersionInfo.parse(words)
    except ValueError:
        what = f"{executable} does not say its version: {(words or said.stderr.strip())[:200]}"
        raise refuse("CW7112", Where(str(executable)), what, "Install Pulumi's engine anew") from None
    if version < _OLDEST:
        what = f"this is Pulumi {version}, and {_OLDEST} is the oldest that is driven from here"
        raise refuse("CW7112", Where(str(executable)), what, "Install a newer one")
    return version

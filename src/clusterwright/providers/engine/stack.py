"""One stack on the real engine: what `pulumi preview`, `up`, `refresh` and `destroy` do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml
from pulumi import automation, log

from clusterwright.providers.engine.brief import BriefStack
from clusterwright.providers.engine.command import Command
from clusterwright.providers.engine.executable import plugin_folder
from clusterwright.providers.engine.kept import Kept, kept
from clusterwright.providers.engine.steps import Step, step

PROJECT = "clusterwright"
_NOTHING = ("same", "read", "refresh", "discard", "discard-replaced", "remove-pending-replace", "import")
_LOCKS = re.compile(r"created by \S+@(\S+) \(pid (\d+)\)")


class Failed(Exception):
    """An operation that the engine could not end; its errors, each of a resource or of the whole."""

    def __init__(self, errors: tuple[Complaint, ...]) -> None:
        self.errors = errors
        super().__init__("; ".join(error.text for error in errors))


class Locked(Exception):
    """Somebody works on the stack, or was killed while they did: host and process of each."""

    def __init__(self, holders: tuple[tuple[str, int], ...], words: str) -> None:
        self.holders = holders
        super().__init__(words)


@dataclass(frozen=True, slots=True)
class Complaint:
    """`urn` is empty where no resource is meant."""

    urn: str
    text: str


class Follower(Protocol):
    """Whoever is told while the engine works. Called from other threads, one at a time."""

    def begun(self, step: Step) -> None: ...
    def ended(self, step: Step) -> None: ...
    def failed(self, step: Step) -> None: ...
    def said(self, urn: str, severity: str, text: str) -> None: ...


@dataclass
class _Ear:
    """Takes the engine's events to a follower, and keeps what went wrong."""

    follower: Follower | None = None
    steps: list[Step] = field(default_factory=list)
    errors: list[Complaint] = field(default_factory=list)

    def __call__(self, event: automation.EngineEvent) -> None:
        if event.diagnostic_event:
            self._hear(event.diagnostic_event)
        elif event.resource_pre_event:
            self._step(step(event.resource_pre_event.metadata), "begun")
        elif event.res_outputs_event:
            self._step(step(event.res_outputs_event.metadata), "ended")
        elif event.res_op_failed_event:
            self._step(step(event.res_op_failed_event.metadata), "failed")

    def _hear(self, diagnostic: automation.DiagnosticEvent) -> None:
        text, urn = _plain(diagnostic.message), diagnostic.urn or ""
        if not text:
            return
        if diagnostic.severity == "error":
            self.errors.append(Complaint(urn, text))
        if self.follower and diagnostic.severity != "debug":
            self.follower.said(urn, diagnostic.severity, text)

    def _step(self, found: Step, how: str) -> None:
        if found.op in _NOTHING:
            return
        if how == "begun":
            self.steps.append(found)
        if self.follower:
            getattr(self.follower, how)(found)


class Stack:
    """`folder` holds its project and settings; the program is given to each operation that runs one."""

    def __init__(self, folder: Path, name: str, environment: Mapping[str, str], command: Command) -> None:
        self.name = name
        self._folder = folder
        self._workspace = automation.LocalWorkspace(
            work_dir=str(folder), env_vars=dict(environment), pulumi_command=command
        )
        self._stack: automation.Stack | None = None

    def configure(self, config: Mapping[str, str]) -> None:
        """Write project and settings. What encrypts secrets is the engine's own line and stays."""
        self.write_project()
        file = self._folder / f"Pulumi.{self.name}.yaml"
        settings: dict[str, Any] = (yaml.safe_load(file.read_text()) or {}) if file.exists() else {}
        settings["config"] = {f"{PROJECT}:{key}": value for key, value in sorted(config.items())}
        text = yaml.safe_dump(settings, sort_keys=True)
        if not file.exists() or file.read_text() != text:
            _replace(file, text)

    def write_project(self) -> None:
        """As the repository's own, but for the plugin's place; the program is given by this process."""
        body = {
            "name": PROJECT,
            "runtime": {"name": "python"},
            "options": {"refresh": "always"},
            "plugins": {"providers": [{"name": PROJECT, "path": str(plugin_folder())}]},
        }
        file, text = self._folder / "Pulumi.yaml", yaml.safe_dump(body, sort_keys=False)
        if not file.exists() or file.read_text() != text:
            _replace(file, text)

    @property
    def is_open(self) -> bool:
        return self._stack is not None

    def exists(self) -> bool:
        """Whether the state knows it; it is then at hand."""
        try:
            with self._told():
                self._stack = BriefStack.select(self.name, self._workspace)
        except automation.StackNotFoundError:
            return False
        return True

    def open(self) -> None:
        """Made where the state does not know it."""
        with self._told():
            self._stack = BriefStack.create_or_select(self.name, self._workspace)

    def preview(self, program: Callable[[], None], anew: Sequence[str] = ()) -> tuple[Step, ...]:
        """What `up` would do."""
        ear = _Ear()
        with self._told(ear), _unheard():
            self._opened.preview(program=program, on_event=ear, color="never", replace=[*anew])
        return tuple(ear.steps)

    def up(self, program: Callable[[], None], follower: Follower, anew: Sequence[str] = ()) -> None:
        """`anew`: the URNs of what is made anew although it is as it should be."""
        ear = _Ear(follower)
        with self._told(ear), _unheard():
            self._opened.up(
                program=program, on_event=ear, color="never", suppress_outputs=True, replace=[*anew]
            )

    def drift(self) -> tuple[Step, ...]:
        """What is no more as it was made; nothing is changed, the state neither."""
        ear, seen = _Ear(), dict[str, Step]()

        def hear(event: automation.EngineEvent) -> None:
            ear(event)
            if event.res_outputs_event:
                found = step(event.res_outputs_event.metadata)
                if found.op in ("update", "delete"):
                    seen[found.urn] = found

        with self._told(ear):
            self._opened.preview_refresh(on_event=hear, color="never")
        return tuple(seen[urn] for urn in sorted(seen))

    def destroy(self, follower: Follower) -> None:
        """Everything that is not protected, and that nothing protected stands on."""
        ear = _Ear(follower)
        with self._told(ear):
            self._opened.destroy(on_event=ear, color="never", exclude_protected=True, suppress_outputs=True)

    def unprotect(self) -> None:
        """From then on `destroy` takes everything."""
        with self._told():
            self._workspace.pulumi_command.run(
                ["state", "unprotect", "--all", "--yes", "--stack", self.name],
                str(self._folder),
                self._workspace.env_vars,
            )

    def remove(self) -> None:
        """The stack itself, once it holds nothing."""
        with self._told():
            self._workspace.remove_stack(self.name)

    def kept(self) -> Kept:
        """What the state holds."""
        with self._told():
            return kept(self._opened.export_stack().deployment or {})

    def forget_pending(self) -> None:
        """Drop from the state what was begun by an operation that was killed."""
        with self._told():
            exported = self._opened.export_stack()
            body = {**(exported.deployment or {})}
            body.pop("pending_operations", None)
            self._opened.import_stack(automation.Deployment(exported.version, body))

    def unlock(self) -> None:
        """Take away the locks of whoever was killed."""
        with self._told():
            self._opened.cancel()

    @property
    def _opened(self) -> automation.Stack:
        assert self._stack is not None, "opened before it is used"
        return self._stack

    @contextmanager
    def _told(self, ear: _Ear | None = None) -> Iterator[None]:
        """The SDK's errors in our own words."""
        try:
            yield
        except automation.StackNotFoundError:
            raise
        except automation.ConcurrentUpdateError as error:
            words = str(error)
            raise Locked(tuple((host, int(pid)) for host, pid in _LOCKS.findall(words)), words) from error
        except automation.CommandError as error:
            errors = tuple(dict.fromkeys(error for error in ear.errors if error.urn)) if ear else ()
            errors = errors or (tuple(dict.fromkeys(ear.errors)) if ear else ())
            raise Failed(errors or (Complaint("", _cause(str(error))),)) from error


@contextmanager
def _unheard() -> Iterator[None]:
    """The SDK waits for the engine to take each of its own lines, four a resource, and nobody reads them: the
    engine is started without `--debug` here."""
    heard, log.debug = log.debug, lambda *_, **__: None
    try:
        yield
    finally:
        log.debug = heard


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_text(text)
    fresh.replace(file)


def _cause(words: str) -> str:
    """What stands on the engine's standard error; the SDK adds exit code and everything else."""
    said = words.partition("stderr:")[2] or words
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return "\n".join(line.removeprefix("error: ") for line in lines)[-1500:] or "it said nothing"


def _plain(text: str) -> str:
    """Without the engine's marks for colour."""
    return re.sub(r"<\{%[^%]*%\}>", "", text).strip()

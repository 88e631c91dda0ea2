"""What a module documents is what it takes: Ansible wants both, and reads them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

KEYS = ("type", "elements", "required", "default")
# Which of the two a key's absence means.
USUAL = {"required": False, "type": "str"}


def documented(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shape(row, row.get("suboptions", {}), documented) for name, row in options.items()}


def taken(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shape(row, row.get("options", {}), taken) for name, row in arguments.items()}


def shape(row: Mapping[str, Any], inner: Any, of: Callable[[Any], Any]) -> dict[str, Any]:
    return {**{key: row.get(key, USUAL.get(key)) for key in KEYS}, "options": of(inner)}


MODULES = sorted(file.stem for file in (Path(__file__).parents[2] / "plugins/modules").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_documentation_and_arguments_agree(
    name: str, plugin: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = plugin(f"modules.{name}")
    seen: dict[str, Any] = {}

    class Stop(Exception):
        pass

    def stop(argument_spec: dict[str, Any], **_: object) -> None:
        seen.update(argument_spec)
        raise Stop

    monkeypatch.setattr(module, "AnsibleModule", stop)
    with pytest.raises(Stop):
        module.main()
    assert taken(seen) == documented(yaml.safe_load(module.DOCUMENTATION)["options"])

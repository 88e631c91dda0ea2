"""Descriptions to start from: commented, valid as they are."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files

from clusterwright.finding import Where, refuse

_FOLDER = files("clusterwright.spec") / "templates"


def templates() -> dict[str, str]:
    """Names of the templates and what each is for, the one for a newcomer first."""
    names = sorted(
        file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml")
    )
    names.sort(key=lambda name: name != "lab")
    return {name: _text(name).partition("\n")[0].lstrip("# ") for name in names}


def template(name: str) -> str:
    """A template's text. Raises Refused for an unknown name."""
    known = templates()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        remedy = f"Did you mean '{close[0]}'?" if close else f"One of: {', '.join(known)}"
        raise refuse("CW1132", Where(path="template"), f"there is no template '{name}'", remedy)
    return _text(name)


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")

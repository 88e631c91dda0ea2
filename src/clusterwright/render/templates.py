"""The one Jinja environment: strict, and loaded from a checkout or from the installed package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "_data" / "templates", _PACKAGE.parents[1] / "templates")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # not needed to read what was rendered

    return Environment(
        loader=FileSystemLoader([place for place in _PLACES if place.is_dir()]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # configuration files, not HTML
    )


def fill(template: str, **values: object) -> str:
    """The text of `templates/<template>` with these values."""
    return _environment().get_template(template).render(**values)

"""What is rendered, kept beside the tests so that a change to it is read before it is made.

`pytest tests/render --update-goldens` writes them anew. For Slurm 23.11 and 25.11 they are all there is: no
Debian release at hand carries those, so no real daemon reads them here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clusterwright.render import NodeFile, render

from . import examples

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = [
    *(("lab", release) for release in ("22.05", "23.11", "24.11", "25.11", "26.05")),
    ("homelab", "22.05"),
    ("teams", "23.11"),
    ("onprem-hgx-h100", "24.11"),
    ("onprem-hgx-h100", "25.11"),
    ("gb200-nvl72", "24.11"),
    ("gb200-nvl72", "26.05"),
    ("onprem-mi300x", "24.11"),
    ("onprem-mi300x-roce", "24.11"),
    ("onprem-netboot", "24.11"),
    ("hybrid", "24.11"),
]
INDEX = "files.txt"


def _index(files: tuple[NodeFile, ...]) -> str:
    rows = (
        f"{file.path} {file.mode:04o} {file.owner}:{file.group} {','.join(file.roles)} "
        f"{' '.join(file.affects) or '-'}\n"
        for file in files
    )
    return "# path mode owner:group roles what-a-change-needs\n" + "".join(rows)


@pytest.mark.parametrize(("example", "release"), CASES)
def test_rendered_as_reviewed(example: str, release: str, request: pytest.FixtureRequest) -> None:
    files = render(examples.handoff(example, release))
    wanted = {INDEX: _index(files), **{file.path.lstrip("/"): file.content for file in files}}
    folder = GOLDEN / example / release
    if request.config.getoption("--update-goldens"):
        shutil.rmtree(folder, ignore_errors=True)
        for path, content in wanted.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
    reviewed = {
        str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()
    }
    assert reviewed == wanted

"""What cannot be read is refused in words, and nothing is called missing because of it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from clusterwright.finding import Refused
from clusterwright.operate.source import Source
from clusterwright.operate.wired import Seen, cables, verify

from .netfile import Fabric

FABRICS = Path(__file__).parent / "fabrics"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    file = tmp_path / "one.yaml"
    file.write_text((FABRICS / "one.yaml").read_text())
    return Source(file)


@pytest.fixture
def discovered(source: Source) -> str:
    """What ibsim reads is what ibnetdiscover prints, but for the word of a card."""
    return Fabric(cables(source)[0]).text().replace("Hca\t", "Ca\t")


def refused(source: Source, seen: Seen) -> tuple[str, str]:
    with pytest.raises(Refused) as told:
        verify(source, seen)
    (finding,) = told.value.findings
    return finding.code, finding.what


def test_standard_input_is_read(source: Source, discovered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(discovered))
    assert verify(source, Seen("-")).ok


def test_a_text_that_is_cut_off_is_refused(source: Source, discovered: str, tmp_path: Path) -> None:
    file = tmp_path / "half.txt"
    file.write_text(discovered[: len(discovered) // 2])
    code, what = refused(source, Seen(str(file)))
    assert code == "CW8111" and "is the text cut off?" in what


@pytest.mark.parametrize("text", ["", "\x00\xff", "ibwarn: no port\n", "{}"])
def test_something_else_is_refused(source: Source, text: str, tmp_path: Path) -> None:
    file = tmp_path / "other.txt"
    file.write_text(text)
    assert refused(source, Seen(str(file)))[0] == "CW8111"


def test_a_file_that_is_not_there_is_named(source: Source, tmp_path: Path) -> None:
    assert refused(source, Seen(str(tmp_path / "nowhere")))[0] == "CW8113"


def test_a_machine_without_the_tools_says_which_package_has_them(
    source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="infiniband-diags"):
        verify(source, Seen())


def test_a_tool_that_fails_says_why(source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "ibnetdiscover"
    tool.write_text("#!/bin/sh\necho 'ibpanic: can not open device' >&2; exit 255\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    code, what = refused(source, Seen())
    assert code == "CW8112" and "can not open device" in what

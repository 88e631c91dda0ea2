"""What the YAML parser says of text that it cannot parse, in words and at the place to mend."""

from __future__ import annotations

import yaml

from clusterwright.finding import Finding, Where

_PROBLEMS = {
    "mapping values are not allowed": (
        "': ' stands where no key can stand",
        "Check the indentation; put a text that contains ': ' in quotes",
    ),
    "could not find expected ':'": (
        "a key without ':'",
        "Write `key: value`, with a space after the colon",
    ),
    "did not find expected key": (
        "a line that fits neither the block above nor a new key",
        "Check the indentation and the quotes just above",
    ),
    "did not find expected ',' or '}'": (
        "a '{' that is not closed, or a ',' missing after it",
        "Close it with '}' or add the ','",
    ),
    "did not find expected ',' or ']'": (
        "a '[' that is not closed, or a ',' missing after it",
        "Close it with ']' or add the ','",
    ),
    "did not find expected '-' indicator": (
        "a line inside a list that does not begin with '-'",
        "Begin each item with '- ' in the same column",
    ),
    "found unexpected end of stream": ("a quote that is never closed", "Add the closing quote"),
    "found unknown escape character": (
        "an unknown backslash escape",
        "Use single quotes, in which a backslash is only a backslash",
    ),
    "found character that cannot start any token": (
        "a character that no plain text may begin with",
        "Put the text in quotes",
    ),
}
_BEGUN_EARLIER = (
    "could not find expected ':'",
    "did not find expected ','",
    "found unexpected end of stream",
)
"""Problems that a person mends where the unfinished thing begins, not where the parser gave up."""


def syntax_finding(error: yaml.YAMLError, text: str, file: str) -> Finding:
    """The parser stops at the first mistake, so there is one finding."""
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or "unreadable")
    if problem.startswith(_BEGUN_EARLIER):
        mark = getattr(error, "context_mark", None) or mark
    if mark is None:
        return Finding("CW1004", Where(file, 1, 1), f"not YAML: {problem}", "Look for what no editor shows")
    lines = text.splitlines() or [""]
    at_end = mark.line >= len(lines)
    row, column = (len(lines) - 1, len(lines[-1])) if at_end else (mark.line, mark.column)
    where = Where(file, row + 1, column + 1)
    if lines[row][column : column + 1] == "\t":
        return Finding("CW1005", where, "a tab as indentation", "Indent with spaces")
    for known, (what, remedy) in _PROBLEMS.items():
        if problem.startswith(known):
            return Finding("CW1004", where, what, remedy)
    return Finding("CW1004", where, f"not YAML: {problem}", "Check the line and the one above it")

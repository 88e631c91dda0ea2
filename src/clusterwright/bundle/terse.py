"""A program without what only readers need, line by line: the same bytes whichever Python makes it."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

Cut = tuple[int, int, int]
"""A line, and the columns between which nothing is kept."""


def terse(program: str) -> str:
    """Without docstrings but the first, annotations, comments and empty lines; what it does is the same."""
    tree, lines = ast.parse(program), [line.encode() for line in program.splitlines(keepends=True)]
    dropped = {*_docstrings(tree), *_empty(program)}
    for line, start, end in sorted(_annotations(tree, lines), reverse=True):
        lines[line - 1] = lines[line - 1][:start] + lines[line - 1][end:]
    return b"".join(line for number, line in enumerate(lines, 1) if number not in dropped).decode()


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for block in ast.walk(tree):
        if not isinstance(block, ast.Module | ast.ClassDef | ast.FunctionDef) or len(block.body) == 1:
            continue
        for place, row in enumerate(block.body):
            told = isinstance(row, ast.Expr) and isinstance(row.value, ast.Constant)
            if told and (place or not isinstance(block, ast.Module)):
                yield from range(row.lineno, (row.end_lineno or row.lineno) + 1)


def _empty(program: str) -> Iterator[int]:
    """Lines with a comment only are so, too, but for the first, which names the interpreter."""
    found: dict[int, bool] = {}
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        empty = token.type in (tokenize.NL, tokenize.COMMENT)
        for line in range(token.start[0], token.end[0] + 1):
            found[line] = found.get(line, True) and empty
    return (line for line, empty in found.items() if empty and line > 1)


def _annotations(tree: ast.Module, lines: list[bytes]) -> Iterator[Cut]:
    """Those of a field without a value say that it is there, and stay."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation:
            start = node.col_offset + len(node.arg.encode())
            yield from _cut(node.lineno, start, node.annotation)
        elif isinstance(node, ast.AnnAssign) and node.value:
            yield from _cut(node.target.end_lineno or 0, node.target.end_col_offset or 0, node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns:
            line = node.returns.lineno
            arrow = lines[line - 1].rindex(b" ->", 0, node.returns.col_offset)
            yield from _cut(line, arrow, node.returns)


def _cut(line: int, start: int, annotation: ast.expr) -> Iterator[Cut]:
    """One that goes over several lines is left as it is."""
    if annotation.lineno == annotation.end_lineno == line:
        yield line, start, annotation.end_col_offset or start

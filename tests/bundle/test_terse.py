"""The program in user data is the one in the repository, without what only readers need."""

from __future__ import annotations

import ast

from clusterwright.bundle.collection import root
from clusterwright.bundle.terse import terse

AGENT = (root() / "roles" / "pull" / "files" / "pull").read_text()
PROGRAM = '''#!/bin/sh
"""What it is for.

A blank line above is the user's to read.
"""

LIMIT = 3  # stays
"""What only readers need."""


# The reason.
def told(words: list[str], *, twice: bool = False) -> "dict | None":
    """Goes."""
    kept: dict[str, int] = {}
    text = """
# no comment

"""
    return {**kept, text: len(words)} if twice else None
'''
TERSE = '''#!/bin/sh
"""What it is for.

A blank line above is the user's to read.
"""
LIMIT = 3  # stays
def told(words, *, twice = False):
    kept = {}
    text = """
# no comment

"""
    return {**kept, text: len(words)} if twice else None
'''


class Plain(ast.NodeTransformer):
    """A syntax tree without annotations, and with no other text alone on a line than the first."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return ast.Assign([node.target], node.value, lineno=0) if node.value else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node


def meaning(program: str) -> str:
    return ast.dump(Plain().visit(ast.parse(program)))


def test_what_only_readers_need_goes_and_nothing_else() -> None:
    assert terse(PROGRAM) == TERSE


def test_the_agent_does_the_same_and_is_a_tenth_smaller() -> None:
    short = terse(AGENT)
    assert meaning(short) == meaning(AGENT)
    assert len(short) < len(AGENT) * 9 / 10
    assert terse(short) == short

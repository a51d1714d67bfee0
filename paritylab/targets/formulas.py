"""A parser of formulas such as 'OR(AND(x0,x1),NAND(x2,x3))'."""

import re
from typing import NamedTuple

from ..demands import echo
from .base import MOST_COORDINATES

TOKEN = re.compile(r"\s*(?:(?P<word>\w+)|(?P<mark>[(),])|(?P<wrong>\S))")
DEEPEST = MOST_COORDINATES.bit_length() - 1
"""A full tree that is deeper has more inputs than a target may have."""


class Token(NamedTuple):
    """A gate, an input or a punctuation mark of a formula."""

    text: str
    position: int


class Tree(NamedTuple):
    """The gates of a subtree, level by level from its top, and its number of inputs."""

    levels: tuple[tuple[str, ...], ...]
    inputs: int


def read_formula(formula: str, gates: tuple[str, ...]) -> tuple[str, ...]:
    """The gates of a formula, level by level from the top; errors name the position.

    >>> read_formula("OR(AND(x0, x1), NAND(x2, x3))", ("AND", "OR", "NAND"))
    ('OR', 'AND', 'NAND')
    """
    reader = Reader(formula, gates)
    tree = reader.tree(0, 0)
    reader.end()
    if not tree.levels:
        raise reader.error("A tree circuit has at least one gate, got a lone input", Token(formula, 0))
    return tuple(name for level in tree.levels for name in level)


class Reader:
    """A recursive-descent parser of one formula."""

    def __init__(self, formula: str, gates: tuple[str, ...]):
        self.formula = formula
        self.gates = gates
        self.tokens = [Token(found[found.lastgroup or 0], found.start(found.lastgroup or 0)) for found in self.found()]
        self.place = 0

    def found(self) -> list[re.Match[str]]:
        """The matches of all tokens."""
        return list(TOKEN.finditer(self.formula))

    def error(self, what: str, token: Token) -> ValueError:
        """An error with the position of a token."""
        return ValueError(f"{what} at position {token.position} of {echo(self.formula)}.")

    def next(self) -> Token:
        """The next token; an empty one at the end."""
        self.place += 1
        return self.tokens[self.place - 1] if self.place <= len(self.tokens) else Token("", len(self.formula))

    def expect(self, mark: str, after: str) -> None:
        """Consume a punctuation mark."""
        token = self.next()
        if token.text != mark:
            seen = echo(token.text) if token.text else "the end"
            raise self.error(f"Expected {mark!r} {after}, got {seen}", token)

    def tree(self, first: int, above: int) -> Tree:
        """Parse a subtree below `above` gates, whose first input is x<first>."""
        token = self.next()
        if re.fullmatch(r"x\d+", token.text):
            if token.text != f"x{first}":
                raise self.error(
                    f"Expected x{first}, as inputs come in order from left to right, got {token.text:.20}", token
                )
            return Tree((), 1)
        if token.text not in self.gates:
            if token.text and token.text[0].isalpha():
                raise self.error(f"Unknown gate {echo(token.text)} (the gates are {', '.join(self.gates)})", token)
            seen = echo(token.text) if token.text else "the end"
            raise self.error(f"Expected a gate or an input, got {seen}", token)
        if above == DEEPEST:
            raise self.error(f"A tree circuit is at most {DEEPEST} gates deep, got one more", token)
        self.expect("(", f"after {token.text}")
        left = self.tree(first, above + 1)
        self.expect(",", f"between the two inputs of {token.text}")
        right = self.tree(first + left.inputs, above + 1)
        self.expect(")", f"to close the bracket of {token.text}")
        if len(left.levels) != len(right.levels):
            raise self.error(
                f"The inputs of {token.text} must be trees of one depth (use FIRST and SECOND to fill up), "
                f"got depths {len(left.levels)} and {len(right.levels)}",
                token,
            )
        below = tuple(a + b for a, b in zip(left.levels, right.levels, strict=True))
        return Tree(((token.text,), *below), left.inputs + right.inputs)

    def end(self) -> None:
        """Raise unless all tokens are consumed."""
        token = self.next()
        if token.text:
            raise self.error(f"Expected the end, got {echo(token.text)}", token)

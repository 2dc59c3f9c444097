"""Expressions of GitHub Actions, as far as the jobs and the action of this repository use them:
names, texts, `!`, `==`, `!=`, `&&`, `||`, parentheses and the functions of a step's state.
"""

import re
from collections.abc import Mapping
from typing import Any

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(\|\||&&|==|!=|[!()])|([A-Za-z_][\w.-]*))")

_STATES = frozenset({"success", "failure", "cancelled", "always"})


def substitute(text: str, context: Mapping[str, Any]) -> str:
    """The text with the value of each `${{ expression }}`, as GitHub writes it."""
    return re.sub(
        r"\$\{\{(.*?)\}\}",
        lambda found: _as_text(evaluate(found[1], context)),
        text,
        flags=re.DOTALL,
    )


def is_met(condition: str, context: Mapping[str, Any]) -> bool:
    """Whether an `if:` is met. Without a function of the state it also asks for `success()`."""
    inner = re.fullmatch(r"\s*\$\{\{(.*)\}\}\s*", condition, re.DOTALL)
    expression = inner[1] if inner else condition
    if not re.search(rf"\b(?:{'|'.join(sorted(_STATES))})\(\)", expression):
        expression = f"success() && ({expression})"
    return bool(evaluate(expression, context))


def evaluate(expression: str, context: Mapping[str, Any]) -> Any:
    """The value of an expression; ValueError for one that is not understood."""
    tokens, place = [], 0
    expression = expression.strip()
    while place < len(expression):
        found = _TOKEN.match(expression, place)
        if found is None:
            raise ValueError(f"cannot read {expression[place:]!r}")
        tokens.append(found[0].strip())
        place = found.end()
    parser = _Parser(tokens, context)
    value = parser.either()
    if parser.tokens:
        raise ValueError(f"cannot read {' '.join(parser.tokens)!r}")
    return value


class _Parser:
    """One expression. Each method takes the tokens of its part, and returns their value."""

    def __init__(self, tokens: list[str], context: Mapping[str, Any]) -> None:
        self.tokens = tokens
        self.context = context

    def either(self) -> Any:
        value = self.both()
        while self._take("||"):
            other = self.both()
            value = value or other
        return value

    def both(self) -> Any:
        value = self.comparison()
        while self._take("&&"):
            other = self.comparison()
            value = value and other
        return value

    def comparison(self) -> Any:
        value = self.operand()
        for sign in ("==", "!="):
            if self._take(sign):
                other = self.operand()
                return (_as_text(value).lower() == _as_text(other).lower()) == (sign == "==")
        return value

    def operand(self) -> Any:
        if self._take("!"):
            return not self.operand()
        if self._take("("):
            value = self.either()
            self._need(")")
            return value
        token = self.tokens.pop(0) if self.tokens else ""
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self._take("("):
            self._need(")")
            if token not in _STATES:
                raise ValueError(f"the function {token} is not known")
            return self.context["state"][token]
        return self._look_up(token)

    def _look_up(self, name: str) -> Any:
        """The value at a dotted name; the first part must exist, and a missing rest is empty."""
        first, *rest = name.split(".")
        value = self.context[first]
        for part in rest:
            value = value.get(part, "") if isinstance(value, Mapping) else ""
        return value

    def _take(self, token: str) -> bool:
        if self.tokens[:1] == [token]:
            del self.tokens[0]
            return True
        return False

    def _need(self, token: str) -> None:
        if not self._take(token):
            raise ValueError(f"{token} is missing")


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)

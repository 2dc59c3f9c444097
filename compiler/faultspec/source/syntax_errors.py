"""Explains YAML syntax errors: the parser's complaint → the probable mistake and its remedy.

A YAML parser reports a mistake where the text stops making sense, which is often after the mistake,
and in terms of its grammar. Each function here explains one family of complaints from the text
around it. Complaints are recognised by the words of both libyaml and PyYAML.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from yaml.error import MarkedYAMLError

from faultspec.diagnostics.model import Diagnostic, Related
from faultspec.source.document import Lines


class _Explanation(NamedTuple):
    """The mistake: text[start:end] is underlined, and `opened` indexes its bracket or quote."""

    start: int
    end: int
    message: str
    hint: str
    opened: int | None = None


class _Complaint(NamedTuple):
    """A parser's complaint: the text is valid up to `at`, in a construct that begins at `since`."""

    problem: str
    at: int
    since: int
    lines: Lines

    @property
    def text(self) -> str:
        return self.lines.text

    @property
    def character(self) -> str:
        """The character at `at`; empty at the end of the text."""
        return self.text[self.at : self.at + 1]

    @property
    def opening(self) -> str:
        """The first character of the construct."""
        return self.text[self.since : self.since + 1]

    @property
    def line_start(self) -> int:
        return self.lines.starts[self.lines.place(self.at)[0] - 1]

    @property
    def line_end(self) -> int:
        return self.line_start + len(self.lines.line(self.lines.place(self.at)[0]))

    @property
    def text_before(self) -> str:
        """The line up to `at`."""
        return self.text[self.line_start : self.at]

    @property
    def rest(self) -> str:
        """The line from `at`."""
        return self.text[self.at : self.line_end]

    @property
    def is_at_end(self) -> bool:
        """Whether only blank space follows."""
        return not self.text[self.at :].strip()

    @property
    def construct_start(self) -> "_Complaint":
        """The same complaint, at the beginning of the construct."""
        return self._replace(at=self.since)

    def underline_character(
        self, message: str, hint: str, opened: int | None = None
    ) -> _Explanation:
        """Underline one character."""
        return _Explanation(self.at, self.at + 1, message, hint, opened=opened)

    def underline_line(self, message: str, hint: str) -> _Explanation:
        """Underline the rest of the line."""
        return _Explanation(self.at, self.line_end, message, hint)


def explain_syntax_error(error: MarkedYAMLError, lines: Lines, path: str) -> Diagnostic:
    """The mistake that stopped the parser, as `yaml-syntax`."""
    mark: Any = error.problem_mark or error.context_mark
    context: Any = error.context_mark or mark
    problem = error.problem or ""
    complaint = _Complaint(
        problem, mark.index if mark else 0, context.index if context else 0, lines
    )
    words = f"{error.context or ''}: {problem}"
    explain = next(
        (known for key, known in _EXPLAIN.items() if re.search(key, words)), _unknown_mistake
    )
    found = explain(complaint)
    related: tuple[Related, ...] = ()
    if found.opened is not None:
        span = lines.span_between(found.opened, found.opened + 1)
        related = (Related(f"`{lines.text_in(span)}` opened here", path, span),)
    return Diagnostic(
        "yaml-syntax",
        found.message,
        path,
        lines.span_between(found.start, found.end),
        hint=found.hint,
        related=related,
    )


#: Longer suggestions are left out of hints.
_SUGGESTION = 60

_COMMENT = re.compile(r"\s#.*")


def _without_comment(line: str) -> str:
    return _COMMENT.sub("", line).rstrip()


def _put_in_quotes(value: str) -> str:
    """The hint to write `value` as text."""
    value = _without_comment(value)
    if not value or len(value) > _SUGGESTION:
        return "put the whole value in quotes"
    doubled = value.replace("'", "''")
    return f"put the whole value in quotes: '{doubled}'"


def _unknown_mistake(c: _Complaint) -> _Explanation:
    hint = "look for an indentation, a quote or a bracket that does not match, here or just above"
    return c.underline_character(f"this is not valid YAML: {c.problem}", hint)


def _tab(c: _Complaint) -> _Explanation:
    end = c.at + len(c.rest) - len(c.rest.lstrip("\t"))
    hint = "indent with spaces, two for each level"
    return _Explanation(c.at, end, "a tab cannot indent YAML", hint)


def _forbidden_start(c: _Complaint) -> _Explanation:
    if c.character == "\t":
        return _tab(c)
    name = "a backtick" if c.character == "`" else f"`{c.character}`"
    return c.underline_line(f"a value cannot begin with {name}", _put_in_quotes(c.rest))


def _sigil(c: _Complaint) -> _Explanation:
    """`*` and `&` begin an alias and an anchor, `!` a tag."""
    return _forbidden_start(c.construct_start)


def _directive(c: _Complaint) -> _Explanation:
    return c.construct_start.underline_line("a line cannot begin with `%`", "put the key in quotes")


def _unclosed_quote(c: _Complaint) -> _Explanation:
    inside = "''" if c.opening == "'" else '\\"'
    hint = f"close it before the end of the value; a quote inside the text is written {inside}"
    return c.construct_start.underline_character("this quote is never closed", hint)


def _escape(c: _Complaint) -> _Explanation:
    start = max(c.text.rfind("\\", c.since, c.at + 1), c.since)
    matched = re.compile(r"\\(?:x[^\s\"]{0,2}|u[^\s\"]{0,4}|U[^\s\"]{0,8}|.)?").match(c.text, start)
    end = matched.end() if matched else start + 1
    unknown = "unknown" in c.problem
    message = "double quotes have no such escape" if unknown else "this escape is not a character"
    hint = r"write \\ for a backslash, or use single quotes, where it is an ordinary character"
    return _Explanation(start, end, message, hint)


#: The longest key: YAML looks no further for its colon.
_KEY_LIMIT = 1024

_MISSING_SPACE = re.compile(r"\s*(?:- +)*([\w.$-]+)(:)([^\s:/].*)")

_KEY_AND_VALUE = re.compile(
    r"""(\s*(?:[-?]\s+)*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s:#][^:#]*?)\s*:\s+)(\S.*)"""
)


def _key_and_value(line: str) -> re.Match[str] | None:
    # Cut, because the pattern takes quadratic time on a run of spaces.
    return _KEY_AND_VALUE.match(line[: 2 * _KEY_LIMIT])


def _missing_space(matched: re.Match[str], line_start: int) -> _Explanation:
    start, end = matched.span(2)
    rest = _without_comment(matched[3])
    hint = f"write `{matched[1]}: {rest}`" if len(rest) <= _SUGGESTION else "put a space after it"
    message = "a space is missing after the colon"
    return _Explanation(line_start + start, line_start + end, message, hint)


def _second_colon(c: _Complaint) -> _Explanation:
    """A `: ` where a key is impossible: in a value, or below a complete line."""
    key_limit = f"a key has at most {_KEY_LIMIT} characters"
    if len(c.text_before) > _KEY_LIMIT:
        hint = "shorten it, or close a quote or bracket before"
        return _Explanation(c.line_start, c.at, key_limit, hint)
    line = c.text_before + c.rest
    matched = _key_and_value(line)
    if matched and matched.end(1) <= c.at - c.line_start:
        message = "a second `: ` on this line would be a key within a value"
        return c.underline_character(message, _put_in_quotes(matched[2]))
    above = c.lines.place(c.at)[0] - 1
    while above > 1 and not _without_comment(" " + c.lines.line(above)):
        above -= 1
    previous = c.lines.line(above) if above else ""
    start = c.lines.starts[above - 1] if above else 0
    if missing := _MISSING_SPACE.match(previous):
        return _missing_space(missing, start)
    message = "this cannot be a key: it continues the text of the line above"
    hint = "end the line above with `:`, or give this line its indentation"
    if _key_and_value(previous):
        message = "this line is indented below a line that has its value already"
        hint = "give both lines the same indentation, or remove the value above"
    indent = c.line_start + len(line) - len(line.lstrip())
    return _Explanation(indent, c.at, message, hint)


def _no_colon(c: _Complaint) -> _Explanation:
    begin = c.construct_start
    if len(begin.rest) > _KEY_LIMIT:
        return begin.underline_character(f"a key has at most {_KEY_LIMIT} characters", "shorten it")
    if missing := _MISSING_SPACE.match(begin.rest):
        return _missing_space(missing, c.since)
    message = "this line has no `: `, so it is neither a key nor a value"
    hint = "write `key: value`; to continue the text of the line above, indent this line"
    return _Explanation(c.since, c.since + len(_without_comment(begin.rest)), message, hint)


def _no_key(c: _Complaint) -> _Explanation:
    """A part of a block mapping or list that does not continue it."""
    before = c.text_before.rstrip()
    if not before.strip():
        if c.character == "-":
            hint = "indent the items of a list below their key"
            return c.underline_character("a list item cannot stand among keys", hint)
        return _indentation(c)
    if before[-1] in "}]":
        value = _key_and_value(c.text_before + c.rest)
        hint = _put_in_quotes(value[2] if value else "")
        return c.underline_line(f"text follows the closing `{before[-1]}`", hint)
    if before[-1] in "\"'":
        if before.count(before[-1]) % 2:
            message = "this quote closes one that was opened on a line above, and text follows it"
            quote = c.line_start + len(before) - 1
            return _Explanation(quote, c.line_end, message, "close the quote above")
        inside = "''" if before[-1] == "'" else '\\"'
        hint = f"a quote inside the text is written {inside}; or remove the outer quotes"
        return c.underline_line("text follows the closing quote", hint)
    return _unknown_mistake(c)


def _indentation(c: _Complaint) -> _Explanation:
    width = len(c.text_before)
    levels = [level for level in _levels_above(c) if level != width]
    _, column_of_list = c.lines.place(c.since)
    if not levels or (c.opening == "-" and column_of_list == width + 1):
        hint = "indent it below the item above"
        return c.underline_line("a key cannot stand among the items of a list", hint)
    spaces = "1 space" if width == 1 else f"{width} spaces"
    message = f"this line is indented by {spaces}, unlike every line that it could continue"
    hint = f"indent it by {' or '.join(map(str, levels[-2:]))} spaces, as the lines above"
    return _Explanation(c.line_start, c.line_end, message, hint)


_INDENTS = re.compile(r" *(?:- +)*")


def _levels_above(c: _Complaint) -> list[int]:
    """The possible indentations of a key on this line: those of the open lines above."""
    levels: list[int] = []
    for number in range(c.lines.place(c.at)[0] - 1, 0, -1):
        line = c.lines.line(number)
        if not _without_comment(" " + line).strip():
            continue
        indents = _INDENTS.match(line)
        end = indents.end() if indents else 0
        own = [end, *(position for position, char in enumerate(line[:end]) if char == "-")]
        levels += [level for level in sorted(own, reverse=True) if not levels or level < levels[-1]]
        if levels and levels[-1] == 0:
            break
    return levels[::-1]


_CLOSING: Mapping[str, str] = {"[": "]", "{": "}"}


def _unclosed_bracket(c: _Complaint) -> _Explanation:
    closing = _CLOSING.get(c.opening, "")
    if c.is_at_end:
        hint = f"add `{closing}`, or put the value in quotes if it is text"
        return c.construct_start.underline_character(f"this `{c.opening}` is never closed", hint)
    if c.character in ("]", "}"):
        message = f"`{c.character}` cannot close `{c.opening}`"
        return c.underline_character(message, f"write `{closing}` here", c.since)
    hint = f"separate items by commas, or close with `{closing}` before"
    return c.underline_character(f"`,` or `{closing}` is missing before this", hint, c.since)


def _no_value(c: _Complaint) -> _Explanation:
    if c.is_at_end:
        opened = max(c.text.rfind("[", 0, c.at), c.text.rfind("{", 0, c.at))
        return _unknown_mistake(c) if opened < 0 else _unclosed_bracket(c._replace(since=opened))
    match c.character:
        case "]" | "}" as bracket:
            hint = "delete it, or put the value in quotes if it is text"
            return c.underline_character(f"this `{bracket}` closes nothing", hint)
        case ",":
            hint = "delete the comma, or put the value in quotes if it is text"
            return c.underline_character("a value is missing before this comma", hint)
        case "-":
            hint = "write `[a, b]`, or drop the brackets"
            return c.underline_character("items between brackets are separated by commas", hint)
    return _unknown_mistake(c)


def _text_after_block_sign(c: _Complaint) -> _Explanation:
    if "indentation indicator" in c.problem and "chomping" not in c.problem:
        return c.underline_character(f"the number after `{c.opening}` is from 1 to 9", "remove it")
    hint = (
        "begin the text on the next line, indented; "
        f"or put the value in quotes if `{c.opening}` belongs to it"
    )
    return c.underline_line(f"text cannot follow `{c.opening}` on the same line", hint)


def _list_in_line(c: _Complaint) -> _Explanation:
    hint = "begin it on the next line; or put the value in quotes if it is text"
    return c.underline_character("a list cannot begin on the line of its key", hint)


def _question(c: _Complaint) -> _Explanation:
    return c.underline_character("a value cannot begin with `? `", _put_in_quotes(c.rest))


def _text_after_document(c: _Complaint) -> _Explanation:
    if re.search(r"(?<![^\r\n])\.\.\.", c.text[: c.at]):
        return c.underline_line(
            "text follows the end of the document", "delete the line `...` above"
        )
    message = "this line is indented less than the first one"
    return c.underline_line(message, "give all keys of the outermost level the same indentation")


#: Words of a complaint (context and problem) in either parser → its explanation; the first match.
_EXPLAIN: Mapping[str, Callable[[_Complaint], _Explanation]] = {
    r"tab character": _tab,
    r"cannot start any token": _forbidden_start,
    r"scanning an (alias|anchor)": _sigil,
    r"directive": _directive,
    r"(parsing|scanning) a tag|tag handle": _sigil,
    r"unexpected end of stream|unexpected document (indicator|separator)": _unclosed_quote,
    r"escape|hexdecimal|hexadecimal": _escape,
    r"mapping values are not allowed": _second_colon,
    r"could not find expected ':'": _no_colon,
    r"parsing a block (mapping|collection)": _no_key,
    r"parsing a flow (mapping|sequence)": _unclosed_bracket,
    r"node content": _no_value,
    r"block scalar": _text_after_block_sign,
    r"sequence entries are not allowed": _list_in_line,
    r"mapping keys are not allowed": _question,
    r"<document start>": _text_after_document,
}

"""What is no YAML at all: the parser's complaint → what the author probably did, and what to do about it.

A YAML parser notices a mistake where the text stops making sense, which is often not where it was made, and says so in
terms of its grammar. Each function here knows one family of complaints, looks at the text around it, and answers
with the mistake that people make there. Complaints are recognised by the words of libyaml and of PyYAML alike.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from yaml.error import MarkedYAMLError

from faultspec.diagnostics.model import Diagnostic, Related
from faultspec.source.document import Lines


class _Complaint(NamedTuple):
    """What a parser said: `at` and `since` index the text, where it stopped and where the construct began."""

    problem: str
    at: int
    since: int
    lines: Lines

    @property
    def text(self) -> str:
        return self.lines.text

    @property
    def character(self) -> str:
        """The one that it stopped at; empty at the end of the text."""
        return self.text[self.at : self.at + 1]

    @property
    def line_start(self) -> int:
        return self.lines.starts[self.lines.place(self.at)[0] - 1]

    @property
    def line_end(self) -> int:
        return self.line_start + len(self.lines.line(self.lines.place(self.at)[0]))

    @property
    def before(self) -> str:
        """The line up to where it stopped."""
        return self.text[self.line_start : self.at]


class _Explanation(NamedTuple):
    """The mistake: text[start:end] is underlined, and `opened` indexes the bracket or quote it has to do with."""

    start: int
    end: int
    message: str
    hint: str
    opened: int | None = None


def syntax(error: MarkedYAMLError, lines: Lines, path: str) -> Diagnostic:
    """The one mistake that the parser stopped at, as `yaml-syntax`."""
    mark: Any = error.problem_mark or error.context_mark
    context: Any = error.context_mark or mark
    problem = error.problem or ""
    said = f"{error.context or ''}: {problem}"
    complaint = _Complaint(
        problem, mark.index if mark else 0, context.index if context else 0, lines
    )
    explain = next(
        (function for words, function in _EXPLAIN.items() if re.search(words, said)), _anything
    )
    found = explain(complaint)
    related: tuple[Related, ...] = ()
    if found.opened is not None:
        sign = lines.text[found.opened : found.opened + 1]
        related = (
            Related(f"`{sign}` opened here", path, lines.between(found.opened, found.opened + 1)),
        )
    return Diagnostic(
        "yaml-syntax",
        found.message,
        path,
        lines.between(found.start, found.end),
        hint=found.hint,
        related=related,
    )


#: Longer suggestions than this say no more than “put it in quotes”.
_SUGGESTION = 60

_COMMENT = re.compile(r"\s#.*")


def _without_comment(line: str) -> str:
    return _COMMENT.sub("", line).rstrip()


def _put_in_quotes(value: str) -> str:
    """How to write `value` as text."""
    value = _without_comment(value)
    if not value or len(value) > _SUGGESTION:
        return "put the whole value in quotes"
    return f"put the whole value in quotes: {_single_quoted(value)}"


def _single_quoted(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


def _anything(c: _Complaint) -> _Explanation:
    hint = "look for an indentation, a quote or a bracket that does not match, here or just above"
    return _Explanation(c.at, c.at + 1, f"this is not valid YAML: {c.problem}", hint)


def _tab(c: _Complaint) -> _Explanation:
    end = c.at
    while c.text[end : end + 1] == "\t":
        end += 1
    return _Explanation(
        c.at, end, "a tab cannot indent YAML", "indent with spaces, two for each level"
    )


_NAMES: Mapping[str, str] = {"`": "a backtick"}


def _forbidden_start(c: _Complaint) -> _Explanation:
    if c.character == "\t":
        return _tab(c)
    name = _NAMES.get(c.character, f"`{c.character}`")
    return _Explanation(
        c.at,
        c.line_end,
        f"a value cannot begin with {name}",
        _put_in_quotes(c.text[c.at : c.line_end]),
    )


def _sigil(c: _Complaint) -> _Explanation:
    """`*` and `&` mean an alias and an anchor, `!` a tag."""
    begin = _Complaint(c.problem, c.since, c.since, c.lines)
    return _forbidden_start(begin)


def _directive(c: _Complaint) -> _Explanation:
    begin = _Complaint(c.problem, c.since, c.since, c.lines)
    return _Explanation(
        c.since, begin.line_end, "a line cannot begin with `%`", "put the key in quotes"
    )


def _unclosed_quote(c: _Complaint) -> _Explanation:
    quote = c.text[c.since : c.since + 1]
    inside = "''" if quote == "'" else '\\"'
    hint = f"close it before the end of the value; such a sign inside the text is written {inside}"
    return _Explanation(c.since, c.since + 1, "this quote is never closed", hint)


def _escape(c: _Complaint) -> _Explanation:
    start = max(c.text.rfind("\\", c.since, c.at + 1), c.since)
    matched = re.compile(r"\\(?:x[^\s\"]{0,2}|u[^\s\"]{0,4}|U[^\s\"]{0,8}|.)?").match(c.text, start)
    end = matched.end() if matched else start + 1
    message = (
        "double quotes know no such escape"
        if "unknown" in c.problem
        else "this escape names no character"
    )
    hint = r"write \\ for a backslash, or use single quotes, in which a backslash is an ordinary character"
    return _Explanation(start, end, message, hint)


#: A longer key is none: YAML looks no further for its colon.
_KEY_LIMIT = 1024

_MISSING_SPACE = re.compile(r"\s*(?:- +)*([\w.$-]+)(:)([^\s:/].*)")

_KEY_AND_VALUE = re.compile(
    r"""(\s*(?:[-?]\s+)*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s:#][^:#]*?)\s*:\s+)(\S.*)"""
)


def _key_and_value(line: str) -> re.Match[str] | None:
    # Cut, since the time that the pattern takes grows with the square of a run of spaces.
    return _KEY_AND_VALUE.match(line[: 2 * _KEY_LIMIT])


def _missing_space(matched: re.Match[str], line_start: int) -> _Explanation:
    start, end = matched.span(2)
    rest = _without_comment(matched[3])
    hint = f"write `{matched[1]}: {rest}`" if len(rest) <= _SUGGESTION else "put a space after it"
    return _Explanation(
        line_start + start, line_start + end, "a space is missing after the colon", hint
    )


def _second_colon(c: _Complaint) -> _Explanation:
    """A `: ` where no key can be: in a value, or below a line that is complete."""
    if len(c.before) > _KEY_LIMIT:
        return _too_long(c)
    line = c.text[c.line_start : c.line_end]
    matched = _key_and_value(line)
    if matched and matched.end(1) <= c.at - c.line_start:
        return _Explanation(
            c.at,
            c.at + 1,
            "a second `: ` on this line would be a key within a value",
            _put_in_quotes(matched[2]),
        )
    number = c.lines.place(c.at)[0]
    above = number - 1
    while above > 1 and not _without_comment(" " + c.lines.line(above)):
        above -= 1
    previous = c.lines.line(above) if above else ""
    start = c.lines.starts[above - 1] if above else 0
    missing = _MISSING_SPACE.match(previous)
    if missing:
        return _missing_space(missing, start)
    indent = c.line_start + len(line) - len(line.lstrip())
    if _key_and_value(previous):
        message = "this line is indented below a line that has its value already"
        return _Explanation(
            indent,
            c.at,
            message,
            "give both lines the same indentation, or take the value away above",
        )
    return _Explanation(
        indent,
        c.at,
        "this cannot be a key here: it continues the text of the line above",
        "end the line above with `:`, or give this line its indentation",
    )


def _too_long(c: _Complaint) -> _Explanation:
    return _Explanation(
        c.line_start,
        c.at,
        f"a key is at most {_KEY_LIMIT} characters long",
        "shorten it, or close a quote or bracket before",
    )


def _no_colon(c: _Complaint) -> _Explanation:
    begin = _Complaint(c.problem, c.since, c.since, c.lines)
    line = c.text[c.since : begin.line_end]
    if len(line) > _KEY_LIMIT:
        return _Explanation(
            c.since, c.since + 1, f"a key is at most {_KEY_LIMIT} characters long", "shorten it"
        )
    missing = _MISSING_SPACE.match(line)
    if missing:
        return _missing_space(missing, c.since)
    end = c.since + len(_without_comment(line))
    hint = "write `key: value`; to continue the text of the line above, indent this line"
    return _Explanation(
        c.since, end, "this line has no `: `, so it is neither a key nor a value", hint
    )


def _no_key(c: _Complaint) -> _Explanation:
    """In a block mapping or list, something that does not continue it."""
    before = c.before.rstrip()
    if not before.strip():
        if c.character == "-":
            hint = "indent the items of a list below their key"
            return _Explanation(c.at, c.at + 1, "a list item cannot stand among keys", hint)
        return _indentation(c)
    value = _key_and_value(c.text[c.line_start : c.line_end])
    whole = value[2] if value else ""
    if before[-1] in "}]":
        return _Explanation(
            c.at, c.line_end, f"text follows the closing `{before[-1]}`", _put_in_quotes(whole)
        )
    if before[-1] in "\"'":
        if before.count(before[-1]) % 2:
            message = "this quote closes one that was opened on a line above, and text follows it"
            return _Explanation(
                c.line_start + len(before) - 1, c.line_end, message, "close the quote above"
            )
        inside = "''" if before[-1] == "'" else '\\"'
        hint = f"a quote inside the text is written {inside}; or leave the outer quotes away"
        return _Explanation(c.at, c.line_end, "text follows the closing quote", hint)
    return _anything(c)


def _indentation(c: _Complaint) -> _Explanation:
    width = len(c.before)
    levels = [level for level in _levels_above(c) if level != width]
    _, column_of_list = c.lines.place(c.since)
    if not levels or (c.text[c.since : c.since + 1] == "-" and column_of_list == width + 1):
        hint = "indent it, so that it belongs to the item above"
        return _Explanation(c.at, c.line_end, "a key cannot stand among the items of a list", hint)
    spaces = "1 space" if width == 1 else f"{width} spaces"
    message = f"this line is indented by {spaces}, like none above that it could belong to"
    hint = f"indent it by {' or '.join(map(str, levels[-2:]))} spaces, as the lines above that it belongs to"
    return _Explanation(c.line_start, c.line_end, message, hint)


_INDENTS = re.compile(r" *(?:- +)*")


def _levels_above(c: _Complaint) -> list[int]:
    """The indentations that a key on this line could have: those of the lines above that are still open."""
    levels: list[int] = []
    for number in range(c.lines.place(c.at)[0] - 1, 0, -1):
        line = c.lines.line(number)
        if not _without_comment(" " + line).strip():
            continue
        indents = _INDENTS.match(line)
        own = [indents.end()] if indents else []
        own += [
            position for position, char in enumerate(line[: own[0] if own else 0]) if char == "-"
        ]
        levels += [level for level in sorted(own, reverse=True) if not levels or level < levels[-1]]
        if levels and levels[-1] == 0:
            break
    return levels[::-1]


_CLOSING: Mapping[str, str] = {"[": "]", "{": "}"}


def _unclosed_bracket(c: _Complaint) -> _Explanation:
    opening = c.text[c.since : c.since + 1]
    closing = _CLOSING.get(opening, "")
    if not c.text[c.at :].strip():
        hint = f"add `{closing}`, or put the value in quotes if it is text"
        return _Explanation(c.since, c.since + 1, f"this `{opening}` is never closed", hint)
    if c.character in ("]", "}"):
        message = f"`{c.character}` cannot close `{opening}`"
        return _Explanation(c.at, c.at + 1, message, f"write `{closing}` here", c.since)
    hint = f"separate items by commas, or close with `{closing}` before"
    return _Explanation(c.at, c.at + 1, f"`,` or `{closing}` is missing before this", hint, c.since)


def _no_value(c: _Complaint) -> _Explanation:
    if not c.text[c.at :].strip():
        opened = max(c.text.rfind("[", 0, c.at), c.text.rfind("{", 0, c.at))
        return (
            _unclosed_bracket(_Complaint(c.problem, c.at, opened, c.lines))
            if opened >= 0
            else _anything(c)
        )
    if c.character in ("]", "}"):
        message, hint = (
            f"this `{c.character}` closes nothing",
            "delete it, or put the value in quotes if it is text",
        )
    elif c.character == ",":
        message, hint = (
            "a value is missing before this comma",
            "delete the comma, or put the value in quotes if it is text",
        )
    elif c.character == "-":
        message, hint = (
            "items between brackets are separated by commas",
            "write `[a, b]`, or drop the brackets",
        )
    else:
        return _anything(c)
    return _Explanation(c.at, c.at + 1, message, hint)


def _after_block_sign(c: _Complaint) -> _Explanation:
    sign = c.text[c.since : c.since + 1]
    if "indentation indicator" in c.problem and "chomping" not in c.problem:
        return _Explanation(
            c.at, c.at + 1, f"the number after `{sign}` is from 1 to 9", "leave it away"
        )
    hint = f"begin the text on the next line, indented; or put the value in quotes if `{sign}` belongs to it"
    return _Explanation(c.at, c.line_end, f"text cannot follow `{sign}` on the same line", hint)


def _list_in_line(c: _Complaint) -> _Explanation:
    hint = "begin it on the next line; or put the value in quotes if it is text"
    return _Explanation(c.at, c.at + 1, "a list cannot begin on the line of its key", hint)


def _question(c: _Complaint) -> _Explanation:
    return _Explanation(
        c.at, c.at + 1, "a value cannot begin with `? `", _put_in_quotes(c.text[c.at : c.line_end])
    )


def _after_document(c: _Complaint) -> _Explanation:
    if re.search(r"(?<![^\r\n])\.\.\.", c.text[: c.at]):
        return _Explanation(
            c.at, c.line_end, "text follows the end of the document", "delete the line `...` above"
        )
    message = "this line is indented less than the first one"
    return _Explanation(
        c.at, c.line_end, message, "give all keys of the outermost level the same indentation"
    )


#: Words of a complaint, context and problem, in either parser → who explains it. The first that fits.
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
    r"block scalar": _after_block_sign,
    r"sequence entries are not allowed": _list_in_line,
    r"mapping keys are not allowed": _question,
    r"<document start>": _after_document,
}

"""The secrets in lines with a name and a value: YAML, properties, and tables with commas."""

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from textwrap import dedent

from faultspec_conformance.session.named_fields import value_and_lines
from faultspec_conformance.session.secret_names import (
    Hides,
    is_ordinary,
    is_secret_name,
    is_secret_value,
    split_name,
)

#: A line of YAML, of properties or of a shell, with a value without blanks or in quotes, and with a
#: comment. Tags and anchors of YAML stand before the value.
_LINE = re.compile(
    r"^[ \t-]{0,40}+(?:export[ \t]{1,8})?(?P<name>[\w.\[\]-]{1,100})[ \t]{0,8}[:=][ \t]{0,8}"
    r"(?:[&!][\w!:./-]{0,60}[ \t]{1,8}){0,2}"
    r"(?P<text>\"[^\"\r\n]++\"|'[^'\r\n]++'|\S++)(?:[ \t]++\#[^\r\n]*+)?[ \t]{0,8}\r?$",
    re.MULTILINE,
)

#: What stands in place of a text of several lines.
_MARK = re.compile(r"[|>][-+\d]{0,2}")

#: The line of YAML before a text of several lines (YAML 1.2.2, 8.1).
_BLOCK = re.compile(
    r"(?P<indent> {0,40})(?:- {1,8}){0,4}[\"']?(?P<name>[\w.-]{1,100})[\"']?:[ \t]{1,8}"
    r"(?:[&!][\w!:./-]{0,60}[ \t]{1,8}){0,2}[|>][-+\d]{0,2}[ \t]{0,8}(?:#.*)?"
)

#: The first line of a table: names alone.
_COLUMNS = re.compile(
    r"[\s\ufeff]*+(?P<line>[\"\w.-]{1,100}(?:(?P<mark>[,;\t]) ?[\"\w.-]{1,100}){1,400})\r?\n"
)


def find_line_secrets(text: str, hides: Hides) -> Iterator[str]:
    """Yield the values of secret names in lines, in the blocks below them, and in columns."""
    for match in _LINE.finditer(text):
        shown = match["text"].strip("\"'")
        if _MARK.fullmatch(shown) or is_ordinary(shown):
            continue
        if is_secret_value(split_name(match["name"]), shown):
            yield shown
    yield from _find_in_blocks(text, hides)
    yield from _find_in_columns(text, hides)


def _find_in_blocks(text: str, hides: Hides) -> Iterator[str]:
    lines = text.splitlines() if " |" in text or " >" in text else []
    for number, line in enumerate(lines):
        head = _BLOCK.fullmatch(line)
        if head is None or not (hides(head["name"]) or _names_secret(head["name"])):
            continue
        inside = head["indent"] + " "
        end = number + 1
        while end < len(lines) and (lines[end].startswith(inside) or not lines[end].strip()):
            end += 1
        yield from value_and_lines(dedent("\n".join(lines[number + 1 : end])).strip())


def _find_in_columns(text: str, hides: Hides) -> Iterator[str]:
    columns = _COLUMNS.match(text)
    if columns is None:
        return
    with suppress(csv.Error):
        names = next(_read_rows([columns["line"]], columns["mark"]))
        secret = [place for place, name in enumerate(names) if hides(name) or _names_secret(name)]
        lines = text[columns.end() :].splitlines(keepends=True) if secret else []
        for row in _read_rows(lines, columns["mark"]):
            if len(row) == len(names):
                yield from (row[place].strip() for place in secret)


def _read_rows(lines: list[str], mark: str) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=mark, skipinitialspace=True)


def _names_secret(name: str) -> bool:
    return is_secret_name(split_name(name))

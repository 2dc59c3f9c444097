"""The secrets in XML and HTML by the names of elements and attributes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from faultspec_conformance.session.secret_names import (
    Hides,
    given_name,
    is_below_secret,
    is_naming_member,
    is_secret_name,
    is_secret_value,
    is_wrapping,
    split_member,
    split_name,
)

#: What stands between texts: tags, and the ends of CDATA and comments, whose content is read like
#: any other. No part of a tag has `<`, so that each character is read once or twice.
_MARK = re.compile(
    r"<!\[CDATA\[|\]\]>|<!--|-->"
    r"|<(?P<end>/?)(?P<name>[\w.:-]{1,160}+)"
    r"(?P<more>(?:[\s/](?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)?)>"
)

_ATTRIBUTE = re.compile(
    r"(?<![\w.:-])(?P<name>[\w.:-]{1,100})\s{0,8}=\s{0,8}"
    r"""(?:"([^"]*)"|'([^']*)'|([^\s"'<>=`]++))"""
)

#: Names of elements that are the value of the name before them (property lists).
_TYPES = frozenset({"string", "data"})


@dataclass(slots=True)
class _Open:
    """An element around others. ``given``: the name that one of them gives to those behind it."""

    names: tuple[str, ...] = ()
    is_hidden: bool = False
    gives: bool = False
    given: tuple[str, ...] = ()


def find_element_secrets(text: str, hides: Hides) -> Iterator[str]:
    """Yield the texts of secret elements and below them, and of secret attributes: by their names,
    by an attribute with a name, or by an element with a name before them.
    """
    marks = [*_MARK.finditer(text)] if "<" in text else []
    paired = _pair_tags(marks, is_cut=text.lstrip()[:1] == "<")
    around, read = [_Open()], 0
    for number, mark in enumerate(marks):
        yield from _find_in_content(text[read : mark.start()], around)
        read = mark.end()
        if mark["name"] is None:
            continue
        if mark["end"]:
            if number in paired:
                around.pop()
            continue
        attributes = _attributes_of(mark["more"])
        inner = _enter(mark["name"].rpartition(":")[2], attributes, around[-1], hides)
        yield from _find_in_attributes(attributes, inner, hides)
        if number in paired:
            around.append(inner)
    if marks:
        yield from _find_in_content(text[read:], around)


def _pair_tags(marks: Sequence[re.Match[str]], *, is_cut: bool) -> set[int]:
    """The numbers of the tags of elements with an end; also of those that a cut leaves open."""
    paired: set[int] = set()
    waiting: list[tuple[str, int]] = []
    count = Counter[str]()
    for number, mark in enumerate(marks):
        name = (mark["name"] or "").lower()
        if name and not mark["end"] and not mark["more"].endswith("/"):
            waiting.append((name, number))
            count[name] += 1
        elif mark["end"] and count[name]:
            inner, begin = "", 0
            while inner != name:
                inner, begin = waiting.pop()
                count[inner] -= 1
            paired |= {begin, number}
    return paired | {number for _, number in waiting} if is_cut else paired


def _enter(name: str, attributes: dict[str, str], outer: _Open, hides: Hides) -> _Open:
    if outer.given and name.lower() in _TYPES:
        own = outer.given
    else:
        own = (*split_member(name, outer.given), *given_name(attributes))
    is_hidden = outer.is_hidden or any(map(hides, own))
    return _Open(_join_names(outer.names, own), is_hidden, is_naming_member(name))


@lru_cache(maxsize=4096)  # documents repeat a few elements
def _join_names(outer: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """The names above a text: the last two, and a secret one above them."""
    names = [name for name in (*outer, *own) if not is_wrapping(name)]
    above = [name for name in names[:-2] if is_below_secret((name,))]
    return (*above[:1], *names[-2:])


def _find_in_content(written: str, around: Sequence[_Open]) -> Iterator[str]:
    shown = written.strip()
    inner = around[-1]
    if not shown or not inner.names:
        return
    plain = unescape(shown)
    if inner.is_hidden or is_secret_value(inner.names, plain):
        yield plain
        yield shown
    if inner.gives and len(around) > 1:
        steps = split_name(plain)
        around[-2].given = steps if "/" not in plain and is_secret_name(steps) else ()


def _find_in_attributes(attributes: dict[str, str], inner: _Open, hides: Hides) -> Iterator[str]:
    given = given_name(attributes)
    if attributes.get("type", "").lower() == "password":
        given = ("password",)
    for name, value in attributes.items():
        own = split_member(name, given)
        names = (*inner.names, *own) if is_wrapping(name) else own
        if hides(name) or is_secret_value(names, value):
            yield value


def _attributes_of(tag: str) -> dict[str, str]:
    return {
        found["name"]: unescape(found[2] or found[3] or found[4] or "")
        for found in (_ATTRIBUTE.finditer(tag) if "=" in tag else ())
    }

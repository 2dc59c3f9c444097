"""The style of a project: patterns and lengths of names, and lengths of texts.

Its rules are made from the project file, so they have no example of their own.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from faultspec.diagnostics.model import Path
from faultspec.lint.rule import LintRule, Remark, Subject

#: The diagnostics of this module, with their conditions.
CODES: Mapping[str, str] = {
    "name-style": "A name does not have the pattern or the length of `style` in the project file.",
    "text-length": "A text is longer than `style` in the project file allows.",
}

Limits = Mapping[str, str | int]
"""The settings of one kind of names or texts: ``pattern`` and ``longest``."""

Placed = tuple[Path, str]
"""A name or a text, with its place."""


Source = Callable[[Subject], Iterator[Placed]]
"""Yields the names or texts of one kind."""


def _codes(subject: Subject) -> Iterator[Placed]:
    for path, code in subject.live_codes():
        yield path, code.name


def _keys_of(section: str) -> Source:
    """The names of a section of the taxonomy, which has the same name in the model."""

    def names(subject: Subject) -> Iterator[Placed]:
        for name in getattr(subject.taxonomy, section):
            yield (section, name), name

    return names


def _summaries(subject: Subject) -> Iterator[Placed]:
    for path, code in subject.live_codes():
        yield (*path, "summary"), code.summary


def _messages(subject: Subject) -> Iterator[Placed]:
    for path, code in subject.live_codes():
        if code.message is not None:
            yield (*path, "message"), code.message
        for language, text in code.messages.items():
            yield (*path, "messages", language), text


_NAMES: Mapping[str, Source] = {
    "codes": _codes,
    "details": _keys_of("detail_keys"),
    "operations": _keys_of("operations"),
    "domains": _keys_of("domains"),
    "boundaries": _keys_of("boundaries"),
}

_TEXTS: Mapping[str, Source] = {"summary": _summaries, "message": _messages}


def style_rules(style: Mapping[str, Limits]) -> tuple[LintRule, ...]:
    """The rules of a style. Its keys are kinds of names (`codes`, `details` …) and of texts
    (`summary`, `message`); a name has a ``pattern`` and a ``longest``, a text a ``longest``.
    """
    names = {kind: limits for kind, limits in style.items() if kind in _NAMES}
    texts = {kind: limits for kind, limits in style.items() if kind in _TEXTS}
    rules = []
    if names:
        rules.append(_rule("name-style", lambda subject: _check_names(subject, names)))
    if texts:
        rules.append(_rule("text-length", lambda subject: _check_texts(subject, texts)))
    return tuple(rules)


def _rule(id: str, check: Callable[[Subject], Iterator[Remark]]) -> LintRule:
    return LintRule(
        id=id, severity="warning", check=check, purpose=CODES[id], bad="", good="", local=False
    )


def _check_names(subject: Subject, style: Mapping[str, Limits]) -> Iterator[Remark]:
    for kind, limits in style.items():
        pattern = limits.get("pattern")
        for path, name in _NAMES[kind](subject):
            if pattern is not None and re.fullmatch(str(pattern), name) is None:
                message = f"`{name}` does not match `{pattern}`, the project's pattern of {kind}"
                yield Remark(path, message, f"rename it, or change `style: {{{kind}: …}}`")
            if _is_longer(name, limits):
                yield _too_long(path, what=f"`{name}`", text=name, limits=limits, kind=kind)


def _check_texts(subject: Subject, style: Mapping[str, Limits]) -> Iterator[Remark]:
    for kind, limits in style.items():
        for path, text in _TEXTS[kind](subject):
            if _is_longer(text, limits):
                yield _too_long(path, what=f"the {kind}", text=text, limits=limits, kind=kind)


def _is_longer(text: str, limits: Limits) -> bool:
    longest = limits.get("longest")
    return isinstance(longest, int) and len(text) > longest


def _too_long(path: Path, *, what: str, text: str, limits: Limits, kind: str) -> Remark:
    message = f"{what} has {len(text)} characters; the project allows {limits['longest']}"
    return Remark(path, message, f"shorten it, or change `style: {{{kind}: …}}`")

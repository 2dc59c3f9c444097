"""The words around a match, and whether they introduce an example."""

import re

from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

EXAMPLE = Expression(
    r"\b(?:for example|for instance|example|e\.g\.|eg|i\.e\.|such as|like this)[ ,:=\"'`(\[]{0,5}$",
    re.I,
)
"""Words before an example that explains a form."""


def text_before(match: re.Match[str], most: int = 60) -> str:
    """The text just before a match."""
    return match.string[max(0, match.start() - most) : match.start()]


def text_after(match: re.Match[str], most: int = 40) -> str:
    """The text just after a match."""
    return match.string[match.end() : match.end() + most]


def is_real(match: re.Match[str]) -> bool:
    """Whether it is not introduced as an example."""
    return not EXAMPLE.search(text_before(match))


_SAMPLE_AFTER = Expression(
    r"[\"'`)]{0,2},? (?:is|was|are|comes?|came|is taken|stands?|was copied) (?:(?:from|in|out of|only|just) )?(?:the|a|an|our|this)? ?(?:[\w-]{1,20} ){0,2}(?:sample|example|placeholder|dummy|demo|test|manual|manuals|documentation|docs|guide|tutorial)\b",
    re.I,
)
"""Words after a value of documentation."""

_MARK_AFTER = Expression(
    r"(?: (?:line|header|marker|delimiter|block))?[\"'`]? (?:is|was|are) (?:missing|expected|absent|required|not (?:found|there|present|closed))"
)
_MARK_BEFORE = Expression(
    r"\b(?:start|starts|begin|begins|open|opens|expected|missing|between|after|without|have|has|needs?|requires?)(?: with| a| an| the| header| line| marker)?[ :\"'`]{1,3}$",
    re.I,
)
"""Words around the mark that begins a key or a certificate, in sentences about its form."""


def is_called_sample(match: re.Match[str]) -> bool:
    """Whether the text says after the match that it comes from documentation."""
    return _SAMPLE_AFTER.match(text_after(match, 80)) is not None


def is_key_block(match: re.Match[str]) -> bool:
    """Whether the mark of a key is more than a mark in a sentence about the form of keys."""
    after = text_after(match)
    return re.match(r"(?:\s|\\[nr]){0,4}[\w+/]{16}", after) is not None or not (
        "END" not in match[0] and _is_mark(match)
    )


def _is_mark(match: re.Match[str]) -> bool:
    return bool(_MARK_AFTER.match(text_after(match)) or _MARK_BEFORE.search(text_before(match)))

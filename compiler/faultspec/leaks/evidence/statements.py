"""Whether a sentence reports on the service, and states no rule and no thing of the caller."""

import re

from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

_END = Expression(r"[.!?;][ \"'`)]|[\n\x00]")
"""The end of a sentence."""

_RULE = Expression(
    r"\b(?:must|should|may|can|cannot|can't|could not be (?:found|parsed|read)|has to|have to|needs? to|required|invalid|not (?:a )?(?:valid|known|recogni[sz]ed|defined)|unsupported|not supported|not found|does not exist|do not exist|doesn't exist|does(?: not|n't) (?:refer|match|belong|support|allow|contain|have)|at (?:least|most)|between [$€£]?\d|up to [$€£]?\d|limited to|maximum|minimum|choose|select|specify|please (?:enter|provide|choose|use)|one of|such as|for example|e\.g\.|already exists?|too (?:long|short))\b",
    re.I,
)
"""Words of rules: what callers may send, and that something of theirs is missing."""

_CALLER = Expression(
    r"\b(?:you|your|yours|you're|you've|(?:the|this|a|an|each|every|any) (?:specified|requested|given|provided|selected|submitted|supplied|named|target|source|following))\b",
    re.I,
)
"""Words for callers, and for the things that they name."""


def sentence(match: re.Match[str]) -> str:
    """The sentence around a match, at most 160 characters to both sides."""
    before = match.string[max(0, match.start() - 160) : match.start()]
    after = match.string[match.end() : match.end() + 160]
    ends = list(re.finditer(r"[.!?;][ \"'`)]|[\n\x00]", before))
    end = _END.search(after)
    return before[ends[-1].end() if ends else 0 :] + match[0] + after[: end.start() if end else 160]


def is_report(match: re.Match[str]) -> bool:
    """Whether the sentence reports on the service: no rule, and nothing of the caller."""
    text = sentence(match)
    return not (_RULE.search(text) or _CALLER.search(text))


def is_not_of_caller(match: re.Match[str]) -> bool:
    """Whether the sentence speaks of nothing that callers have or name."""
    return not _CALLER.search(sentence(match))


def is_no_rule(match: re.Match[str]) -> bool:
    """Whether the sentence states no rule."""
    return not _RULE.search(sentence(match))

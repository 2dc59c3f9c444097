"""Whether a match is a key or a token, by its name and its entropy."""

import re
from collections import Counter
from collections.abc import Callable
from math import log2

from faultspec.leaks.evidence.context import text_before
from faultspec.leaks.evidence.placeholders import PLACEHOLDER, PLACEHOLDER_WORD
from faultspec.leaks.evidence.statements import is_no_rule
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.
# ruff: noqa: E501

UUID = Expression(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)

IDENTIFIER = Expression(r"[0-7][0-9A-HJKMNP-TV-Z]{25}|\d{4}-\d\d-\d\d[T ].*|[\d.,:-]+")
"""ULIDs, dates and numbers, which are values of keys and no keys."""

_ORDINARY_NAME = Expression(
    r"(?<![A-Za-z])(?:page|next|prev|previous|cursor|continuation|continue|sync|start|end|pagination|resume|idempotency|primary|foreign|partition|sort|range|hash|public"
    r"|object|routing|cache|unique|natural|compound|map|row|record|message|event|group|dedup(?:lication)?|csrf|xsrf|error|i18n|translation|registry|author"
    r"|publishable|site)[._ -]?(?:key|token|id|value|auth)?$|^(?:key|keys|auth|author|monkey|turkey|hockey|keyword)$|_keys?_id$|oauth$",
    re.I,
)
"""Names that end like those of secrets: tokens of pages, keys of records."""

_CLEAR_NAME = Expression(
    r"secret|passw|pwd|api[._-]?key|access[._-]?(?:key|token)|auth[._-]?token|private[._-]?key|credential",
    re.I,
)
"""Names of nothing but secrets, whose value may have any form."""


def is_key(match: re.Match[str]) -> bool:
    """Whether a key follows the vendor's prefix: `sk-test-item-2` is an item."""
    return not re.fullmatch(
        r"(?=.*[a-z])(?:[a-z]{1,12}|\d{1,4})(?:[-_](?:[a-z]{1,12}|\d{1,4})){0,20}",
        match["value"] or "X",
    )


def is_value(match: re.Match[str]) -> bool:
    """Whether the value is not a placeholder."""
    return not PLACEHOLDER.search(match["value"])


def is_own_value(match: re.Match[str]) -> bool:
    """Whether the value is not a placeholder, nor the word for one."""
    return is_value(match) and not PLACEHOLDER_WORD.fullmatch(match["value"])


def is_random(match: re.Match[str]) -> bool:
    """Whether the value may be a key: it has letters and digits."""
    value = match["value"]
    return is_value(match) and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_as_random_as(bits: float) -> Callable[[re.Match[str]], bool]:
    """Accept tokens with at least ``bits`` of entropy per character; placeholders have fewer."""

    def accept(match: re.Match[str]) -> bool:
        return _entropy(match[1] if match.re.groups and match[1] else match[0]) >= bits

    return accept


def _entropy(token: str) -> float:
    """Bits of entropy per character."""
    return -sum(n / len(token) * log2(n / len(token)) for n in Counter(token).values())


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)


def is_assigned(match: re.Match[str]) -> bool:
    """Whether a value that is assigned to a name is a secret, by both."""
    name, value = match["name"], match["value"]
    if _LEXICAL.search(text_before(match)) or _ORDINARY_NAME.search(_snake_case(name)):
        return False
    if PLACEHOLDER.search(value) or IDENTIFIER.fullmatch(value):
        return False
    if (
        "://" in value
        or value.startswith("/")
        or re.fullmatch(r"[a-z]+\d?(?:[._-][a-z]+\d?)*", value)
    ):
        return False
    if _CLEAR_NAME.search(name):
        mixed = not (value.islower() or value.isupper()) and _entropy(value) >= 4
        return mixed or (_entropy(value) >= 2.8 and any(letter.isdigit() for letter in value))
    is_uuid = UUID.fullmatch(value) is not None and not name.lower().endswith("token")
    return not is_uuid and is_random(match) and _entropy(value) >= 3


def is_spoken(match: re.Match[str]) -> bool:
    """Whether a word after the name of a secret is one: with digits, letters and much entropy."""
    return (
        not _ORDINARY_NAME.search(_snake_case(match["name"]))
        and not IDENTIFIER.fullmatch(match["value"])
        and not UUID.fullmatch(match["value"])
        and is_random(match)
        and _entropy(match["value"]) >= 3.2
        and not re.fullmatch(r"(?:[A-Za-z]+[-_./])*[A-Za-z]+\d{0,4}", match["value"])
    )


def is_mixed(match: re.Match[str]) -> bool:
    """Whether a token has digits and letters in a mixture that no name has."""
    token = match[0]
    return (
        any(letter.isdigit() for letter in token)
        and any(letter.isalpha() for letter in token)
        and _entropy(token) >= 3
    )


def is_long_random(match: re.Match[str]) -> bool:
    """Whether the value after a word such as "token" is random, and not a parser's or a page's
    token.
    """
    return (
        is_random(match) and is_as_random_as(3)(match) and not _LEXICAL.search(text_before(match))
    )


_LEXICAL = Expression(
    r"\b(?:unexpected|unrecognized|illegal|unknown|page|cursor|sync|next|continuation)[ _-]$", re.I
)
"""Words before tokens of parsers and of pages."""


def is_session(match: re.Match[str]) -> bool:
    """Whether the value of a cookie is random: it has digits and letters, and some entropy."""
    value = match["value"]
    return is_random(match) and not UUID.fullmatch(value) and _entropy(value) >= 2.3


_PART = r"(?:[A-Za-z]{2,}\d{0,2}|v\d+|\d{1,4})"
"""A part of a name: a word, also with a short number, a version or a year."""

_PUBLIC_VALUE = Expression(
    r"(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[a-z]{2,6}_[A-Za-z0-9]{8,40}|pk_\w+|[0-9a-f]{24}|eyJ[\w-]+={0,2}|\d[\d.,:TZ+-]*|(?:[A-Za-z]+[-_./~])*[A-Za-z]+\d{0,6}"
    rf"|(?:{_PART}[/._~-])*{_PART})",
)
"""Ids of records, publishable keys, cursors, dates, words, and names such as
`oauth2/google/contacts`.
"""


def is_token(match: re.Match[str]) -> bool:
    """Whether a word after the name of a secret is random, and not an id, a date, a path or a
    name.
    """
    value = match["value"]
    return not (
        PLACEHOLDER.search(value)
        or _PUBLIC_VALUE.fullmatch(value)
        or _LEXICAL.search(text_before(match))
        or value.startswith("/")
        or "//" in value
        or IDENTIFIER.fullmatch(value)
        or _entropy(value) < 3.2
    )


def is_hexadecimal_key(match: re.Match[str]) -> bool:
    """Whether the digits of a key are not all the same."""
    return len(set(match["value"])) > 4


def is_unpredictable(match: re.Match[str]) -> bool:
    """Whether a value is random, and not a word, an id, a date or a placeholder."""
    groups = match.groupdict()
    value = groups.get("value") or groups.get("other") or ""
    return not (
        PLACEHOLDER.search(value)
        or (
            re.fullmatch(r"[A-Za-z]+(?:[_-][A-Za-z]+)*", value)
            and (value.islower() or "_" in value)
        )
        or re.fullmatch(r"[\d.,:-]+", value)
        or IDENTIFIER.fullmatch(value)
        or UUID.fullmatch(value)
    ) and len(set(value)) > min(5, len(value) // 2)


_COMMON = frozenset(
    {"the", "and", "for", "must", "has", "with", "from", "not", "are", "was", "your"}
)
"""Words of sentences that are in no list of BIP 39."""


def is_mnemonic(match: re.Match[str]) -> bool:
    """Whether words are those of a phrase as in BIP 39: no sentence has so few short words."""
    return _COMMON.isdisjoint(match["value"].split())


_WORDS = Expression(
    r"(?:[A-Za-z]+\d{0,2}(?:[._/=-](?:[A-Za-z]+\d{0,2}|\d{1,8}))*|\d[\d.,:TZ+/-]*|v\d[\w.-]*|\d+[a-z]{1,8}|[a-z]{2,6}_[A-Za-z0-9]{4,40})"
)
"""Words, names, dates, versions and durations."""


def is_secret_in_sentence(match: re.Match[str]) -> bool:
    """Whether a word behind the name of a secret is one, and the sentence states no rule.

    It mixes letters with digits or signs; a name, an id, a date or a placeholder does not count.
    """
    value = match["value"].rstrip(".,;:!")
    if (
        len(value) < 8
        or PLACEHOLDER.search(value)
        or re.fullmatch(r"[A-Za-z]+\d{0,2}(?:-[a-z]+)?", value)
        or (_WORDS.fullmatch(value) and not re.search(r"secret|pass", match["name"], re.I))
        or re.fullmatch(r"[A-Z]+(?:_[A-Z]+)+", match["name"])
        or UUID.fullmatch(value)
        or IDENTIFIER.fullmatch(value)
        or "://" in value
        or value.startswith(("/", "--", "$"))
        or _ORDINARY_NAME.search(match["name"].strip())
        or _LEXICAL.search(f"{text_before(match)}{match['name'].rpartition(' ')[0]} ")
    ):
        return False
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    is_mixture = digits and letters and _entropy(value) >= 2.7
    return is_mixture and is_no_rule(match)


_CHECKSUM = Expression(
    r"\b(?:checksum|etag|md5|crc\w*|content|file|digest|revision|version|upload|part|body)\b", re.I
)


def is_expected(match: re.Match[str]) -> bool:
    """Whether a value that was expected is a secret, and not the checksum of a file."""
    return is_unpredictable(match) and not _CHECKSUM.search(text_before(match))


def is_value_of_member(match: re.Match[str]) -> bool:
    """Whether the value of a member with the name of a secret is one, and no word or type."""
    value = match["value"]
    return (
        is_value(match)
        and not PLACEHOLDER_WORD.fullmatch(value)
        and not UUID.fullmatch(value)
        and not _ORDINARY_NAME.search(_snake_case(match["name"]))
        and any(map(str.isdigit, value))
        and (any(map(str.isalpha, value)) or match["name"].lower().endswith("pin"))
    )


def is_grouped_key(match: re.Match[str]) -> bool:
    """Whether groups of letters and digits are a key, and no form of one."""
    value = match["value"].replace("-", "")
    return len(set(value)) > 6 and "XXX" not in value and is_no_rule(match)

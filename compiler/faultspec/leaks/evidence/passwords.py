"""Whether a match is a password, or a name with a password."""

import base64
import re

from faultspec.leaks.evidence.keys import IDENTIFIER, UUID
from faultspec.leaks.evidence.placeholders import PLACEHOLDER, PLACEHOLDER_WORD
from faultspec.leaks.pattern import Expression

# The words around a match are lists, each on one line however long.


def is_credentials(match: re.Match[str]) -> bool:
    """Whether it decodes to the name and password of HTTP basic authentication."""
    raw = match["value"].rstrip("=")
    try:
        name, colon, password = (
            base64.b64decode(raw + "=" * (-len(raw) % 4), validate=True).decode().partition(":")
        )
    except ValueError:
        return False
    return bool(colon) and (name + password).isprintable()


def is_password(match: re.Match[str]) -> bool:
    """Whether a text after the name of a password is one, and not a placeholder or a rule."""
    value = match["quoted"] or match["bare"] or match["pair"] or match["after"] or ""
    if PLACEHOLDER.search(value) or PLACEHOLDER_WORD.fullmatch(value):
        return False
    return any(letter.isdigit() for letter in value) or bool(re.search(r"[!@#$%^&?]", value))


_STANDARD = Expression(
    r"(?:oauth|saml|sha|http|ipv|utf|mp|h|x|base|tls|ssl|md|es|rs|hs|ps|ed|v|s|ec|p|aes)-?\d[\d._]{0,5}\w{0,3}(?:-[a-z]{2,12})?",
    re.I,
)
"""Names of standards with a number, such as OAuth2."""


def _classes(value: str) -> int:
    """How many of small letters, capitals, digits and signs a value has."""
    tests = (str.islower, str.isupper, str.isdigit, lambda letter: letter in "!@#$%^&*?+~_=|")
    return sum(any(map(test, value)) for test in tests)


def _groups(match: re.Match[str], *names: str) -> str:
    """The first of the named groups that took part in a match, without a sentence's full stop."""
    groups = match.groupdict()
    return next((groups[name] for name in names if groups.get(name)), "").rstrip(".:")


def is_strong_password(match: re.Match[str]) -> bool:
    """Whether a value has the form of a password: letters with digits or signs."""
    value = _groups(match, "quoted", "value")
    if (
        len(value) < 5
        or not any(map(str.isalpha, value))
        or PLACEHOLDER.search(value)
        or PLACEHOLDER_WORD.fullmatch(value)
        or _STANDARD.fullmatch(value)
        or UUID.fullmatch(value)
        or IDENTIFIER.fullmatch(value)
        or re.search(r"[\^\\]|://|^/|^[(\[]|[{},.]\d|\(\?", value)
    ):
        return False
    signs = any(map(str.isdigit, value)) or re.search(r"[!@#$%^&*?+]", value) is not None
    if match.groupdict().get("quoted"):
        return signs or _changes(value) > 1
    digits = sum(map(str.isdigit, value))
    return _classes(value) > 2 or (signs and digits > 1 and not re.match(r"\d+[\w-]*$", value))


def is_mixed_password(match: re.Match[str]) -> bool:
    """Whether a word that follows the word for a password directly has letters, digits and more."""
    value = _groups(match, "value")
    return (
        is_strong_password(match)
        and _classes(value) > 2
        and any(map(str.isdigit, value))
        and not re.fullmatch(r"[A-Z][a-z]+[-_]?\d+(?:[-_.]\w+)*", value)
    )


def is_mixed_value(match: re.Match[str]) -> bool:
    """Whether an argument of a command is a secret: it has digits or signs, and letters."""
    value = _groups(match, "value", "other")
    return (
        not PLACEHOLDER.search(value)
        and not PLACEHOLDER_WORD.fullmatch(value)
        and any(map(str.isalpha, value))
        and any(letter.isdigit() or letter in "!@#$%^&*?+" for letter in value)
    )


def is_value_of_variable(match: re.Match[str]) -> bool:
    """Whether a value beside the name of a setting is a secret: random, or with two classes."""
    value = match["value"].rstrip(".")
    name = match[0].partition(" ")[0]
    if (
        PLACEHOLDER.search(value)
        or re.search(r"(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|IDEMPOTENCY|CACHE)_", name)
        or re.fullmatch(r"[A-Z][A-Z0-9_]*|[a-z]+(?:[._ -][a-z]+)*|[\d.,:-]+", value)
        or "://" in value
        or value.startswith("/")
    ):
        return False
    return _classes(value) > 1 and (
        any(map(str.isdigit, value)) or _classes(value) > 2 or _changes(value) > 2
    )


def _changes(value: str) -> int:
    """How often a small letter is followed by a capital, as in random text."""
    return len(re.findall(r"[a-z][A-Z]", value))

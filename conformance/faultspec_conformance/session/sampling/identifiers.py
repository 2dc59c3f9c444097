"""Identifiers that name nothing."""

import re
import string

from faultspec.runtime import ids
from faultspec_conformance.session.sampling.source import ValueSource
from faultspec_conformance.session.sampling.tokens import Tokens

_HEX = "0123456789abcdef"


def other_identifier(source: ValueSource, identifier: object) -> object:
    """An identifier of the same format as ``identifier`` that names nothing."""
    if isinstance(identifier, bool) or identifier is None:
        return identifier
    if isinstance(identifier, int):
        # Fits 32 bits, and no test database counts that far.
        return 2_000_000_000 + source.random.randrange(100_000_000)
    text = str(identifier)
    for name in ("uuid7", "uuid4", "ulid", "ksuid"):
        if ids.FORMATS[name](text):
            made = source.tokens.id(name)
            return made.lower() if text.islower() else made
    if text.isdigit():
        return str(other_identifier(source, 0))[: max(9, len(text))]
    prefix = re.match(r"(?:[A-Za-z]+[_\-:])*", text)
    head = prefix[0] if prefix and prefix[0] != text else ""
    tail = text[len(head) :]
    if tail.isdigit():
        return head + str(other_identifier(source, 0)).zfill(len(tail))[-max(9, len(tail)) :]
    hexadecimal = all(character in _HEX + "-" for character in tail)
    return head + scramble(source.tokens, tail, hexadecimal=hexadecimal)


def scramble(tokens: Tokens, text: str, *, hexadecimal: bool = False) -> str:
    """The text with other letters for its letters and other digits for its digits."""
    alphabets = [string.digits, string.ascii_lowercase, string.ascii_uppercase]
    if hexadecimal:
        alphabets.insert(0, _HEX)
    return "".join(
        next((tokens.choice(letters) for letters in alphabets if character in letters), character)
        for character in text
    )

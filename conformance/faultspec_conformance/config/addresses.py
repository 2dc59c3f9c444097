"""The secrets in an address: user name, password and the values of its query. And those of the
environment, by their names.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

from faultspec.exchange.sensitive import MASK
from faultspec_conformance.config.context import VARIABLE
from faultspec_conformance.config.model import SECRET_NAME, is_credential, secret_of

#: An address in a text, also with a scheme that is misspelt: `http//`.
_ADDRESS = re.compile(
    r"(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:?|(?<=[\s\"'=(\[{,])|^)//\S*", re.IGNORECASE
)

#: A user name with its password before a host, in an address without its scheme.
_USER_INFO = re.compile(
    r"""(?:(?<=[\s"'=(\[{,])|^)(?!(?:mailto|acct|xmpp|sips?|npm|pkg|git|urn):)"""
    r"""([^\s:/?#@"'=,]{1,200}):([^\s/?#@"']{1,200})@"""
    r"""(?=(?:localhost|[\w.-]{0,250}\.[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}|[\w.-]{1,253}:\d{1,5})"""
    r"""(?:[:/?#\s"',)}\]]|$))""",
    re.IGNORECASE,
)

#: The beginning of an address up to its path or the end of a user name.
_HEAD = re.compile(r"[^/?#@]*")

#: A colon that no port follows. What follows is a password, which may have a `/`.
_COLON = re.compile(r":(?!\d{1,5}(?:[/?#]|$))")

_BLANK = re.compile(r"\s")

#: A user name or a value that texts have by chance.
_ORDINARY = re.compile(r"[A-Za-z]{1,16}|[\d.,:-]{1,10}|v\d+")

#: Where `save` finds a value in an answer: a pointer of words, a header or a cookie.
_PLACE = re.compile(
    r"(?:/[a-z][a-z_]{0,15}(?:[A-Z][a-z]{1,15}){0,3}){1,4}|(?:header|cookie) [\w-]{1,40}"
)

#: Folders and files whose names sound like passwords: those of a shell, and where a secret lies.
_PATHS = re.compile(r"(?:OLD)?PWD|.*_(?:DIR|FILE|FOLDER|HOME|PATH)", re.IGNORECASE | re.DOTALL)


#: The beginning of an address with a user name or a password.
_WITH_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]{1,30}://[^/?#\s]{1,300}@", re.IGNORECASE)


class AddressParts(NamedTuple):
    """An address without its secrets, and these. ``query``: its parameters, as they are written."""

    bare: str
    user: str
    password: str
    query: tuple[str, ...]


def split_address(url: str) -> AddressParts:
    """The parts of an address, which may be no valid one."""
    scheme, slashes, rest = url.partition("//")
    end = _find_location(rest)
    user, _, password = rest[: max(0, end - 1)].partition(":")
    location, _, query = rest[end:].partition("#")[0].partition("?")
    parameters = tuple(filter(None, re.split("[&;]", query)))
    return AddressParts(f"{scheme}{slashes}{location}", user, password, parameters)


def _find_location(rest: str) -> int:
    """Where the host begins in an address without its scheme, after user name and password."""
    head = _HEAD.match(rest)
    end = head.end() if head is not None else 0
    blank = _BLANK.search(rest, end)
    last = rest.rfind("@", end, len(rest) if blank is None else blank.start())
    begin = max((found.end() for found in _BLANK.finditer(rest, 0, end)), default=0)
    colons = (found.start() for found in re.finditer(":", rest[begin:end]))
    if last >= 0 and any(_COLON.match(rest, begin + colon) for colon in colons):
        return last + 1
    return end + 1 if rest[end : end + 1] == "@" else 0


def plain_address(url: str) -> str:
    """An address without user name, password, query and fragment."""
    return split_address(url).bare


def find_address_secrets(url: str) -> Iterator[tuple[str, str]]:
    """The secrets of an address, each with its replacement: as they are written, and decoded. A
    word such as `admin` or `json` is one only beside its password or its name.
    """
    parts = split_address(url)
    texts = [parts.user, parts.password]
    if parts.password and _ORDINARY.fullmatch(parts.user):
        texts[0] = f"{parts.user}:{parts.password}"
    for text in texts:
        yield from ((each, MASK) for each in (text, unquote(text)) if _is_value(each))
    for parameter in parts.query:
        name, equals, value = parameter.partition("=")
        value = value if equals else name
        if not _is_value(value):
            continue
        if _ORDINARY.fullmatch(value) and not is_credential(unquote_plus(name)):
            yield parameter, f"{name}={MASK}" if equals else MASK
        else:
            yield from ((each, MASK) for each in (value, unquote(value), unquote_plus(value)))


def _is_value(text: str) -> bool:
    """Whether a text is a value and not a variable, which is reported as missing."""
    return bool(text) and VARIABLE.fullmatch(text) is None


def find_written_secrets(text: str) -> Iterator[tuple[str, str]]:
    """The secrets of the addresses and of the headers with credentials in a text. A word, such as
    `wrong` in a recipe, is one only beside its name, in YAML, JSON and forms. The place that a
    login saves a value from is none.
    """
    for found in _ADDRESS.finditer(text):
        yield from find_address_secrets(found[0])
    for found in _USER_INFO.finditer(text):
        if _ORDINARY.fullmatch(found[2]):  # as in `mailto:bob@example.org`
            yield found[0], f"{MASK}@"
        else:
            yield from find_address_secrets(f"//{found[0]}")
    for header in _HEADER.finditer(text):
        value = (header[2] or header[3] or header[4] or "").strip()
        named = _NAME.search(header[1][-_LONGEST_NAME:])
        if named is None or not value or "${" in value or _PLACE.fullmatch(value):
            continue
        name = named[0]
        if not is_credential(name):
            continue
        of_scheme = name.lower() in ("authorization", "proxy-authorization")
        if _ORDINARY.fullmatch(secret_of(name, value) if of_scheme else value):
            written = header[0][len(header[1]) - len(name) :]
            yield from _find_named_word(name, value, written)
        else:
            yield value, MASK
            yield from ((word, MASK) for word in value.split()[1:])


def _find_named_word(name: str, word: str, written: str) -> Iterator[tuple[str, str]]:
    """A word beside its name, as it is written, sent and reported."""
    written = written.rstrip()
    yield written, written[: -len(word)] + MASK
    yield f"{name}: {word}", f"{name}: {MASK}"
    # Alone, `password=word` looks like a cookie, whose value is a secret wherever it stands.
    yield f"&{name}={word}", f"&{name}={MASK}"
    for blank in ("", " "):
        yield f'"{name}":{blank}"{word}"', f'"{name}":{blank}"{MASK}"'


def find_environment_secrets(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables whose names say that they are secrets, each with its replacement. A process
    that the suite starts inherits them, and may print them. A word is none. Also user names and
    passwords in addresses, such as those of databases and proxies.
    """
    for name, value in environment.items():
        text = value.strip()
        is_secret = SECRET_NAME.search(name) and not _PATHS.fullmatch(name)
        if is_secret and text and not _ORDINARY.fullmatch(text):
            yield text, "${" + name + "}"
        elif _WITH_PASSWORD.match(text):  # of a database, a queue or a proxy
            bare, *_ = text.partition("?")
            yield from (
                pair for pair in find_address_secrets(bare) if not _ORDINARY.fullmatch(pair[0])
            )


#: A header and its value, as a line, an argument or a mapping of YAML has them. A run of characters
#: of names is tried once, so that the time grows with the text and no faster.
_HEADER = re.compile(
    r"(?<![\w-])([\w-]++)[\"']?[ \t]*:[ \t]*(?!//)"
    r"(?:\"([^\"\r\n]*)|'([^'\r\n]*)|([^\r\n{}[,\"']+))"
)

#: The name at the end of a run, which begins with a letter. Of a longer one the end counts.
_LONGEST_NAME = 101
_NAME = re.compile("[A-Za-z].*", re.DOTALL)


class DraftedAddress(NamedTuple):
    """An address for a file that is shared. ``variables``: what it takes from the environment.
    ``left_out``: the names of the query that it lacks.
    """

    text: str
    variables: tuple[str, ...]
    left_out: tuple[str, ...]


def draft_address(url: str, name: str) -> DraftedAddress:
    """An address with `${NAME_USER}` and `${NAME_PASSWORD}` in place of user name and password, and
    without its query.
    """
    parts = split_address(url)
    written: list[str] = []
    variables: list[str] = []
    for text, what in ((parts.user, "USER"), (parts.password, "PASSWORD")):
        is_variable = VARIABLE.fullmatch(text) is not None
        if text and not is_variable:
            variables.append(f"{name}_{what}")
        written.append(text if is_variable or not text else "${" + f"{name}_{what}" + "}")
    user, password = written
    caller = user + (f":{password}" if password else "")
    scheme, slashes, location = parts.bare.partition("//")
    left_out = tuple(dict.fromkeys(each.partition("=")[0] for each in parts.query))
    address = f"{scheme}{slashes}{caller}{'@' if caller else ''}{location}"
    return DraftedAddress(address, (*variables,), left_out)

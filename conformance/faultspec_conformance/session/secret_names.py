"""Whether a value is a secret, by its name and the names above it."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from faultspec.exchange.sensitive import fold_member
from faultspec_conformance.config import SECRET_NAME, SECRET_NAMES

#: Characters of the longest name that is split into its steps.
_NAME = 200

#: Names that are kept: traffic repeats a few.
_KEPT = 4096

#: Names of members, folded, that name another member of the same object; and of that member: pairs,
#: and what frameworks report of an input that they refuse.
_NAMING = frozenset(
    {
        *("name", "key", "field", "fieldname", "param", "parameter", "path", "property", "k"),
        *("propertyname", "attribute", "header", "variable", "loc", "n"),
    }
)
_NAMED = frozenset(
    {
        *("value", "values", "val", "v", "input", "content"),
        *("rejectedvalue", "attemptedvalue", "invalidvalue", "stringvalue"),
    }
)

#: Names, folded, of a member that is the value of the member above it.
_WRAPPING = frozenset({"value", "values", "val", "text", "plain", "plaintext", "raw", "s", "_"})

#: Names, folded, of texts that speak about a member. With a blank they are prose.
_PROSE = frozenset(
    {
        *("message", "messages", "msg", "description", "title", "detail", "details", "reason"),
        *("summary", "hint", "error", "errors", "help", "label", "comment"),
    }
)

#: Texts without a secret: words such as a type, names of several words, short numbers, dates and
#: times.
_ORDINARY = re.compile(
    r"[A-Za-z]{1,16}|[a-z]{1,16}(?:_[a-z]{1,16}){1,3}|[A-Z]{1,16}(?:_[A-Z]{1,16}){1,3}"
    r"|[\d.,:+-]{1,10}|v\d+|\d{4}-\d\d-\d\d[T ][\d:.]{4,20}(?:Z|[+-]\d\d:?\d\d)?"
)

#: What stands beside a secret below its name: an address, a reference, a region or a scope.
_READABLE = re.compile(
    r"https?://[^\s@?]{1,300}|#/\S{1,300}|(?:/[\w.{}-]{1,40}){2,8}"
    r"|[a-z]{1,16}(?:[.:/-](?:[a-z]{1,16}|\d{1,4})){1,5}"
)

#: Whether the taxonomy declares a member with this name as sensitive.
Hides = Callable[[str], bool]


def hide_nothing(_: str) -> bool:
    """Whether a taxonomy that declares nothing hides a member."""
    return False


_fold = lru_cache(maxsize=_KEPT)(fold_member)


def is_ordinary(value: str) -> bool:
    """Whether a value is a word, a short number or a time, which texts have by chance."""
    return _ORDINARY.fullmatch(value) is not None


def is_readable(value: str) -> bool:
    """Whether a value beside secrets is ordinary, or says where something is."""
    return is_ordinary(value.strip()) or _READABLE.fullmatch(value) is not None


def given_name(members: Mapping[str, object]) -> tuple[str, ...]:
    """The name that one member gives to another, if it is that of a secret."""
    for name, value in members.items():
        if is_naming_member(name):
            last = value[-1] if isinstance(value, list) and value else value
            if isinstance(last, str) and "/" not in last and is_secret_name(split_name(last)):
                return split_name(last)
    return ()


def split_name(name: str) -> tuple[str, ...]:
    """The steps of a name in brackets, such as those of `user[password]`. Of a name with dots the
    last counts: others are codes, such as `password.too_short`.
    """
    return _split_shown(name[-_NAME:])


@lru_cache(maxsize=_KEPT)
def _split_shown(shown: str) -> tuple[str, ...]:
    if "[" in shown:
        return tuple(re.findall(r"[^\[\].]+", shown))
    steps = [step for step in shown.split(".") if step and not is_wrapping(step)]
    return (*steps[-1:],) or (shown,)


def split_member(name: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """The steps of a member's name below the name that another member gives to it."""
    return (*given, name[-_NAME:]) if _fold(name[:_NAME]) in _NAMED else split_name(name)


def is_naming_member(name: str) -> bool:
    """Whether the value of a member with this name may name another member."""
    return _fold(name[:_NAME]) in _NAMING


def is_wrapping(name: str) -> bool:
    """Whether a name does not change what a value is: a number in a list, or `value`."""
    return name.isdigit() or _fold(name) in _WRAPPING


@lru_cache(maxsize=_KEPT)
def is_secret_name(names: tuple[str, ...]) -> bool:
    """Whether a value is a secret by its own name, of which the one above it may be a part."""
    own = [name for name in names if not is_wrapping(name)][-2:]
    if not own or SECRET_NAME.search(own[-1]):
        return bool(own)
    joined = SECRET_NAME.search("_".join(own))
    return joined is not None and joined.start() < len(own[0]) < joined.end() - 1


@lru_cache(maxsize=_KEPT)
def is_below_secret(names: tuple[str, ...]) -> bool:
    """Whether a value is a secret by its name, or may be one by a name above it."""
    return is_secret_name(names) or any(
        SECRET_NAME.search(name) or SECRET_NAMES.search(name) for name in names
    )


def is_secret_value(names: tuple[str, ...], value: str | float) -> bool:
    """Whether a value is a secret by its own name, or by one above it and by what it is."""
    if not names or is_secret_name(names):
        return bool(names) and value != ""
    if not isinstance(value, str) or not is_below_secret(names):
        return False
    if is_readable(value):
        return False
    return not (_fold(names[-1]) in _PROSE and " " in value)

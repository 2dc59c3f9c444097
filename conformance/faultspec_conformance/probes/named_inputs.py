"""Errors that name an input: where exactly one is wrong, it must be that one.

Any notation names it: a JSON Pointer, a dotted path, a path in pieces, or the last name alone. A
name that contains the input, such as `body`, is not wrong.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faultspec.exchange.finding import Level
from faultspec_conformance.results.model import Outcome
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import (
    INVALID_INPUT,
    Observation,
    failed,
    not_exercised,
    passed,
)
from faultspec_conformance.session.requests import RequestSpec

_FIELD = "details/field"

#: Members of an error that name an input, without case and punctuation.
_NAMING = re.compile(
    r"(invalid)?(field|member|property|attribute|param|parameter|argument)(name|s)?"
    r"|(json)?pointer|loc|instancepath"
)

#: Members that may name an input or something else, such as the path of the request.
_PERHAPS = frozenset({"path", "name", "location", "key", "source", "target"})

#: Members whose value is an object with the inputs as its members.
_MAPS = frozenset({"errors", "fields", "fielderrors", "invalidfields", "violations"})

#: Names of what contains the inputs of a request.
_CONTAINERS = frozenset(
    {
        *("body", "request", "requestbody", "payload", "data", "input", "json", "root", "query"),
        *("params", "parameters", "attributes", "object", "document", "querystring", "form"),
    }
)

#: A text that is a name or a path of names, and not a sentence.
_NAME = re.compile(r"[\w$#/.\[\]\"'~-]{1,200}")


@dataclass(frozen=True, slots=True)
class WrongInput:
    """The one input of a request that is wrong.

    ``known``: the names of all inputs. ``what``: the mistake in words. ``above``: the names of the
    members that contain it.
    """

    name: str
    known: frozenset[str]
    what: str
    above: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Mention:
    """A name in an error, in its pieces. ``sure``: it is the name of an input."""

    pieces: tuple[str, ...]
    text: str
    sure: bool


def check_named_input(
    session: HttpSession, answer: Observation, wrong: WrongInput, valid: RequestSpec
) -> Iterator[Outcome]:
    """Check which input a refusal names. ``valid``: the request without the mistake, which shows
    whether something else is wrong too.
    """
    if answer.status not in INVALID_INPUT:
        return
    mentions = [
        mention
        for mention in _mentions(answer.json)
        if mention.sure or _is_one_of(mention, wrong.known)
    ]
    subject = f"the refusal ({answer}) of {wrong.what}"
    containers = _CONTAINERS | set(map(_plain, wrong.above))
    if not mentions:
        yield not_exercised(_FIELD, f"{subject} names no input")
    elif any(_plain(wrong.name) in mention.pieces for mention in mentions):
        yield passed(_FIELD)
    elif any(containers.issuperset(mention.pieces) for mention in mentions):
        yield not_exercised(_FIELD, f"{subject} names what contains the input")
    else:
        mention = mentions[0]
        accepted = session.call(valid)
        if not accepted.ok:
            reason = f"without the mistake, the service answered {accepted}"
            yield not_exercised(_FIELD, f"{subject} names `{mention.text}`; {reason}")
            return
        # A name that the document does not have may be a translation.
        certain = any(_is_one_of(one, wrong.known) for one in mentions)
        message = f"{subject} names `{mention.text}`; expected `{wrong.name}`"
        level: Level = "error" if certain else "warning"
        yield failed(_FIELD, message, accepted, answer, level=level)


def names_another_input(answer: Observation, name: str, known: frozenset[str]) -> bool:
    """Whether a refusal names inputs, and not this one nor what contains it. ``known``: the names
    of all inputs.
    """
    mentions = [one for one in _mentions(answer.json) if one.sure or _is_one_of(one, known)]
    return bool(mentions) and not any(
        _names(one, _plain(name)) or _CONTAINERS.issuperset(one.pieces) for one in mentions
    )


def _names(mention: _Mention, name: str) -> bool:
    """Whether a mention has a name among its pieces, or as its last ones together: the name may
    have marks of a notation itself, such as `page[size]`.
    """
    pieces = mention.pieces
    ends = ("".join(pieces[start:]) for start in range(len(pieces)))
    return name in pieces or name in ends


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _is_one_of(mention: _Mention, known: frozenset[str]) -> bool:
    names = set(map(_plain, known))
    return any("".join(mention.pieces[start:]) in names for start in range(len(mention.pieces)))


def _mentions(value: object) -> Iterator[_Mention]:
    """Yield the names of inputs in an error."""
    if isinstance(value, list):
        for item in value:
            yield from _mentions(item)
    for key, member in value.items() if isinstance(value, dict) else ():
        name = _plain(str(key))
        sure = _NAMING.fullmatch(name) is not None
        if name in _MAPS and isinstance(member, dict):
            yield from (_mention(inner, sure=False) for inner in member)
        if isinstance(member, str) and (sure or name in _PERHAPS) and _NAME.fullmatch(member):
            yield _mention(member, sure=sure)
        elif sure and isinstance(member, list) and _are_names(member):
            pieces = [str(piece) for piece in member]
            # A path in pieces, or several names.
            in_pieces = name == "loc" or pieces[0].lower() in _CONTAINERS
            for text in ["/".join(pieces)] if in_pieces else pieces:
                yield _mention(text, sure=True)
        else:
            yield from _mentions(member)


def _are_names(values: list[object]) -> bool:
    return bool(values) and all(isinstance(value, str | int) for value in values)


def _mention(text: str, *, sure: bool) -> _Mention:
    pieces = [_plain(piece) for piece in re.split(r"[/.\[\]#$\"']+|~1|~0", text)]
    named = (piece for piece in pieces if piece and not piece.isdigit())
    return _Mention(tuple(named), text, sure)

"""Long texts in a creation: what a read shows of them."""

import re
from collections.abc import Iterator, Mapping

from faultspec.openapi.nodes import Json
from faultspec_conformance.probes.effects import find_representation
from faultspec_conformance.session import sampling
from faultspec_conformance.session.http import HttpSession
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.parameters import referred_kind
from faultspec_conformance.session.resources import ResourceKind

#: Characters of a text whose schema has no `maxLength`: more than a column of 255 holds.
_LONG = 300

#: Characters of the longest text that is sent. A text with a smaller `maxLength` has that length.
_LONGEST = 4_000

#: Characters. A member with a smaller `maxLength` is a short code rather than a text.
_TEXT = 40

#: Names of members that hold prose, if their schema has no `maxLength`.
_PROSE = re.compile(
    r"title|label|notes?|texts?|remarks?|comments?|descriptions?|summary|messages?|content|body",
    re.IGNORECASE,
)

#: Fills a text up to its length.
_MORE = " and more of the same"

#: Characters at the end of a text that was cut on purpose.
_DOTS = ". …"


def with_long_texts(session: HttpSession, kind: ResourceKind, body: object) -> object:
    """Return the body of a creation with its free texts, and those that it leaves out, as long as
    the document allows.
    """
    if not isinstance(body, dict):
        return body
    return {**body, **dict(_long_texts(session, kind, body))}


def _long_texts(
    session: HttpSession, kind: ResourceKind, body: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    create, document = kind.operation("create"), session.description.document
    schema = create.body.schema if create is not None and create.body is not None else {}
    properties = sampling.properties_of(sampling.merge_all_of(document, schema))
    for name in sorted(sampling.free_texts(document, schema)):
        node = sampling.only_branch(document, properties[name])
        short = body.get(name, "")
        length = _length(name, node)
        if name in kind.config.unique or referred_kind(session, name) is not None:
            continue
        if isinstance(short, str) and length is not None and not node.get("writeOnly"):
            text = (short + _MORE * length)[:length].strip().ljust(length, "x")
            if not sampling.invalid_members(document, node, text):
                yield name, text


def _length(name: str, node: Json) -> int | None:
    """Return how long a text is sent; None if the member is not known to hold a long text."""
    most = node.get("maxLength")
    if isinstance(most, int):
        return min(most, _LONGEST) if most >= _TEXT else None
    return _LONG if _PROSE.fullmatch(name) else None


def find_cut_text(sent: object, read: Observation) -> str | None:
    """Return the name of a member of which a read shows the beginning alone, or None."""
    if not isinstance(sent, dict):
        return None
    shown = find_representation(read, sent)
    for name, value in sent.items():
        now = shown.get(name)
        if not isinstance(value, str) or not isinstance(now, str) or len(value) < _TEXT:
            continue
        beginning = now.rstrip(_DOTS)
        if beginning and len(now) < len(value) and value.startswith(beginning):
            return str(name)
    return None

"""Rules for headers, from the headers of the responses."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Data, Report, registry
from faultspec.importers.bodies import BodyFamily, ImportedHeader
from faultspec.importers.envelopes import one_or_all
from faultspec.language.formats import FORMATS
from faultspec.language.wire import HEADER_FORMATS
from faultspec.openapi.pointers import child
from faultspec.runtime import ids
from faultspec.targets.openapi import HEADER_PATTERNS

_FORMAT_OF: Mapping[object, str] = {
    pattern: name for name, pattern in reversed([*ids.PATTERNS.items(), *HEADER_PATTERNS.items()])
}


class _Response(NamedTuple):
    """A response with its headers, as far as a rule can name its status."""

    status: str
    family: BodyFamily
    headers: Mapping[str, ImportedHeader]


def header_rules(families: Sequence[BodyFamily], components: Sequence[str], lose: Report) -> Data:
    """The rules by the names of headers.

    ``components``: the pointers of the header components, in order.
    """
    responses = []
    for family in families:
        for status, listed in family.headers.items():
            if status != "default":
                responses += [_Response(status, family, headers) for headers in listed]
    for family in families:
        for headers in family.headers.get("default", ()):
            for header in headers.values():
                lose(header.pointer, "header", "it belongs to `default`, and a rule needs a status")
    found: Data = {}
    for name in _names(responses, components):
        rules = _rules(name, responses, lose)
        if rules:
            found[name] = one_or_all(rules)
    return found


def _rules(name: str, responses: Sequence[_Response], lose: Report) -> list[Data]:
    """A rule for the statuses that require a header, and one for those that allow it."""
    rules: list[Data] = []
    for required in (True, False):
        on = _statuses(name, responses, lose, required=required)
        if not on:
            continue
        first, *others = [item.headers[name] for item in responses if name in item.headers]
        for header in others:
            if header[1:3] != first[1:3]:
                reason = "other responses have it otherwise; the first of them counts"
                lose(header.pointer, "header", reason)
        presence = {} if required else {"presence": "optional"}
        rules.append({"on": one_or_all(on), **presence, **header_rule(name, first, lose)})
    if len(rules) == 2:
        rules[1].pop("summary", None)
    return rules


def _names(responses: Sequence[_Response], components: Sequence[str]) -> list[str]:
    """The headers in the order of the document's components."""
    places = {
        name: header.pointer for response in responses for name, header in response.headers.items()
    }
    names: dict[str, list[str]] = {}
    for name, place in places.items():
        names.setdefault(place, []).append(name)
    ordered = [name for place in components for name in names.get(place, ())]
    return registry.merge_orders([ordered, *(list(response.headers) for response in responses)])


def _statuses(
    name: str, responses: Sequence[_Response], lose: Report, *, required: bool
) -> list[Any]:
    """The statuses that require (or allow) a header.

    A status class replaces its statuses if all of them agree.
    """
    having: dict[str, bool] = {}
    for status, family, headers in responses:
        has = name in headers and headers[name].required == required
        if having.setdefault(status, has) != has:
            reason = f"not every {status} treats {name} alike; here each may have it"
            lose(family.pointer, "header", reason)
            having[status] = True
    found: list[Any] = []
    for digit in dict.fromkeys(status[0] for status in sorted(having)):
        own = [status for status in sorted(having) if status[0] == digit]
        chosen = [status for status in own if having[status]]
        if chosen == own and (f"{digit}xx" in own or (digit in "45" and len(own) > 1)):
            found.append(f"{digit}xx")
        else:
            found += [int(status) if status.isdecimal() else status for status in chosen]
    return found


def header_rule(name: str, header: ImportedHeader, lose: Report) -> Data:
    """The content of a header: its format or token, and its summary."""
    rule: Data = {}
    formats = _formats(header.schema)
    match header.schema:
        case _ if formats:
            if tuple(formats) != HEADER_FORMATS.get(name.lower()):
                rule["format"] = one_or_all(formats)
        case {"type": "string", "examples": [str(token)], **rest} if not rest and token.strip():
            rule["token"] = token
        case {"type": _, "format": str(known), **rest} if not rest and known in FORMATS:
            rule["format"] = known
        case {} if header.schema not in ({"type": "string"}, {}):
            reason = "a header's schema is not carried unless it is a known format"
            lose(child(header.pointer, "schema"), "header", reason)
    return {**rule, **({"summary": header.description} if header.description else {})}


def _formats(schema: Mapping[str, Any]) -> list[str]:
    """The formats of a schema that is the pattern of a format, or a choice of such patterns."""
    if schema.get("type", "string") != "string":
        return []
    patterns = [
        choice.get("pattern") for choice in schema.get("anyOf", ()) if isinstance(choice, Mapping)
    ]
    if "pattern" in schema:
        patterns = [schema["pattern"]]
    formats = [_FORMAT_OF.get(pattern) for pattern in patterns]
    return [name for name in formats if name is not None] if all(formats) else []

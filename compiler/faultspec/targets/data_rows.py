"""Facts as JSON rows, for bindings that read them as data."""

from collections.abc import Iterable, Iterator
from typing import Any

from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code, Taxonomy
from faultspec.runtime.marks import Mark
from faultspec.targets.python import facts
from faultspec.targets.python.constructors import allowed_details, parameter_slots

Json = dict[str, Any]


def span_rows(spans: Iterable[StatusRange]) -> list[list[int]]:
    """Ranges of statuses, each with its first and its last."""
    return [[span.low, span.high] for span in spans]


def constant_row(constant: facts.Constant) -> Json:
    """A header with one value under some statuses."""
    return {"name": constant.name, "value": constant.value, "on": span_rows(constant.on)}


def mark_row(mark: Mark) -> Json:
    """Members of a body that mark an error."""
    return {"present": list(mark.present), "equal": dict(mark.equal)}


def required_header_rows(code: Code, taxonomy: Taxonomy) -> list[Json]:
    """The required headers that neither a slot nor a rule fills, with their statuses."""
    return [
        {"name": header, "on": span_rows(on)}
        for header, on in facts.required_headers(code, taxonomy).items()
    ]


def needed_slots(taxonomy: Taxonomy) -> Iterator[str]:
    """The slots that an envelope requires, that are never null, and that nothing makes."""
    found = (slot for each in taxonomy.envelopes.values() for slot in parameter_slots(each))
    yield from dict.fromkeys(found)


def derived_headers(code: Code, taxonomy: Taxonomy) -> Iterator[Json]:
    """The headers that repeat a detail: as text, as an entity tag, or as a wait in a unit."""
    details = allowed_details(code) if code.details_schema is None else {}
    for registered in taxonomy.detail_keys.values():
        member = details.get(registered.name)
        if registered.equals_header is None or member is None:
            continue
        header, types = registered.equals_header, member.schema.types
        if header.lower() == "retry-after" and {*types} <= {"number", "integer"}:
            yield {"header": header, "key": registered.name, "as": "wait"}
        elif types == ("string",):
            yield {
                "header": header,
                "key": registered.name,
                "as": "tag" if header.lower() == "etag" else "text",
            }

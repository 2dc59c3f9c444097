"""Examples of codes, read back from the examples of bodies."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from faultspec.importers import Data, Report
from faultspec.importers.bodies import CodedBody, SampledError
from faultspec.importers.envelopes import ImportedEnvelope
from faultspec.language.scope import status_range
from faultspec.runtime import shape
from faultspec.runtime.nodes import Node, slot_places

#: Slots whose values the code has, or the example beside its slots.
_NOT_MADE = frozenset(
    {
        "code",
        "message",
        "details",
        "summary",
        "status",
        "retriable",
        "boundary",
        "domain",
        "actions",
    }
)

#: The message of an example that the document does not give; its own prose may be a leak.
MADE_MESSAGE = "The request failed"

#: Texts of formats.
_TEXTS: Mapping[Any, str] = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "uri": "https://example.com/errors",
    "email": "someone@example.com",
}


class CodeUse(NamedTuple):
    """The body of a code in one envelope."""

    envelope: ImportedEnvelope
    body: CodedBody


class PlacedExample(NamedTuple):
    """An example of a code, and the places in the document that it was read from."""

    data: Data
    pointers: tuple[str, ...]


def read_examples(uses: Sequence[CodeUse], code: Data, lose: Report) -> list[PlacedExample]:
    """The examples of a code. Examples with one number in several envelopes are one example."""
    found: dict[int, PlacedExample] = {}
    for use in uses:
        samples = use.body.samples
        numbers = {sample.number for sample in samples}
        free = iter([n for n in range(1, 2 * len(samples) + 1) if n not in numbers])
        for sample in samples:
            number = sample.number or next(free)
            data = _example(use, sample, code, lose)
            if data is None:
                continue
            known, pointers = found.get(number, PlacedExample({}, ()))
            slots = {**known.get("slots", {}), **data.get("slots", {})}
            merged = {**known, **data, **({"slots": slots} if slots else {})}
            found[number] = PlacedExample(merged, (*pointers, sample.pointer))
    plain = {"message": code["summary"]}
    return [
        PlacedExample(example.data or plain, example.pointers)
        for _, example in sorted(found.items())
    ]


def shown_status(use: CodeUse, sample: SampledError) -> object:
    """The status in the body of an example."""
    return shape.extract(use.envelope.shape, sample.value).slots.get("status")


def _example(use: CodeUse, sample: SampledError, code: Data, lose: Report) -> Data | None:
    """The example as the language writes it; None if it does not fit the envelope."""
    read = shape.extract(use.envelope.shape, sample.value)
    if not read.fits:
        lose(sample.pointer, "example", "it does not fit the schema of its own response")
        return None
    for place in read.unexpected:
        lose(f"{sample.pointer}{place}", "example", "no schema of the response has it")
    if read.more:
        lose(sample.pointer, "example", "only the first error of a list is kept")
    slots = dict(read.slots)
    example: Data = {}
    if sample.summary not in (None, code["summary"]):
        example["summary"] = sample.summary
    message = slots.pop("message", None)
    if isinstance(message, str) and message:
        if message != code["summary"]:
            example["message"] = message
    elif message is not None:
        slots["message"] = message
    details = slots.pop("details", None)
    if isinstance(details, list) and len(details) == 1 and _lists_details(use.envelope):
        details = details[0]
    if isinstance(details, dict):
        example["details"] = details
    elif details is not None:
        slots["details"] = details
    example |= _status(slots, code)
    decided = _decided_slots(use.body, code)
    rest = {
        slot: value
        for slot, value in slots.items()
        if slot not in decided or decided[slot] != value
    }
    return {**example, **({"slots": rest} if rest else {})}


def _status(slots: dict[str, Any], code: Data) -> Data:
    """The status of an example, unless it is the code's default.

    Statuses of the code are taken out of the slots.
    """
    statuses = code["http"] if isinstance(code["http"], list) else [code["http"]]
    status = slots.get("status")
    default = None if statuses[0] is None else status_range(str(statuses[0])).low
    if status == default:
        slots.pop("status", None)
    elif isinstance(status, int) and any(status in status_range(str(span)) for span in statuses):
        return {"status": slots.pop("status")}
    return {}


def _decided_slots(body: CodedBody, code: Data) -> Data:
    """The values of the slots that the code decides, so that an example need not give them."""
    boundary, retriable = code.get("boundary"), code.get("retriable", False)
    flag = {} if retriable == "caller" else {"retriable": retriable is True}
    return {
        **{slot: terms[0] for slot, terms in code.get("facts", {}).items()},
        "code": body.wire,
        "summary": code["summary"],
        "boundary": boundary[0] if isinstance(boundary, list) else boundary,
        "domain": code.get("domain"),
        **flag,
    }


def _lists_details(envelope: ImportedEnvelope) -> bool:
    """Whether the envelope has a list of details."""
    return bool(envelope.data.get("fields", {}).get("details", {}).get("type") == "array")


def make_example(picture: Node, fields: Data, message: str) -> Data:
    """An example with a value for each required slot of a shape."""
    slots = {
        slot: make_value(fields.get(slot, {}))
        for slot, places in slot_places(picture).items()
        if slot not in _NOT_MADE and any(place.required for place in places)
    }
    return {"message": message, **({"slots": slots} if slots else {})}


def make_value(data: Data) -> Any:
    """A value of a simple schema; the language drops the example if it does not fit."""
    if data.get("enum"):
        return data["enum"][0]
    types = data.get("type", "string")
    kind = types if isinstance(types, str) else types[0]
    match kind:
        case "object":
            members = data.get("properties", {})
            return {
                name: make_value(member)
                for name, member in members.items()
                if not name.endswith("?")
            }
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return data.get("minimum", 0)
        case "null":
            return None
    return _TEXTS.get(data.get("format", ""), "text".ljust(data.get("minLength", 0), "x"))

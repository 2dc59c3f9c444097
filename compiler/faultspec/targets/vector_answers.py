"""The answers of the vectors: every declared code, lists of errors, and what is in no envelope."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from faultspec.exchange.body import replace_value
from faultspec.language.model import Code, Envelope, Example, Taxonomy
from faultspec.runtime import shape as shapes
from faultspec.runtime.places import sent_headers
from faultspec.runtime.pointers import resolve
from faultspec.targets import openapi
from faultspec.targets import schema as schemas
from faultspec.targets.python import facts
from faultspec.targets.python.wire import header_of

#: The value of a Retry-After that a code requires: no base of a usual policy.
_WAIT = "7"

#: A code that no taxonomy is likely to declare.
_UNDECLARED = "faultspec_vectors_undeclared"

#: Bodies that are in no envelope, by name.
_HOSTILE: Mapping[str, str] = {
    "empty": "",
    "white space": " ",
    "not JSON": "<html>Bad Gateway</html>",
    "cut off": '{"code":',
    "two values": "{} {}",
    "null": "null",
    "a boolean": "true",
    "a number": "17",
    "a text": '"code"',
    "an empty list": "[]",
    "an empty object": "{}",
    "a list of objects": '[{"code": 1}]',
    "other members": '{"error": {"reason": [{"nested": {}}]}, "ok": false}',
    "deep": "[" * 100 + "]" * 100,
}

#: What may follow the code in a header.
_ENDS = (":", ":https://example.com/", ";q=1", " ", ", other")

#: Values of a header that has a slot. The last is longer than patterns are matched with.
_TEXTS = ("", " ", ":", "7", "undeclared", "x" * 4097)

#: Statuses that may decide a code: those of common codes, fallbacks, and no error.
_DECIDING = (*range(400, 432), 451, 499, *range(500, 512), 599, 200, 302)

#: Values in the place of the status of one of several errors.
_STATUSES: Sequence[object] = ("418", "418 ", "099", "600", "\u0664\u0661\u0668", 418, 418.0, -1)

#: Values in the place of a slot that are of another type.
_WRONG: Sequence[object] = (None, True, 1.5, [], {}, {"a": [1]})


class WireAnswer(NamedTuple):
    """An answer. ``data``: its body, decoded; ``...`` if it is no JSON. ``envelope``: that in which
    it was rendered, None if a value in it is wrong.
    """

    name: str
    text: str
    data: object
    status: int | None
    headers: Mapping[str, str]
    operation: str | None = None
    envelope: Envelope | None = None


def wire_answers(taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    """Answers in the envelopes of a taxonomy, then those that are in none or have wrong values."""
    for envelope in taxonomy.envelopes.values():
        yield from _declared_answers(envelope, taxonomy)
        yield from _lists_of_codes(envelope, taxonomy)
    yield from _hostile()
    for envelope in taxonomy.envelopes.values():
        yield from _wrong_types(envelope, taxonomy)
        yield from _removed_answers(envelope, taxonomy)
        yield from _wrong_lists(envelope, taxonomy)
        yield from _other_places(envelope, taxonomy)


def _declared_answers(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    for operation, code in schemas.carried_codes(taxonomy, envelope.name):
        for number, example, _ in openapi.bodies(envelope, code, taxonomy):
            slots = _slots(envelope, code, example, taxonomy)
            body = shapes.render(envelope.sent, slots)
            status = example.status or code.http.default
            label = f"{operation}.{code.name}" if operation else code.name
            yield WireAnswer(
                name=f"{envelope.name}: {label}{'' if number == 1 else f' {number}'}",
                text=_text(body),
                data=body,
                status=status,
                headers={
                    **_headers([(code, status)], envelope, taxonomy, status=status, body=body),
                    **dict(sent_headers(envelope.places, slots)),
                },
                operation=operation,
                envelope=envelope,
            )


class _ListedError(NamedTuple):
    """An error that a list may have, with the values of its slots."""

    operation: str | None
    code: Code
    slots: Mapping[str, object]


def _lists_of_codes(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    """Two errors in one answer: each code and the next, of the same operation."""
    for _, group in groupby(_listed_errors(envelope, taxonomy), key=itemgetter(0)):
        errors = list(group)
        for first, second in zip(errors, [*errors[1:], errors[0]], strict=True):
            body = shapes.render(envelope.sent, first.slots, [second.slots])
            yield _list_answer(envelope, (first, second), body, taxonomy)


def _list_answer(
    envelope: Envelope, errors: Sequence[_ListedError], body: object, taxonomy: Taxonomy
) -> WireAnswer:
    read = envelope.extract(body)
    written = [own_status(slots, None) for slots in (read.slots, *(o.slots for o in read.others))]
    usual = [error.code.http.default or 500 for error in errors]
    statuses = [each or default for each, default in zip(written, usual, strict=True)]
    status = common_status(statuses)
    carried = [each or status for each in written]
    codes = [(error.code, own) for error, own in zip(errors, carried, strict=True)]
    return WireAnswer(
        name=f"{envelope.name}: {' and '.join(error.code.name for error in errors)}",
        text=_text(body),
        data=body,
        status=status,
        headers={
            **_headers(codes, envelope, taxonomy, status=status, body=body),
            **dict(sent_headers(envelope.places, errors[0].slots)),
        },
        operation=errors[0].operation,
        envelope=envelope,
    )


def _listed_errors(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[_ListedError]:
    """The first example of each code, by operation; none if the envelope has one error."""
    if _list_pointer(envelope) is None:
        return
    for operation, code in schemas.carried_codes(taxonomy, envelope.name):
        for _, example, _ in openapi.bodies(envelope, code, taxonomy)[:1]:
            yield _ListedError(operation, code, _slots(envelope, code, example, taxonomy))


def _slots(
    envelope: Envelope, code: Code, example: Example, taxonomy: Taxonomy
) -> Mapping[str, object]:
    """The slots for an example of a code, with the ids that bindings make where it has none."""
    made = {
        slot: openapi.sample_error(field.schema, taxonomy)
        for slot, field in envelope.fields.items()
        if field.echo
    }
    return made | openapi.slots(envelope, code, example, taxonomy)


def _examples(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[Mapping[str, object]]:
    """The slots of every example that fills the envelope."""
    for _, code in schemas.carried_codes(taxonomy, envelope.name):
        for _, example, _ in openapi.bodies(envelope, code, taxonomy):
            yield _slots(envelope, code, example, taxonomy)


def _list_pointer(envelope: Envelope) -> str | None:
    """The place of the list of errors in a body with one of them."""
    places = shapes.walk(envelope.shape)
    return next((place.path for place in places if shapes.lists_errors(place.node)), None)


def common_status(statuses: Sequence[int]) -> int:
    """The status of an answer with several errors (JSON:API 1.1)."""
    if len(set(statuses)) == 1:
        return statuses[0]
    return 400 if all(status < 500 for status in statuses) else 500


def own_status(slots: Mapping[str, object], status: int | None) -> int | None:
    """The status of one of several errors: its own, else that of the answer."""
    value = slots.get("status")
    if isinstance(value, str) and re.fullmatch("[1-5][0-9]{2}", value):
        return int(value)
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return whole if isinstance(whole, int) and not isinstance(whole, bool) else status


def _headers(
    codes: Sequence[tuple[Code, int | None]],
    envelope: Envelope,
    taxonomy: Taxonomy,
    *,
    status: int | None,
    body: object,
) -> dict[str, str]:
    """The headers of an answer with these codes, each under its status; the first code counts."""
    found = {"Content-Type": envelope.media_types[0]}
    constants = [(constant, status) for constant in facts.constants_of_all(taxonomy)]
    for code, own in reversed(codes):
        constants += [(constant, own) for constant in facts.constants_of_code(code, taxonomy)]
    for constant, under in constants:
        if any((under or 500) in span for span in constant.on):
            found = {name: text for name, text in found.items() if not _same(name, constant.name)}
            found |= {} if constant.value is None else {constant.name: constant.value}
    if any(_waits(code, own, taxonomy) for code, own in codes):
        found["Retry-After"] = _WAIT
    slots = envelope.extract(body).slots
    for slot in envelope.slots:
        header = header_of(slot, taxonomy.field_of(slot), taxonomy)
        if header is not None and isinstance(slots.get(slot), str):
            found[header] = str(slots[slot])
    return found


def _same(name: str, other: str) -> bool:
    return name.lower() == other.lower()


def _waits(code: Code, status: int | None, taxonomy: Taxonomy) -> bool:
    """Whether a code requires a Retry-After that has no constant value."""
    return any(
        rule.presence == "required" and rule.constant is None and _same(rule.name, "retry-after")
        for rule in (*taxonomy.headers, *code.headers)
        if rule.applies(code.name, status)
    )


def _hostile() -> Iterator[WireAnswer]:
    for name, text in _HOSTILE.items():
        try:
            data: object = json.loads(text)
        except ValueError:
            data = ...
        yield WireAnswer(
            name=f"hostile: {name}",
            text=text,
            data=data,
            status=502,
            headers={"Content-Type": "text/html"},
        )


def _wrong_types(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    """The first example of an envelope with values of other types in its slots."""
    slots = next(_examples(envelope, taxonomy), None)
    if slots is None:
        return
    changes: list[tuple[str, object]] = [
        ("code", _UNDECLARED),
        ("code", f"{slots['code']} "),
        ("code", ""),
    ]
    changes += [(slot, wrong) for slot in envelope.slots for wrong in _WRONG]
    for slot, wrong in changes:
        try:
            body = shapes.render(envelope.sent, {**slots, slot: wrong})
        except ValueError:
            continue  # the slot is inside a text, or is spread
        name = f"{envelope.name}: {slot} is {json.dumps(wrong)}"
        yield _wrong_answer(name, body)


def _removed_answers(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    for operation, code, _ in schemas.removed_codes(taxonomy):
        for _, _, body in openapi.bodies(envelope, code, taxonomy):
            name = f"{envelope.name}: removed {code.name}"
            yield WireAnswer(
                name=name,
                text=_text(body),
                data=body,
                status=400,
                headers={},
                operation=operation,
            )


def _wrong_lists(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    """Lists of errors with items that are none, and with wrong values in the second of two."""
    pointer = _list_pointer(envelope)
    errors = list(_listed_errors(envelope, taxonomy))
    if pointer is None or not errors:
        return
    first = errors[0].slots
    body = shapes.render(envelope.sent, first, [errors[-1].slots])
    items = resolve(body, pointer)[1]
    for name, value in _lists_of(items if isinstance(items, list) else ()):
        yield _wrong_answer(f"{envelope.name}: {name}", replace_value(body, pointer, value))
    removed = [("code", code.wire) for _, code, _ in schemas.removed_codes(taxonomy)]
    changes = [
        *(("code", value) for value in (_UNDECLARED, f"{first['code']} ", "")),
        *removed,
        *(("status", value) for value in _STATUSES),
        *((slot, value) for slot in envelope.slots for value in _WRONG),
    ]
    for slot, wrong in changes:
        try:
            body = shapes.render(envelope.sent, first, [{**errors[-1].slots, slot: wrong}])
        except ValueError:
            continue  # the slot is inside a text, or is spread
        yield _wrong_answer(f"{envelope.name}: second {slot} is {json.dumps(wrong)}", body)


def _lists_of(items: Sequence[object]) -> Iterator[tuple[str, object]]:
    """Values in the place of a list with two errors."""
    first, second = items
    yield "no list", {"0": first}
    yield "an empty list", []
    yield "three errors", [first, second, first]
    for garbage in (None, 17, "code", [], {}, {"unexpected": {"code": "x"}}, [first]):
        yield f"{json.dumps(garbage)} before an error", [garbage, second]
        yield f"{json.dumps(garbage)} behind an error", [first, garbage]
    for which, item in (("first", first), ("second", second)):
        members: Mapping[str, object] = item if isinstance(item, Mapping) else {}
        for name in members:
            rest = {key: each for key, each in members.items() if key != name}
            yield f"the {which} without {name}", [rest, second] if item is first else [first, rest]


def _other_places(envelope: Envelope, taxonomy: Taxonomy) -> Iterator[WireAnswer]:
    """The first example of an envelope with other values in the headers that have its slots, and
    under every status if that decides the code, for each operation.
    """
    slots = next(_examples(envelope, taxonomy), None)
    if slots is None or not envelope.places:
        return
    body = shapes.render(envelope.sent, slots)
    answer = _wrong_answer(f"{envelope.name}: no header", body)
    yield answer
    headers = [
        place.at for own in envelope.places.values() for place in own if place.kind == "header"
    ]
    codes = [code for _, code in schemas.carried_codes(taxonomy, envelope.name)]
    wires = [str(code.wire_in(envelope)) for code in codes[:3]]
    for header in dict.fromkeys(headers):
        for value in (*wires, *(f"{wires[0]}{end}" for end in _ENDS), *_TEXTS):
            name = f"{envelope.name}: {header} is {json.dumps(value[:40])}"
            yield answer._replace(name=name, headers={header: value})
    if envelope.deciding_place is not None:
        for operation in (None, *taxonomy.operations):
            for status in _DECIDING:
                name = f"{envelope.name}: {operation or 'any operation'} under {status}"
                yield answer._replace(name=name, status=status, operation=operation)


def _wrong_answer(name: str, body: object) -> WireAnswer:
    return WireAnswer(
        name=name, text=_text(body), data=body, status=400, headers={"Retry-After": "-1"}
    )


def _text(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))

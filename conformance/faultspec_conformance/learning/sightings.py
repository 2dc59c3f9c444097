"""The sentences about what a first look saw."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from faultspec_conformance.learning.answers import MOST_VALUES, BodyShape, ErrorAnswer

#: Operations that a sentence names.
_NAMED = 3


def describe_errors(
    answers: Sequence[ErrorAnswer], shapes: Sequence[BodyShape], *, judged: bool = False
) -> Iterator[str]:
    """The statuses, the media types and the shapes of the observed errors. ``judged``: whether all
    errors are judged by the first shape.
    """
    if not answers:
        yield "the service answered no error with a body"
        return
    statuses = ", ".join(map(str, sorted({answer.status for answer in answers})))
    yield f"observed {len(answers)} errors with the statuses {statuses}"
    large = [answer for answer in answers if answer.too_large]
    if large:
        yield (
            f"no shape is learned from {len(large)} of them, of more than {MOST_VALUES} values; "
            f"{_places(large)}"
        )
    others = [
        answer
        for answer in answers
        if not answer.too_large and not isinstance(answer.body, Mapping)
    ]
    if others:
        types = sorted({answer.media_type or "no media type" for answer in others})
        yield f"{len(others)} of them are no JSON object: {', '.join(types)}; {_places(others)}"
    for number, shape in enumerate(shapes, 1):
        which = (
            "the errors have one shape"
            if len(shapes) == 1
            else (
                f"shape {number} of {len(shapes)}"
                + (", by which all are judged" if judged and number == 1 else "")
            )
        )
        yield f"{which}: {draw_shape(shape.schema)}; {_places(shape.answers)}"


def draw_shape(schema: Mapping[str, object]) -> str:
    """A shape in one line, such as ``{error: {code, message}}``."""
    match schema:
        case {"properties": Mapping() as properties}:
            members = (
                name if (inner := draw_shape(value)) == "" else f"{name}: {inner}"
                for name, value in properties.items()
            )
            return "{" + ", ".join(members) + "}"
        case {"type": "array", "items": Mapping() as items}:
            return f"[{draw_shape(items)}]"
    return ""


def _places(answers: Iterable[ErrorAnswer]) -> str:
    found = dict.fromkeys(
        f"{answer.status} of {answer.operation or 'unknown routes'}" for answer in answers
    )
    named = ", ".join(list(found)[:_NAMED])
    return named if len(found) <= _NAMED else f"{named} and {len(found) - _NAMED} more"

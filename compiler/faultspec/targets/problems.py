"""The problems target: each code as a problem type of RFC 9457, and JSON Schema of the problem
object.

A type's URI is what the taxonomy's own envelope of ``application/problem+json`` writes there for
the code. Where there is no such envelope, or it writes nothing fixed, it is
``urn:problem-type:<taxonomy>:<code>`` (an operation's own code ``…:<operation>:<code>``): a name
that needs no page to be published, as RFC 9457 §3.1.1 allows. The object then has the members of
§3.1, and two extension members: ``code`` and, where the code has any, ``details``.
"""

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from faultspec.language.carriers import uses_envelope
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code, Envelope, Taxonomy
from faultspec.runtime.nodes import slot_places
from faultspec.runtime.shape import Object
from faultspec.targets import schema as schemas
from faultspec.targets.constants import constant_schema, span_schema
from faultspec.targets.json_text import Fragment
from faultspec.targets.jsonschema import DIALECT, definition
from faultspec.targets.model import Model

Json = schemas.Json

MEDIA_TYPE = "application/problem+json"

#: The members of RFC 9457 §3.1; every other one extends it.
_STANDARD = ("type", "title", "status", "detail", "instance")


class ProblemsView(NamedTuple):
    """The two documents."""

    registry: Json
    schema: Json


class ProblemType(NamedTuple):
    """A code as a problem type.

    ``body``: the JSON Schema of the problem object. ``unused``: the member of the envelope for
    details, if the code has none.
    """

    label: str
    operation: str | None
    code: Code
    type: str
    body: Json
    unused: str | None = None


def view(taxonomy: Taxonomy, model: Model) -> ProblemsView | None:
    """The documents, or None if no code travels over HTTP."""
    problems = [
        _problem(operation, code, taxonomy)
        for operation, code in schemas.live(taxonomy)
        if code.http.statuses
    ]
    if not problems:
        return None
    head = {"$comment": model.header, "title": f"{taxonomy.title}: problem types"}
    return ProblemsView(
        {**head, "mediaType": MEDIA_TYPE, "problems": [_entry(each) for each in problems]},
        {
            "$schema": DIALECT,
            **head,
            # Two codes may have one type (about:blank), and then one object may be either.
            "anyOf": [{"$ref": f"#/$defs/{each.label}"} for each in problems],
            "$defs": {each.label: each.body for each in problems},
        },
    )


def _problem(operation: str | None, code: Code, taxonomy: Taxonomy) -> ProblemType:
    label = definition(operation, code)
    envelope = _envelope(code, taxonomy)
    if envelope is not None:
        body = schemas.whole_schema(
            envelope, schemas.body_schema(envelope, code, taxonomy), taxonomy
        )
        fixed = body.get("properties", {}).get("type", {}).get("const")
        if isinstance(fixed, str):
            return ProblemType(
                label=label,
                operation=operation,
                code=code,
                type=fixed,
                body={"description": code.summary, **body},
                unused=None if _has_details(code) else _details_member(envelope),
            )
    owner = [operation] if operation is not None and taxonomy.owns(operation, code) else []
    names = [taxonomy.name, *owner, code.name]
    urn = ":".join(["urn:problem-type", *(quote(name, safe="") for name in names)])
    return ProblemType(
        label=label, operation=operation, code=code, type=urn, body=_body(urn, code, taxonomy)
    )


def _envelope(code: Code, taxonomy: Taxonomy) -> Envelope | None:
    """The first envelope of problem objects that the code may travel in."""
    return next(
        (
            envelope
            for envelope in taxonomy.envelopes.values()
            if MEDIA_TYPE in envelope.media_types
            and isinstance(envelope.shape, Object)
            and uses_envelope(code, envelope)
        ),
        None,
    )


def _has_details(code: Code) -> bool:
    return bool(code.details) or code.details_schema is not None


def _details_member(envelope: Envelope) -> str | None:
    """The member at the top of a body that has the details."""
    pointers = [place.path for place in slot_places(envelope.shape).get("details", ())]
    return next((path[1:] for path in pointers if path.count("/") == 1), None)


def _body(type: str, code: Code, taxonomy: Taxonomy) -> Json:
    details = schemas.details_schema(code, taxonomy) if _has_details(code) else None
    needed = ["details"] if schemas.needs_details(code) else []
    return {
        "description": code.summary,
        **({"deprecated": True} if code.lifecycle == "deprecated" else {}),
        "type": "object",
        "properties": {
            "type": constant_schema(type),
            # A title stays the same from one occurrence to another, but for its language (RFC 9457
            # §3.1.3).
            "title": schemas.STRING,
            "status": _any_of(code.http.statuses),
            "detail": schemas.STRING,
            "instance": _INSTANCE,
            "code": constant_schema(code.wire),
            **({} if details is None else {"details": details}),
        },
        "required": ["type", "title", "status", "code", *needed],
    }


_INSTANCE = Fragment({"type": "string", "format": "uri-reference"})


@lru_cache(maxsize=256)  # codes have their statuses in common
def _any_of(statuses: tuple[StatusRange, ...]) -> Fragment:
    return Fragment({"anyOf": [span_schema(status.low, status.high) for status in statuses]})


def _entry(problem: ProblemType) -> Json:
    """A row of the registry: the fields of RFC 9457 §4.2, and the facts of the code."""
    code = problem.code
    optional = {
        "description": code.description,
        "operation": problem.operation,
        "retriable": code.retriable.fixed,
        "since": code.since,
        "sunset": code.sunset,
        "replacedBy": code.replaced_by,
        **code.support._asdict(),
    }
    return {
        "type": problem.type,
        "title": code.summary,
        "status": code.http.default,
        "statuses": [str(status) for status in code.http.statuses],
        "code": code.wire,
        "clientAction": code.client_action,
        "lifecycle": code.lifecycle,
        **{name: value for name, value in optional.items() if value is not None},
        "extensions": [
            name
            for name in problem.body.get("properties", {})
            if name not in _STANDARD and name != problem.unused
        ],
        "schema": f"problem.schema.json#/$defs/{problem.label}",
    }

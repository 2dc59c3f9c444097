"""The body of an error as its envelope declares it, and identifiers in it."""

from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause, Requirement
from faultspec.contract.clauses.constructs import (
    ENVELOPE,
    HTTP_ENVELOPE,
    any_field,
    slot_exists,
    surface_sources,
)
from faultspec.language.model import Source, Taxonomy

JSON_BODY = ("surface/known", "envelope/json")
"""The clauses that must hold before anything inside a body is judged."""


def _envelopes(taxonomy: Taxonomy) -> tuple[Source, ...]:
    return tuple(envelope.source for envelope in taxonomy.envelopes.values())


_envelope = partial(Clause, requires=(ENVELOPE,), sources=_envelopes)
_in_body = partial(_envelope, presupposes=JSON_BODY)

CLAUSES = (
    _envelope(
        address="envelope/media-type",
        title="An error has the media type of its envelope",
        why="Clients choose their parser by Content-Type; a page of HTML breaks them.",
        occasion="An HTTP error with a body, where an envelope is declared.",
        presupposes=("surface/known",),
        reads=("surface", "header-values"),
        requires=(HTTP_ENVELOPE,),
        transports=HTTP,
    ),
    _envelope(
        address="envelope/json",
        title="The body of an error is JSON",
        why="A client that cannot parse the body cannot know what went wrong.",
        occasion="An error that can have a body, where an envelope is declared.",
        presupposes=("surface/known",),
        reads=("surface", "body"),
    ),
    _in_body(
        address="envelope/shape",
        title="The body of an error has the shape of its envelope",
        why="Clients find the code, the message and the correlation id by their place.",
        occasion="An error with a JSON body, where an envelope is declared.",
        reads=("surface", "shape"),
    ),
    _envelope(
        address="envelope/additional",
        title="The envelope has no undeclared members",
        why="An undeclared member becomes a contract the first time a client reads it.",
        occasion="An error with a JSON body, unless the envelope allows other members.",
        presupposes=(*JSON_BODY, "envelope/shape"),
        reads=("surface", "shape"),
        requires=(
            ENVELOPE,
            Requirement(
                "every envelope has `additional: allow`",
                lambda taxonomy: any(
                    envelope.additional != "allow" for envelope in taxonomy.envelopes.values()
                ),
            ),
        ),
    ),
    _in_body(
        address="envelope/types",
        title="The members of the envelope have their declared types and values",
        why="A null or a number in place of a string crashes a typed client.",
        occasion="An error with a JSON body.",
        reads=("surface", "code", "shape", "body"),
        sources=lambda taxonomy: (
            *_envelopes(taxonomy),
            *(field.source for field in taxonomy.fields()),
        ),
    ),
    _in_body(
        address="envelope/nested",
        title="An error contains no other error of the taxonomy",
        why="A layer that wraps an error hides its code, and the caller acts on the wrong one.",
        occasion="An error with a declared code.",
        presupposes=(*JSON_BODY, "envelope/shape"),
        reads=("code", "message", "detail-values"),
        needs=("code",),
    ),
    _in_body(
        address="envelope/status",
        title="The status inside the body is the status of the response",
        why="Logs and clients that read different statuses disagree on what happened.",
        occasion="An error whose envelope repeats the status.",
        reads=("surface", "status", "body"),
        requires=(HTTP_ENVELOPE, slot_exists("status")),
        transports=HTTP,
    ),
    Clause(
        address="envelope/absent-on-success",
        title="A success carries no error envelope",
        why="An error under a success status goes unnoticed.",
        occasion="A 2xx or 3xx answer with a JSON body.",
        reads=("surface", "status", "shape"),
        requires=(HTTP_ENVELOPE,),
        sources=surface_sources(lambda surface: surface.batch is None),
        transports=HTTP,
    ),
    _in_body(
        address="ids/format",
        title="Identifiers have their declared format",
        why="An id that does not fit the index cannot be searched for.",
        occasion="An error with an identifier in its envelope.",
        reads=("ids",),
        requires=(
            any_field(
                "no field of an envelope has a `format` or a `pattern`",
                lambda field: any(
                    part.format or part.pattern for part in field.schema.nested_schemas()
                ),
            ),
        ),
        sources=lambda taxonomy: (
            field.source
            for field in taxonomy.fields()
            if field.schema.format or field.schema.pattern
        ),
    ),
)

"""Answers with several outcomes: batches and streams."""

from functools import partial

from faultspec.contract.clauses.clause import HTTP, Clause
from faultspec.contract.clauses.constructs import any_surface, surface_sources

_IS_BATCH = any_surface("no surface has `items`", lambda surface: surface.batch)
_batch = partial(
    Clause,
    requires=(_IS_BATCH,),
    sources=surface_sources(lambda surface: surface.batch is not None),
    transports=HTTP,
)
_IS_STREAM = any_surface(
    "no surface has `transport: stream`", lambda surface: surface.transport == "stream"
)
_streams = surface_sources(lambda surface: surface.transport == "stream")

CLAUSES = (
    _batch(
        address="batch/mixed-only",
        title="Multi-status is for outcomes that differ",
        why="A client that reads only the status takes a failed batch for a successful one.",
        occasion="A multi-status answer with items.",
        reads=("surface", "status", "body"),
        requires=(
            _IS_BATCH,
            any_surface(
                "no surface has `mixed_only`",
                lambda surface: surface.batch is not None and surface.batch.mixed_only,
            ),
        ),
    ),
    _batch(
        address="batch/items",
        title="Each item of a batch has a status, and a failed item has an envelope",
        why="A client cannot know whether an item without a status failed.",
        occasion="A multi-status answer with items.",
        reads=("surface", "shape"),
    ),
    _batch(
        address="batch/bad-items",
        title="A batch that fails as a whole lists its bad items",
        why="The caller has to know what to fix.",
        occasion="A batch in which every item is bad.",
        reads=("sequence", "status", "detail-values"),
        requires=(any_surface("no surface has `bad_items`", lambda surface: surface.bad_items),),
        sources=surface_sources(lambda surface: surface.bad_items),
    ),
    Clause(
        address="batch/complete",
        title="A batch does not succeed as if it had stored an item that it has dropped or altered",
        why="The caller takes an item for stored that the service has dropped.",
        occasion="A batch with a good and a bad item, or of many good items; and reads of the list "
        "and of what the results name by ids.",
        reads=("sequence", "status", "body"),
        transports=HTTP,
    ),
    _batch(
        address="batch/named-items",
        title="The items that a batch reports as bad are the bad ones",
        why="The caller corrects good items and sends the bad ones again.",
        occasion="A batch of good items with bad ones among them, or of bad items.",
        reads=("sequence", "request", "status", "detail-values", "body"),
        requires=(
            any_surface(
                "no surface has `items` or `bad_items`",
                lambda surface: surface.batch is not None or surface.bad_items,
            ),
        ),
        sources=surface_sources(lambda surface: surface.batch is not None or surface.bad_items),
    ),
    Clause(
        address="stream/offset",
        title="An error in a stream gives its position",
        why="Without the position the consumer starts over or loses records.",
        occasion="An error on a stream that requires it.",
        presupposes=("code/declared",),
        reads=("surface", "details"),
        requires=(
            any_surface(
                "no surface with `transport: stream` has `requires_details`",
                lambda each: each.transport == "stream" and each.requires_details,
            ),
        ),
        sources=_streams,
        transports=HTTP,
    ),
    Clause(
        address="stream/announced",
        title="A stream that breaks ends with an error event",
        why="A stream that just ends looks complete.",
        occasion="A stream that is made to fail.",
        reads=("sequence", "body"),
        requires=(_IS_STREAM,),
        sources=_streams,
        transports=HTTP,
    ),
)

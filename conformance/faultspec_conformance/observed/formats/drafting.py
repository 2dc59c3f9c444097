"""Drafting the kind of record of a log from a sample of its lines."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from faultspec.language.line_formats import LINE_FORMATS
from faultspec.runtime.nodes import child
from faultspec_conformance.observed.formats.moments import parse_moment
from faultspec_conformance.observed.formats.record import METHODS, header_fields, parse_status
from faultspec_conformance.observed.formats.wrapping import (
    Wrapped,
    look_up,
    read_plain,
    unwrap,
)

#: Levels of a value below which records, and parts of a record, are looked for.
_DEPTH = 5

#: Values of a record that are looked at.
_VALUES = 400

#: Steps of a draft: a wrapping inside a wrapping.
_STEPS = 3

#: The duration of an event in the Elastic Common Schema. No part of a record is in nanoseconds.
_NANOSECONDS = ("/event/duration", "/event.duration")

#: The tags of lines in Kubernetes: a whole line or its end, and a part of one.
_LINE_TAGS = frozenset({"F", "P"})

_URL = re.compile(r"(?:[A-Z]{3,7} )?(?:/|https?://)\S*(?: HTTP/\S+)?")


class Role(NamedTuple):
    """A part of a record. ``names``: those it usually has, the likeliest first, of the last key of
    its pointer or of several. ``fits`` decides on a value. ``outside``: it may be in what the
    record was taken out of.
    """

    names: tuple[str, ...]
    fits: Callable[[object], bool]
    outside: bool = False


def _is_number(value: object) -> bool:
    try:
        return not isinstance(value, bool) and float(str(value)) >= 0
    except ValueError:
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_headers(value: object) -> bool:
    return bool(header_fields(value))


_ROLES: Mapping[str, Role] = {
    "status": Role(
        (
            "http.response.status_code",
            "http.status_code",
            "status_code",
            "statuscode",
            "http_status",
            "response_code",
            "response/status",
            "status",
            "sc-status",
            "code",
        ),
        lambda value: parse_status(value) is not None,
    ),
    "url": Role(
        (
            "url.path",
            "http.target",
            "http.url",
            "request_uri",
            "request/uri",
            "request/url",
            "request/path",
            "uri",
            "url",
            "path",
            "endpoint",
            "request",
            "target",
            "cs-uri-stem",
        ),
        lambda value: isinstance(value, str) and _URL.fullmatch(value) is not None,
    ),
    "method": Role(
        (
            "http.request.method",
            "http.method",
            "request_method",
            "request/method",
            "method",
            "verb",
            "cs-method",
        ),
        lambda value: isinstance(value, str) and value.upper() in METHODS,
    ),
    "route": Role(
        ("http.route", "route", "path_template", "route_template"),
        lambda value: isinstance(value, str) and value.startswith("/"),
    ),
    "milliseconds": Role(
        (
            "milliseconds",
            "duration_ms",
            "elapsed_ms",
            "latency_ms",
            "took_ms",
            "response_time_ms",
            "time_ms",
            "took",
        ),
        _is_number,
    ),
    "seconds": Role(
        ("seconds", "request_time", "duration_s", "duration", "elapsed", "latency"), _is_number
    ),
    "time": Role(
        (
            "endtimeunixnano",
            "timeunixnano",
            "@timestamp",
            "timestamp",
            "time_iso8601",
            "time_local",
            "datetime",
            "start_time",
            "time",
            "ts",
            "date",
        ),
        lambda value: parse_moment(value) is not None,
        outside=True,
    ),
    "service": Role(
        (
            "service.name",
            "service_name",
            "service/name",
            "service",
            "application",
            "app",
            "authority",
            "request/host",
            "loggroup",
            "tag",
        ),
        lambda value: _is_text(value) and value not in _LINE_TAGS,
        outside=True,
    ),
    "request.headers": Role(("request/headers", "request_headers", "req_headers"), _is_headers),
    "request.body": Role(("request/body", "request_body", "req_body"), lambda value: value != ""),
    "response.headers": Role(
        ("response/headers", "response_headers", "resp_headers", "res_headers"), _is_headers
    ),
    "response.body": Role(
        ("response/body", "response_body", "resp_body", "res_body"), lambda value: value != ""
    ),
    "slots.code": Role(
        ("error/code", "error.code", "error_code", "errorcode", "err_code", "code"), _is_text
    ),
    "slots.message": Role(
        ("error/message", "error.message", "error_message", "err_message"), _is_text
    ),
}

_NEEDED = ("status", "url")


class RecordDraft(NamedTuple):
    """A kind of record. ``pointers``: by part, such as ``response.body``. ``records``: how many of
    the sample are of the kind, of so many ``lines``.
    """

    path: tuple[str, ...]
    pointers: Mapping[str, str]
    records: int
    lines: int


def draft_record(lines: Iterable[object]) -> RecordDraft | None:
    """The kind of record that most lines have; None if none has a status and a URL.

    ``lines``: texts, and rows of tables.
    """
    sample = [line for line in lines if line]
    paths = Counter(path for line in sample for path in dict.fromkeys(_find_paths(line)))
    drafts = [
        draft
        for path, _ in paths.most_common(20)
        if (draft := _draft_along(path, sample)) is not None
    ]
    return max(drafts, key=_quality, default=None)


def _quality(draft: RecordDraft) -> tuple[int, int, int]:
    return draft.records, len(draft.pointers), -len(draft.path)


def _find_paths(line: object) -> Iterator[tuple[str, ...]]:
    """The ways from a line to what may be a record."""
    if isinstance(line, str):
        yield from _find_in_text((), line)
    elif isinstance(line, dict):
        yield ()
        yield from _find_inside((), "", line, 0)


def _find_in_text(path: tuple[str, ...], text: str) -> Iterator[tuple[str, ...]]:
    """The ways on from a path that leads to a text: it is JSON, or has a format."""
    for steps in ((), *((name,) for name in LINE_FORMATS)):
        found = next(unwrap(text, steps))
        value = found.value if isinstance(found, Wrapped) else None
        if isinstance(value, dict | list):
            yield (*path, *steps)
            if len(path) + len(steps) < _STEPS:
                yield from _find_inside((*path, *steps), "", value, 0)


def _find_inside(
    path: tuple[str, ...], pointer: str, value: object, depth: int
) -> Iterator[tuple[str, ...]]:
    """The ways into texts and lists of objects inside a value at the end of a path."""
    if depth > _DEPTH:
        return
    value = read_plain(value)
    if isinstance(value, str):
        yield from _find_in_text((*path, pointer), value)
    elif isinstance(value, dict):
        for name, item in list(value.items())[:_VALUES]:
            yield from _find_inside(path, child(pointer, str(name)), item, depth + 1)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield (*path, f"{pointer}/*")
        yield from _find_inside(path, f"{pointer}/*", value[0], depth)


def _draft_along(path: tuple[str, ...], lines: list[object]) -> RecordDraft | None:
    """The kind of the records at the end of a path."""
    records = [record for line in lines for record in _unwrap_line(line, path)]
    places = [dict(_find_around(record)) for record in records]
    places = _select_alike(places)
    pointers: dict[str, str] = {}
    for part, role in _ROLES.items():
        votes = Counter(
            pointer
            for found in places
            for pointer, value in found.items()
            if pointer not in pointers.values()
            and (role.outside or not pointer.startswith("/../"))
            and _rank(role, pointer)
            and role.fits(value)
        )
        if votes:
            pointers[part] = max(votes, key=lambda each: (_rank(role, each), votes[each]))
    if not all(part in pointers for part in _NEEDED):
        return None
    if "response.body" in pointers:
        pointers = {part: at for part, at in pointers.items() if not part.startswith("slots.")}
    if "milliseconds" in pointers:
        pointers.pop("seconds", None)
    needed = [pointers[part] for part in _NEEDED]
    count = sum(all(look_up(record, pointer)[0] for pointer in needed) for record in records)
    return RecordDraft(path, pointers, count, len(lines))


def _select_alike(places: list[dict[str, object]]) -> list[dict[str, object]]:
    """The records that have the needed parts where most have them, by the likeliest names of those:
    a log may have records of several conventions.
    """
    kinds: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for found in places:
        at = [
            max(
                (each for each, value in found.items() if _is_inside(role, each, value)),
                key=lambda each: _rank(role, each),  # called at once
                default=None,
            )
            for role in (_ROLES[part] for part in _NEEDED)
        ]
        if None not in at:
            kinds.setdefault(tuple(map(str, at)), []).append(found)
    return max(kinds.values(), key=len, default=places)


def _is_inside(role: Role, pointer: str, value: object) -> bool:
    return not pointer.startswith("/../") and bool(_rank(role, pointer)) and role.fits(value)


def _unwrap_line(line: object, path: tuple[str, ...]) -> Iterator[Wrapped]:
    for record in unwrap(line, path):
        if isinstance(record, Wrapped) and isinstance(record.value, dict):
            yield record


def _find_around(record: Wrapped) -> Iterator[tuple[str, object]]:
    """The values in a record and in what it was taken out of, by their pointers."""
    prefix, place = "", record
    yield from _find_values(prefix, place.value, 0)
    while (around := place.around) is not None:
        prefix, place = f"{prefix}/..", around
        yield from _find_values(prefix, place.value, 0)


def _find_values(pointer: str, value: object, depth: int) -> Iterator[tuple[str, object]]:
    """The values in a record by their pointers, also those of lists of pairs."""
    value = read_plain(value)
    yield pointer, value
    if depth > _DEPTH:
        return
    items: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        pairs = (item for item in value if isinstance(item, dict) and "value" in item)
        items = ((pair.get("key", pair.get("name")), pair["value"]) for pair in pairs)
    for name, item in list(items)[:_VALUES]:
        yield from _find_values(child(pointer, str(name)), item, depth + 1)


def _rank(role: Role, pointer: str) -> int:
    """How likely a pointer is that of a role by its name; 0: not at all."""
    text = pointer.lower()
    if text.endswith(_NANOSECONDS):
        return 0
    for number, name in enumerate(role.names):
        if text.endswith(f"/{name}"):
            return len(role.names) - number
    return 0

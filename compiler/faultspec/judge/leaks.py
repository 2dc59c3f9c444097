"""Search an error for secrets and internals: every string of its body, and every header."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, unquote_plus

from faultspec.contract.model import Contract
from faultspec.exchange.body import DecodedBody, read, strings
from faultspec.exchange.model import Canary, Exchange
from faultspec.judge.collector import FindingCollector, quote_pointer
from faultspec.judge.match_envelope import ErrorReading
from faultspec.judge.tool_result import mirrors
from faultspec.language.model import NOWHERE, Privacy
from faultspec.leaks import (
    JOINT,
    UPSTREAM_ADDRESS,
    UPSTREAM_TEXT,
    Leak,
    detect,
    find_planted,
)
from faultspec.leaks.personal import missing_libraries
from faultspec.runtime.nodes import child
from faultspec.runtime.pointers import resolve

_MAX_STRUCTURED = 256 * 1024
"""Bytes of a body whose strings are searched one by one; a larger one is searched as raw text."""

_MAX_CACHED = 8 * 1024
"""Bytes of a body whose texts are searched one by one, and cached if harmless."""

_MAX_REQUEST = 64 * 1024
"""Bytes of the request's body that are compared with the answer."""

_HEADERS_WITH_SECRETS = frozenset({"set-cookie"})
"""Headers whose purpose is to hand the caller a secret of its own."""

_BANNERS = frozenset({"server", "via", "x-powered-by"})
"""Headers whose purpose is to name software (RFC 9110, sections 7.6.3 and 10.2.4). Many servers add
a version by default, and a scanner of networks finds it anyway: it is a warning."""

_PASSTHROUGH_KINDS = frozenset({"stack-trace", "sql", "path", "email", "personal-data"})
"""Leaks that a member with foreign text may contain (``passthrough`` of the code)."""

_UNLESS_SENT = frozenset({"leaks/path", "leaks/private-address"})
"""Clauses about texts that an answer may contain if the request did."""

_POINTER_MEMBERS = frozenset(
    {
        *("pointer", "instance", "instancepath", "instance_path", "datapath", "schemapath", "$ref"),
        *("jsonpointer", "json_pointer", "field", "loc", "location", "schema_path"),
    }
)
"""Members whose value is a JSON Pointer or a URL (RFC 9457 section 3.1.5), not a file."""

_NAME_KINDS = frozenset({"id", "address"})
"""Planted values that name something. Headers such as Content-Location repeat them rightly, and so
may every slot but the message."""

_OF_UPSTREAMS = frozenset({UPSTREAM_TEXT, UPSTREAM_ADDRESS})
"""Planted values of an upstream that the suite plays. A member with foreign text may have them."""

_SECRET_MEMBER = re.compile(
    r"passw|pwd|passphrase|secret|token|api_?-?key|access_?key|private_?key|credential|authorization"
    r"|national_?-?id|pesel|\bssn\b|birth_?-?da|insurance_?-?n|passport|diagnos",
    re.IGNORECASE,
)
"""Names of members whose value is searched together with the name."""

Segments = Sequence["TextSegment"]


class TextSegment(NamedTuple):
    """A piece of an answer: a string of the body at ``pointer``, or the value of ``header``.

    Both None: the body as raw text.
    """

    text: str
    pointer: str | None
    header: str | None


FoundLeak = tuple[Leak, TextSegment]


def judge_leaks(
    findings: FindingCollector,
    body: DecodedBody,
    error: ErrorReading | None,
    within: tuple[str, ...] = ("",),
) -> None:
    """Search the answer's headers, and the errors in its body at the pointers ``within``."""
    privacy, exchange = findings.contract.taxonomy.privacy, findings.exchange
    if privacy is None:
        return
    findings.exercise(*_detector_clauses(privacy.detectors))
    if not exchange.forbidden and is_harmless_answer(findings.contract, exchange, body, within):
        return
    segments = _segments(exchange, body, within)
    leaks: dict[str, list[FoundLeak]] = {}
    for leak, segment in _detect(findings, segments, error, privacy):
        leaks.setdefault(f"leaks/{leak.kind}", []).append((leak, segment))
    for clause, canaries, whole, searched in _searches(exchange, privacy, segments, error):
        findings.exercise(clause)
        text, starts = _join(searched)
        for leak in find_planted(text, canaries, whole=whole):
            segment = searched[bisect_right(starts, leak.start) - 1]
            leaks.setdefault(clause, []).append((leak, segment))
    for clause, found in leaks.items():
        _report(findings, clause, found)


@lru_cache(maxsize=32)  # as many as there are taxonomies in one run, with room for tests
def _detector_clauses(detectors: tuple[str, ...]) -> tuple[str, ...]:
    idle = {"canary", *(("personal-data",) if missing_libraries() else ())}
    return tuple(f"leaks/{kind}" for kind in detectors if kind not in idle)


def is_harmless_answer(
    contract: Contract, exchange: Exchange, body: DecodedBody, within: tuple[str, ...] = ("",)
) -> bool:
    """Whether no detector finds anything in any text of the answer.

    No pattern reaches from one text into the next, so each harmless text is cached separately.
    """
    privacy, response = contract.taxonomy.privacy, exchange.response
    if privacy is None:
        return True
    if body.problem is not None or len(response.body) > _MAX_CACHED:
        return False
    texts = [value for name, value in response.headers if name.lower() not in _HEADERS_WITH_SECRETS]
    for pointer in within:
        _collect_texts(resolve(body.value, pointer)[1], texts)
    harmless = contract.cache.harmless
    new = [text for text in texts if text not in harmless]
    if not new:
        return True
    if detect(JOINT.join(new), privacy.detectors, contract.names):
        return False
    contract.cache.add_harmless(new)
    return True


def _collect_texts(value: object, texts: list[str]) -> None:
    """Add every string and key of a value; a list of strings is one text, as in ``strings``."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        texts.extend(value)
        for name, member in value.items():
            _collect_texts(_with_name(name, member), texts)
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            texts.append("\n".join(value))
        else:
            for item in value:
                _collect_texts(item, texts)


def _with_name(name: str, member: Any) -> Any:
    """The value of a member, with its name if the name is that of a secret and the value a word."""
    if not isinstance(member, str) or not _SECRET_MEMBER.search(name):
        return member
    return member if any(map(str.isspace, member)) else f'{name}: "{member}"'


def _detect(
    findings: FindingCollector, segments: Segments, error: ErrorReading | None, privacy: Privacy
) -> Iterator[FoundLeak]:
    """Yield the leaks that the detectors find, except those that ``passthrough`` allows, and texts
    that are a declared code.
    """
    searched = [
        segment
        for segment in segments
        if (segment.header or "").lower() not in _HEADERS_WITH_SECRETS
    ]
    exempt = _passthrough_places(error)
    text, starts = _join(searched)
    sent = _request_text(findings.exchange)
    for leak in _find_leaks(findings.contract, text, privacy, sent):
        segment = searched[bisect_right(starts, leak.start) - 1]
        if leak.kind in _PASSTHROUGH_KINDS and _is_below(segment.pointer, exempt):
            continue
        if _is_declared_code(findings.contract, segment.text):
            continue
        if leak.kind != "path" or not _is_pointer(findings.exchange, segment):
            yield leak, segment


def _find_leaks(contract: Contract, text: str, privacy: Privacy, sent: str) -> Iterator[Leak]:
    """The leaks of a text, but for paths and addresses that the request had."""
    known = contract.cache.known_lines
    if known is None:
        yield from detect(text, privacy.detectors, contract.names, sent)
        return
    for leak in known.detect(text, lambda part: detect(part, privacy.detectors, contract.names)):
        if not leak.is_sent(sent):
            yield leak


def _is_declared_code(contract: Contract, text: str) -> bool:
    """Whether a text is nothing but a declared code, which the service shows on purpose."""
    return any(
        numbering.declares(text)
        for numbering in (contract.numbering, *contract.numberings.values())
    )


def _is_pointer(exchange: Exchange, segment: TextSegment) -> bool:
    """Whether a text is a JSON Pointer: by its member's name, or into the body of the request."""
    text = segment.text.removeprefix("#")
    if segment.pointer is None or not text.startswith("/") or any(map(str.isspace, text)):
        return False
    if segment.pointer.rpartition("/")[2].lower() in _POINTER_MEMBERS:
        return True
    sent = read(exchange.request.body[:_MAX_REQUEST])
    return sent.problem is None and resolve(sent.value, text)[0]


def _searches(
    exchange: Exchange, privacy: Privacy, segments: Segments, error: ErrorReading | None
) -> Iterator[tuple[str, tuple[Canary, ...], bool, Segments]]:
    """The searches for planted values: the clause, the values, whether only whole tokens, where."""
    echoed = tuple(each for each in exchange.forbidden if each.kind in privacy.never_echoed)
    others = [each for each in exchange.forbidden if each not in echoed and each.kind != "tenant"]
    canaries = [each for each in others if each.kind not in _OF_UPSTREAMS]
    clause = "leaks/canary"
    if "canary" not in privacy.detectors:
        # Without that detector, only a secret that the caller sent is one by its nature.
        clause = "leaks/secret"
        canaries = [each for each in canaries if each.kind == "secret"]
        canaries = canaries if "secret" in privacy.detectors else []
    values = tuple(each for each in canaries if each.kind not in _NAME_KINDS)
    names = tuple(each for each in canaries if each.kind in _NAME_KINDS)
    if values:
        yield clause, values, False, _without_renewals(segments, values)
    if names:
        yield clause, names, True, _segments_outside_slots(segments, error)
    if echoed:
        yield "leaks/echoed-tenant", echoed, True, _without_sent(segments, exchange, echoed)
    of_upstreams = tuple(each for each in others if each.kind in _OF_UPSTREAMS)
    if of_upstreams and "canary" in privacy.detectors:
        exempt = _passthrough_places(error)
        foreign = [each for each in segments if not _is_below(each.pointer, exempt)]
        yield "leaks/canary", of_upstreams, True, foreign


def _without_renewals(segments: Segments, values: tuple[Canary, ...]) -> Segments:
    """The places in which a value is a leak: a session goes on by its own cookie."""
    if not any(each.kind == "secret" for each in values):
        return segments
    return [each for each in segments if (each.header or "").lower() not in _HEADERS_WITH_SECRETS]


def _report(findings: FindingCollector, clause: str, leaks: list[FoundLeak]) -> None:
    """Report a clause once, at its first place: one trace in three members is one mistake."""
    leaks = sorted(leaks, key=lambda found: found[0].start)
    leak, segment = leaks[0]
    # Documents ban a tenant's id from bodies; in headers it is less often forbidden.
    only_headers = clause == "leaks/echoed-tenant" and all(each.header for _, each in leaks)
    # The caller knows its own id, so repeating it reveals nothing.
    only_ids = clause == "leaks/canary" and all(each.kind == "id" for each, _ in leaks)
    only_banners = all(
        (each.header or "").lower() in _BANNERS and "version" in found.what for found, each in leaks
    )
    unknown = clause in _UNLESS_SENT and "request" in findings.exchange.lacks
    where = (
        f"the header `{segment.header}`" if segment.header else quote_pointer(segment.pointer or "")
    )
    more = f", and {len(leaks) - 1} more" if len(leaks) > 1 else ""
    glimpse = f": {leak.glimpse}" if leak.glimpse else ""
    privacy = findings.contract.taxonomy.privacy
    findings.add(
        clause,
        f"{where} contains {leak.what}{glimpse}{more}; an error must not contain it"
        + (", unless the request did, which is not recorded" if unknown else ""),
        pointer=segment.pointer,
        source=privacy.source if privacy else NOWHERE,
        level="warning" if only_headers or only_ids or only_banners or unknown else "error",
    )


def _segments(exchange: Exchange, body: DecodedBody, within: tuple[str, ...]) -> list[TextSegment]:
    headers = [TextSegment(value, None, name) for name, value in exchange.response.headers]
    raw = exchange.response.body
    if body.problem is None and len(raw) <= _MAX_STRUCTURED:
        repeated = frozenset(mirrors(body.value)) if exchange.transport == "mcp" else frozenset()
        texts: Iterable[tuple[str, str]] = (
            found
            for pointer in within
            for found in strings(resolve(body.value, pointer)[1], pointer)
        )
        own = [
            TextSegment(_add_name(pointer, text), pointer, None)
            for pointer, text in texts
            if pointer not in repeated
        ]
        return [*own, *headers]
    text = raw.decode("utf-8", "replace")
    if "&" in text and "<" in text[:4096]:  # a page of HTML
        text = html.unescape(text)
    return [TextSegment(text, None, None), *headers]


def _add_name(pointer: str, text: str) -> str:
    """Return the text at a pointer, with the name of its member if it is that of a secret."""
    name = pointer.rpartition("/")[2]
    return text if text == name else str(_with_name(name, text))


def _join(segments: Segments) -> tuple[str, list[int]]:
    """The texts as one, and the offset at which each of them starts."""
    starts, at = [], 0
    for segment in segments:
        starts.append(at)
        at += len(segment.text) + len(JOINT)
    return JOINT.join(segment.text for segment in segments), starts


def _request_text(exchange: Exchange) -> str:
    """The texts of the request that an answer may repeat."""
    request = exchange.request
    headers = (
        value for name, value in request.headers if name.lower() in ("host", "referer", "origin")
    )
    plain = unquote_plus(request.target) if "%" in request.target else ""
    body = request.body[:_MAX_REQUEST].decode("utf-8", "replace")
    return "\n".join((request.target, plain, exchange.route or "", *headers, body))


def _without_sent(
    segments: Segments, exchange: Exchange, planted: Iterable[Canary]
) -> list[TextSegment]:
    """The segments without the longer texts of the request that contain a planted value.

    The caller wrote such a text, for example a name with its tenant in it. The bare value stays.
    """
    target, _, query = exchange.request.target.partition("?")
    body = read(exchange.request.body[:_MAX_REQUEST])
    sent = [target, unquote(target), *(value for _, value in parse_qsl(query))]
    texts = strings(body.value) if body.problem is None else []
    sent += [line for _, text in texts for line in (text, *text.splitlines())]
    values = [each.value for each in planted]
    own = sorted(
        {text for text in sent if any(value in text and value != text for value in values)},
        key=len,
        reverse=True,
    )
    if not own:
        return list(segments)
    pattern = re.compile("|".join(map(re.escape, own)))
    return [segment._replace(text=pattern.sub(JOINT, segment.text)) for segment in segments]


def _segments_outside_slots(segments: Segments, error: ErrorReading | None) -> list[TextSegment]:
    """The segments of the body that are outside every slot except the message."""
    slots = error.where.items() if error is not None else ()
    places = tuple(pointer for slot, pointer in slots if slot != "message")
    return [
        segment
        for segment in segments
        if segment.header is None and not _is_below(segment.pointer, places)
    ]


def _passthrough_places(error: ErrorReading | None) -> tuple[str, ...]:
    """The slots and members of the details that carry foreign text by declaration."""
    if error is None or error.code is None:
        return ()
    details = error.where.get("details")
    slots = tuple(error.where[name] for name in error.code.passthrough if name in error.where)
    if details is None:
        return slots
    members = (name for name in error.code.passthrough if name not in error.where)
    return (*slots, *(child(details, name) for name in members))


def _is_below(pointer: str | None, places: Iterable[str]) -> bool:
    """Whether a pointer is one of the places or below it."""
    return pointer is not None and any(
        pointer == place or pointer.startswith(f"{place}/") for place in places
    )

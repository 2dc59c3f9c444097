"""Search an error for what must not leave: every string of its body and every header."""

import html
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_plus

from faultspec.contract.model import Contract
from faultspec.exchange.body import DecodedBody, read, resolve, strings
from faultspec.exchange.model import Exchange
from faultspec.judge.bench import FindingCollector
from faultspec.judge.envelope import ErrorReading
from faultspec.judge.words import place
from faultspec.language.model import NOWHERE
from faultspec.leaks import JOINT, Leak, detect, planted
from faultspec.runtime.nodes import child

_STRUCTURED = 256 * 1024
"""Bytes of a body whose strings are searched one by one; a larger one is searched as the text it is."""

_SHORT = 8 * 1024
"""Bytes of a body whose texts are looked at one by one, and remembered."""

_SENT = 64 * 1024
"""Bytes of the request's body that are kept for comparison with the answer."""

_MEANT_TO_CARRY = frozenset({"set-cookie"})
"""Headers whose purpose is to hand the caller a secret of his own."""

_FOREIGN = frozenset({"stack-trace", "sql", "path"})
"""What a member that carries foreign text by contract may contain."""


_NAMES = frozenset({"id", "address"})
"""Planted values that name something: a header such as Content-Location repeats them rightly, and so may any part of the
envelope but its message, where the contract has a place for them."""


class TextSegment(NamedTuple):
    """A piece of an answer. ``pointer`` None: it isn't JSON; ``header`` names the header it is the value of."""

    text: str
    pointer: str | None
    header: str | None


def judge_leaks(
    bench: FindingCollector,
    reading: DecodedBody,
    told: ErrorReading | None,
    within: tuple[str, ...] = ("",),
) -> None:
    """Search the answer's headers, and those parts of its body (pointers in ``within``) that are errors."""
    privacy = bench.contract.taxonomy.privacy
    if privacy is None:
        return
    bench.exercise(*_addresses(privacy.detectors))
    if not bench.exchange.forbidden and harmless_answer(
        bench.contract, bench.exchange, reading, within
    ):
        return
    segments = _segments(bench.exchange, reading, within)
    echoed = tuple(each for each in bench.exchange.forbidden if each.kind in privacy.never_echoed)
    # Who does not ask for planted values asks for secrets: one that the caller sent is one, whatever it looks like.
    asked = [each for each in ("canary", "secret") if each in privacy.detectors]
    canaries = tuple(
        each
        for each in bench.exchange.forbidden
        if each not in echoed
        and each.kind != "tenant"
        and asked
        and ("canary" in asked or each.kind == "secret")
    )
    by_value = f"leaks/{asked[0]}" if asked else ""
    if canaries:
        bench.exercise(by_value)
    if echoed:
        bench.exercise("leaks/echoed-tenant")
    open_header = [each for each in segments if (each.header or "").lower() not in _MEANT_TO_CARRY]
    exempt = _exempt(told)
    text, starts = _joined(open_header)
    found: dict[str, list[tuple[Leak, TextSegment]]] = {}
    for leak in detect(text, privacy.detectors, bench.contract.names, _sent(bench.exchange)):
        segment = open_header[bisect_right(starts, leak.start) - 1]
        if leak.kind in _FOREIGN and any(_below(segment.pointer, each) for each in exempt):
            continue
        found.setdefault(f"leaks/{leak.kind}", []).append((leak, segment))
    values = tuple(each for each in canaries if each.kind not in _NAMES)
    names = tuple(each for each in canaries if each.kind in _NAMES)
    unnamed = _unnamed(segments, told) if names else []
    for clause, wanted, whole, among in (
        (by_value, values, False, segments),
        (by_value, names, True, unnamed),
        ("leaks/echoed-tenant", echoed, True, segments),
    ):
        text, starts = _joined(among) if wanted else ("", [])
        for leak in planted(text, wanted, whole=whole):
            segment = among[bisect_right(starts, leak.start) - 1]
            found.setdefault(clause, []).append((leak, segment))
    for clause, leaks in found.items():
        _report(bench, clause, leaks)


@lru_cache(maxsize=32)  # as many as there are taxonomies in one run, with room for tests
def _addresses(detectors: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"leaks/{kind}" for kind in detectors if kind != "canary")


def harmless_answer(
    contract: Contract, exchange: Exchange, reading: DecodedBody, within: tuple[str, ...] = ("",)
) -> bool:
    """Whether each text of the answer is harmless by itself, which most are and many have been before.

    No pattern reaches from one text into the next, so those that were found harmless need not be searched again.
    """
    privacy, response = contract.taxonomy.privacy, exchange.response
    if privacy is None:
        return True
    if reading.problem is not None or len(response.body) > _SHORT:
        return False
    texts = [value for name, value in response.headers if name.lower() not in _MEANT_TO_CARRY]
    for pointer in within:
        _gather(resolve(reading.value, pointer)[1], texts)
    known = contract.cache.harmless
    new = [text for text in texts if text not in known]
    if not new:
        return True
    if detect(JOINT.join(new), privacy.detectors, contract.names):
        return False
    contract.cache.learn(new)
    return True


def _gather(value: object, texts: list[str]) -> None:
    """Every string of a value, keys included; a list of strings is one text, as in `strings`."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        texts.extend(value)
        for each in value.values():
            _gather(each, texts)
    elif isinstance(value, list):
        if value and all(isinstance(each, str) for each in value):
            texts.append("\n".join(value))
        else:
            for each in value:
                _gather(each, texts)


def _report(bench: FindingCollector, clause: str, leaks: list[tuple[Leak, TextSegment]]) -> None:
    """One finding a clause, at its first place: the same trace in three members is one mistake."""
    leaks = sorted(leaks, key=lambda each: each[0].start)
    leak, segment = leaks[0]
    # The document bans a tenant from the body; in a header it is as visible, and less often forbidden.
    only_headers = clause == "leaks/echoed-tenant" and all(each.header for _, each in leaks)
    # An id is what its caller and the service call a thing: to repeat it tells him nothing, and is a habit all the same.
    only_ids = clause == "leaks/canary" and all(each.kind == "id" for each, _ in leaks)
    where = f"the header `{segment.header}`" if segment.header else place(segment.pointer or "")
    more = f", and {len(leaks) - 1} more such" if len(leaks) > 1 else ""
    glimpse = f": {leak.glimpse}" if leak.glimpse else ""
    privacy = bench.contract.taxonomy.privacy
    bench.broken(
        clause,
        f"{where} holds {leak.what}{glimpse}{more}; an error never carries that",
        pointer=segment.pointer,
        source=privacy.source if privacy else NOWHERE,
        level="warning" if only_headers or only_ids else "error",
    )


def _segments(
    exchange: Exchange, reading: DecodedBody, within: tuple[str, ...]
) -> list[TextSegment]:
    headers = [TextSegment(value, None, name) for name, value in exchange.response.headers]
    body = exchange.response.body
    if reading.problem is None and len(body) <= _STRUCTURED:
        parts: Iterable[tuple[str, str]] = (
            each
            for pointer in within
            for each in strings(resolve(reading.value, pointer)[1], pointer)
        )
        said_twice = (
            frozenset(mirrors(reading.value)) if exchange.transport == "mcp" else frozenset()
        )
        return [
            *(
                TextSegment(text, pointer, None)
                for pointer, text in parts
                if pointer not in said_twice
            ),
            *headers,
        ]
    text = body.decode("utf-8", "replace")
    if "&" in text and "<" in text[:4096]:
        text = html.unescape(text)
    return [TextSegment(text, None, None), *headers]


def mirrors(result: object) -> Iterator[str]:
    """The texts of a tool's result that are its structured content once more (MCP 2025-06-18, server/tools, "Structured
    Content"), where the places of the envelope are known.
    """
    found, structured = resolve(result, "/structuredContent")
    for pointer, text in texts_of(result) if found else ():
        if read(text.encode("utf-8", "replace")) == DecodedBody(structured, None):
            yield pointer


def texts_of(result: object) -> Iterator[tuple[str, str]]:
    """The texts of a tool's result, each with its pointer."""
    content = resolve(result, "/content")[1]
    for index, each in enumerate(content if isinstance(content, list) else ()):
        text = each.get("text") if isinstance(each, dict) else None
        if isinstance(text, str):
            yield f"/content/{index}/text", text


def _joined(segments: list[TextSegment]) -> tuple[str, list[int]]:
    starts, at = [], 0
    for segment in segments:
        starts.append(at)
        at += len(segment.text) + len(JOINT)
    return JOINT.join(segment.text for segment in segments), starts


def _sent(exchange: Exchange) -> str:
    request = exchange.request
    headers = "\n".join(
        value for name, value in request.headers if name.lower() in ("host", "referer", "origin")
    )
    plain = unquote_plus(request.target) if "%" in request.target else ""
    return f"{request.target}\n{plain}\n{exchange.route or ''}\n{headers}\n{request.body[:_SENT].decode('utf-8', 'replace')}"


def _unnamed(segments: Sequence[TextSegment], told: ErrorReading | None) -> list[TextSegment]:
    """What of the body is no slot but the message: there a name that the caller gave stands where none was asked for."""
    places = (
        tuple(where for slot, where in told.where.items() if slot != "message")
        if told is not None
        else ()
    )
    return [
        segment
        for segment in segments
        if segment.header is None and not any(_below(segment.pointer, one) for one in places)
    ]


def _exempt(told: ErrorReading | None) -> tuple[str, ...]:
    """The places of members that carry foreign text by contract: slots, or members of the details."""
    if told is None or told.code is None:
        return ()
    details = told.where.get("details")
    found = []
    for name in told.code.passthrough:
        if name in told.where:
            found.append(told.where[name])
        elif details is not None:
            found.append(child(details, name))
    return tuple(found)


def _below(pointer: str | None, prefix: str) -> bool:
    return pointer is not None and (pointer == prefix or pointer.startswith(f"{prefix}/"))

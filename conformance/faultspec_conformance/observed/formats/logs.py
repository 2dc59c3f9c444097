"""Logs of one record a line: those that the taxonomy declares, and the events of schemathesis."""

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from faultspec.contract.model import Contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec_conformance.observed.formats.cassettes import read_interaction
from faultspec_conformance.observed.formats.declared import UNDECLARED, record_reader
from faultspec_conformance.observed.formats.items import ItemTooLarge, check_json_size
from faultspec_conformance.observed.formats.record import (
    ALWAYS,
    Item,
    LineCounter,
    RecordedExchange,
    Skipped,
    Unjudged,
)
from faultspec_conformance.results.sampling import is_sampled

#: Bytes of the longest line that is read. Longer ones are not records, and none is held whole.
LONGEST = 16 * 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_log(
    stream: BinaryIO,
    name: str,
    contract: Contract,
    counter: LineCounter | None = None,
    *,
    before: int = 0,
    begins: bool = True,
) -> Iterator[Item]:
    """The exchanges of a log. A line of no declared kind is judged itself, if a surface declares
    the log. ``before``: the lines before the stream. ``begins``: whether the log begins with it.
    """
    read_records = record_reader(contract)
    sink = _find_sink(name, contract)
    owner = _describe_owner(sink, contract)
    for number, line in enumerate(read_lines(stream), before + 1):
        place = f"{name}:{number}"
        if line is None:
            yield Skipped(place, f"the line is longer than {LONGEST // 1024 // 1024} MiB{owner}")
            continue
        if begins and number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        text = line.strip()
        if not text:
            continue
        if counter is not None and not is_sampled(place, counter.share):
            yield Unjudged.UNSAMPLED
            continue
        facts = counter.read(text) if counter is not None else None
        if counter is not None and facts is not None and counter.count(facts, place):
            yield Unjudged.COUNTED
            continue
        value, problem = _parse(text)
        found = False
        for item in read_records(text.decode("utf-8", "replace"), value, place):
            found = True
            yield item._replace(facts=facts) if isinstance(item, RecordedExchange) else item
        if not found and problem is not None:
            # Only the last line has no end. Programs write other texts into logs too.
            is_cut = text.startswith(b"{") and not line.endswith(b"\n")
            reason = f"the file is truncated: {problem}" if is_cut else problem
            yield Skipped(place, reason + owner, ends=is_cut)
        elif not found:
            yield from _read_other(text, value, contract, sink=sink, place=place)


def read_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a stream with their ends; None for one that is too long."""
    while line := stream.readline(LONGEST):
        if len(line) == LONGEST and not line.endswith(b"\n"):
            while (rest := stream.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield None
        else:
            yield line


def _parse(text: bytes) -> tuple[object, str | None]:
    """The object in a line, or why there is none."""
    try:
        content = _decode(text)
        check_json_size(content)
        value = json.loads(content)
    except ItemTooLarge as error:
        return None, f"the line cannot be read: {error}"
    except json.JSONDecodeError as error:
        return None, f"the line is not JSON: {error.msg}"
    except (ValueError, RecursionError):
        return None, "the line is not JSON: it is nested too deeply, or a number is too long"
    return value, None if isinstance(value, dict) else "the line is JSON, but not an object"


def _decode(text: bytes) -> str:
    """The text of a line. A byte that no encoding of JSON has does not hide the line."""
    encoding = json.detect_encoding(text)
    try:
        return text.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        return text.decode(encoding, "replace")


def read_line(text: bytes, contract: Contract) -> Item:
    """The record of a line of a declared kind that has one."""
    value, _ = _parse(text)
    return next(record_reader(contract)(text.decode("utf-8", "replace"), value, ""))


def _read_other(
    text: bytes, value: object, contract: Contract, *, sink: str, place: str
) -> Iterator[Item]:
    """An object of no declared kind: an event of schemathesis, or an entry of a log that a surface
    declares.
    """
    interactions = _schemathesis_interactions(value)
    if interactions is not None:
        yield from (read_interaction(interaction, place) for interaction in interactions)
        return
    entry = Exchange(Request("", sink), Response(None, body=text), "log", lacks=ALWAYS)
    if contract.claim(entry) is not None:
        yield RecordedExchange(entry, place)
    else:
        yield Skipped(place, UNDECLARED, broken=False)


def _find_sink(name: str, contract: Contract) -> str:
    """The declared sink of a file, by the end of its path, or by its name if the file was moved."""
    surfaces = contract.taxonomy.surfaces.values()
    sinks = [surface.sink for surface in surfaces if surface.sink is not None]
    path = PurePath(name)
    for sink in sinks:
        parts = PurePath(sink).parts
        if path.parts[-len(parts) :] == parts:
            return sink
    return next((sink for sink in sinks if PurePath(sink).name == path.parts[-1]), name)


def _describe_owner(sink: str, contract: Contract) -> str:
    """The surface whose log has this name, in words after a reason; empty without one."""
    surfaces = contract.taxonomy.surfaces.items()
    names = " and ".join(f"`{name}`" for name, surface in surfaces if surface.sink == sink)
    return f"; the file is the log of {names}" if names else ""


def _schemathesis_interactions(value: object) -> list[object] | None:
    """The interactions in an event of schemathesis; None if the value is not an event."""
    match value:
        case {"ScenarioFinished": {"recorder": {"interactions": dict(interactions)}}}:
            return list(interactions.values())
        case dict() if len(value) == 1:
            ((name, data),) = value.items()
            is_step = name.endswith(("Started", "Finished"))
            if isinstance(data, dict) and (
                name == "Initialize" or (is_step and "timestamp" in data)
            ):
                return []
    return None

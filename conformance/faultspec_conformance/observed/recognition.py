"""Recognizing ordinary successes: most records of a log break nothing, as others like them did not.

`Recognizer.read` reads the facts of a record that decide its judgement. Where it cannot be certain
of one, it reads none, and the record is judged in full. A judgement without findings is remembered
by these facts. So a record is recognized only if the judge cleared one of the same facts before.
"""

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from operator import methodcaller
from typing import NamedTuple, NoReturn

from faultspec.contract.model import Claim, Contract, Matcher
from faultspec.exchange.body import has_too_many_values, is_too_deep, read
from faultspec.exchange.finding import Judgement
from faultspec.judge.http_semantics import reads_headers
from faultspec.judge.success import WRITES
from faultspec.language.formats import ENTITY_TAG, FIELDS
from faultspec.language.line_formats import LINE_FORMATS
from faultspec.language.model import Envelope, RecordingRule
from faultspec.runtime import ids
from faultspec.runtime.codecs import find_codec, media_essence
from faultspec.runtime.nodes import Object
from faultspec.runtime.pointers import steps
from faultspec_conformance.observed.formats.record import (
    BODILESS,
    LEFT_OUT,
    METHODS,
    NO_STAMP,
    RecordFacts,
    header_fields,
    parse_seconds,
    parse_status,
    read_stamp,
)
from faultspec_conformance.observed.formats.wrapping import TYPED, is_typed, present_parts
from faultspec_conformance.observed.memory import OperationNames
from faultspec_conformance.session.correlation import EchoRule, is_valid_id
from faultspec_conformance.session.observation import STREAM

#: Bytes of the longest line that is recognized, and facts and names of headers that are remembered.
_LONGEST, _REMEMBERED = 64 * 1024, 4096

_STRING = frozenset({str})

_JSON_TEXT = (" \t\r\n", ("{", "["))
"""White space before a text of JSON, and how it begins."""


@dataclass(slots=True)
class Cleared:
    """Successes that have the same facts, and break nothing. ``lacks``: the facts that their
    records omit. ``times``: how many were recognized.
    """

    judgement: Judgement
    lacks: frozenset[str]
    times: int = 0


class Recognizer:
    """Reads the facts of records, and remembers those of cleared ones."""

    def __init__(
        self, contract: Contract, echo: EchoRule | None, operations: OperationNames
    ) -> None:
        self._contract = contract
        self._echo = echo
        self._operations = operations
        self._groups = _groups(contract)
        self._claims = tuple(
            _claimed_bodies(number, claim)
            for number, claim in enumerate(contract.claims)
            if claim.surface.transport == "http"
        )
        self._has_batches = any(claim.surface.batch for claim in contract.claims)
        self._headers = _HeaderPlans(contract, echo)
        self._requests: dict[tuple[str, ...], int | None] = {}
        self.cleared: dict[Hashable, Cleared] = {}

    def read(self, line: bytes) -> RecordFacts | None:
        """The facts of the record in a line; None if it is not a success, or not a certain one."""
        if len(line) > _LONGEST or not self._groups:
            return None
        try:
            return self._read(line)
        except (_Unclear, ValueError, RecursionError):
            return None

    def learn(self, facts: RecordFacts, judgement: Judgement, lacks: frozenset[str]) -> None:
        """Remember the judgement of a record with these facts, unless it is an error or has
        findings.
        """
        is_clear = not judgement.is_error and not judgement.findings
        if is_clear and len(self.cleared) < _REMEMBERED:
            self.cleared.setdefault(facts.key, Cleared(judgement, lacks))

    def _read(self, line: bytes) -> RecordFacts | None:
        for group in self._groups:
            record = group.parse(line)
            if record is None:
                continue
            for kind in group.kinds:
                if all(kind.value(record, keys) == wanted for keys, wanted in kind.when):
                    return self._read_record(kind, record, line)
            return None
        return None

    def _read_record(self, kind: "_Kind", record: Mapping[str, object], line: bytes) -> RecordFacts:
        status, url = parse_status(kind.value(record, kind.status)), kind.value(record, kind.url)
        method = kind.value(record, kind.method)
        if status is None or status >= 400 or not isinstance(url, str):
            raise _Unclear
        if " " in url:
            before, _, rest = url.partition(" ")
            if before not in METHODS:
                raise _Unclear
            url, method = rest.partition(" ")[0], method or before
        if "://" in url or not (method is None or isinstance(method, str)):
            raise _Unclear
        verb = method.upper() if method is not None else None
        elapsed = kind.value(record, kind.elapsed)
        asked, inbound = self._read_request(kind.value(record, kind.asked))
        sent = kind.value(record, kind.sent)
        answered = self._headers.read(kind.value(record, kind.answered))
        if answered is not None and reads_headers(self._contract, status):
            raise _Unclear
        body = kind.value(record, kind.body)
        if body is None and any(kind.value(record, keys) is not None for keys in kind.slots):
            raise _Unclear
        claim = self._find_claim(verb or "", status, url, kind.value(record, kind.route))
        form = self._read_body(body, answered, claim, verb)
        returned = answered.id if answered is not None else None
        echoed = False
        if self._echo is not None and inbound is not None:
            if inbound != returned or not is_valid_id(self._echo, inbound):
                raise _Unclear
            echoed = True
        key = (
            kind.number,
            status,
            verb,
            claim.number if claim is not None else None,
            asked and (sent is not None or verb in BODILESS),
            elapsed is not None and parse_seconds(elapsed, kind.unit) is not None,
            answered.key if answered is not None else None,
            form,
            echoed,
        )
        own = None if echoed else returned or None
        stamp = NO_STAMP
        if kind.time is not None or kind.service is not None:
            stamp = read_stamp(kind.value(record, kind.time), kind.value(record, kind.service))
        return RecordFacts(key, own, echoed=echoed, line=line, stamp=stamp)

    def _read_request(self, headers: object) -> tuple[bool, str | None]:
        """Whether the headers of a request are known, and the id in them."""
        fields = _fields(headers)
        if fields is None:
            return False, None
        if self._echo is None:
            return True, None
        names, values = fields
        at = self._requests.get(names, -1)
        if at == -1:
            wanted = self._echo.header.lower()
            lowered = [name.lower() for name in names]
            at = lowered.index(wanted) if wanted in lowered else None
            if len(self._requests) < _REMEMBERED:
                self._requests[names] = at
        return True, values[at] if at is not None else None

    def _find_claim(
        self, method: str, status: int, url: str, route: object
    ) -> "_ClaimedBodies | None":
        path = url.partition("?")[0].partition("#")[0] or "/"
        template = route if isinstance(route, str) else self._operations.template(method, path)
        paths = (template, path) if template else (path,)
        for claim in self._claims:
            if not claim.matcher.reads_line_only:
                raise _Unclear
            if claim.matcher.claims_line(method, status, target=url, paths=paths):
                return claim
        return None

    def _read_body(
        self,
        body: object,
        answered: "_Answered | None",
        claim: "_ClaimedBodies | None",
        method: str | None,
    ) -> str:
        """The kind of a body that has nothing which a clause reads."""
        if body is None:
            return "unknown"
        format_ = answered.format if answered is not None else None
        if (answered is not None and answered.coded) or format_ not in (None, "JSON", "text"):
            raise _Unclear
        if self._contract.renderings:  # any text in a body may be one
            raise _Unclear
        if isinstance(body, str):
            content = body.encode("utf-8", "surrogatepass")
            if answered is not None and not answered.has_all(content):
                raise _Unclear
            white, begins = _JSON_TEXT
            if not body.lstrip(white).startswith(begins):
                if body and format_ == "JSON":
                    raise _Unclear
                return "text" if body else "empty"
            decoded = read(content)
            if decoded.problem is not None:
                raise _Unclear
            body = decoded.value
        if not isinstance(body, dict | list):
            raise _Unclear
        if self._has_batches and method in WRITES:
            raise _Unclear
        if claim is not None and not claim.clears(body):
            raise _Unclear
        return "object" if isinstance(body, dict) else "list"


class _Unclear(Exception):
    """A fact of a record is not certain."""


class _ClaimedBodies(NamedTuple):
    """The bodies of successes that a surface claims. ``members``: for each envelope, the members
    that it always has; a body that lacks one is not that envelope. None: bodies are judged in full.
    """

    number: int
    matcher: Matcher
    members: tuple[frozenset[str], ...] | None

    def clears(self, body: Mapping[str, object] | list[object]) -> bool:
        """Whether a body certainly is not an envelope."""
        if self.members is None:
            return False
        return isinstance(body, list) or not any(names <= body.keys() for names in self.members)


def _claimed_bodies(number: int, claim: Claim) -> _ClaimedBodies:
    surface = claim.surface
    envelopes = (*claim.envelopes, *([claim.protocol] if claim.protocol else ()))
    members = tuple(map(_required_members, envelopes))
    is_read = surface.success or surface.structured or surface.marks_bodies
    is_plain = not is_read and surface.batch is None and all(members)
    return _ClaimedBodies(number, claim.matcher, members if is_plain else None)


def _required_members(envelope: Envelope) -> frozenset[str]:
    """The members that bodies of an envelope always have; empty if none is known."""
    shape = envelope.shape
    if not isinstance(shape, Object):
        return frozenset()
    return frozenset(member.name for member in shape.members if not member.optional)


class _Answered(NamedTuple):
    """The headers of an answer. ``key``: what decides. ``id``: the value of the header that returns
    the id. ``format``: that of the content. ``coded``: it is compressed.
    """

    key: Hashable
    id: str | None
    format: str | None
    coded: bool
    length: str | None

    def has_all(self, content: bytes) -> bool:
        """Whether the content is not shorter than its header has it."""
        length = self.length
        if length is None:
            return True
        return length.isascii() and length.isdecimal() and len(content) >= int(length)


_IdForms = tuple[re.Pattern[str], ...]
"""The expressions of ids, one of which a value matches."""


class _HeaderPlan(NamedTuple):
    """How to read headers of these names: positions by use. ``kept``: values that are a part of the
    key. ``formats``: values that must be ids.
    """

    number: int
    kept: tuple[int, ...]
    formats: tuple[tuple[int, _IdForms], ...]
    returned: int | None
    content_type: int | None
    length: int | None
    coded: bool


class _HeaderPlans:
    """Reads headers of answers; those of the same names by the same plan."""

    def __init__(self, contract: Contract, echo: EchoRule | None) -> None:
        self._returned = echo.answer_header.lower() if echo is not None else None
        self._formats: dict[str, _IdForms | None] = {}
        for rule in contract.taxonomy.every_header_rule():
            name = rule.name.lower()
            is_id = set(rule.format) <= ids.FORMATS.keys()
            forms: _IdForms | None = (
                tuple(re.compile(ids.PATTERNS[each]) for each in rule.format) if is_id else ()
            )
            if rule.token or rule.value is not None or (rule.format and not is_id):
                forms = None
            self._formats[name] = forms if self._formats.get(name, forms) == forms else None
        self._profiled: frozenset[str] = frozenset()
        if contract.taxonomy.profile is not None:
            self._formats.setdefault("etag", (re.compile(ENTITY_TAG, re.ASCII),))
            self._profiled = frozenset(map(str.lower, FIELDS)) - {"etag"}
        self._plans: dict[tuple[str, ...], _HeaderPlan | None] = {}
        self._media_types: dict[str, str | None] = {}

    def read(self, headers: object) -> _Answered | None:
        """The parts of headers that count; None if they are unknown. Raises _Unclear."""
        fields = _fields(headers)
        if fields is None:
            return None
        names, values = fields
        if names in self._plans:
            plan = self._plans[names]
        else:
            plan = self._plan(names)
            if len(self._plans) < _REMEMBERED:
                self._plans[names] = plan
        if plan is None or any(map(LEFT_OUT.fullmatch, values)):
            raise _Unclear
        for at, rule in plan.formats:
            if not any(map(methodcaller("fullmatch", values[at]), rule)):
                raise _Unclear
        content_type = values[plan.content_type] if plan.content_type is not None else None
        return _Answered(
            key=(plan.number, *[values[at] for at in plan.kept]),
            id=values[plan.returned] if plan.returned is not None else None,
            format=self._format(content_type) if content_type is not None else None,
            coded=plan.coded,
            length=values[plan.length] if plan.length is not None else None,
        )

    def _plan(self, names: tuple[str, ...]) -> _HeaderPlan | None:
        lowered = [name.lower() for name in names]
        places = {name: at for at, name in enumerate(lowered)}
        odd = any(not name or name.startswith(":") for name in lowered)
        parsed = {"retry-after", *self._profiled} & places.keys()
        if odd or len(places) < len(lowered) or parsed:
            return None
        ruled = {name: self._formats[name] for name in places if name in self._formats}
        kept = {name for name, formats in ruled.items() if formats is None} | {"content-type"}
        return _HeaderPlan(
            number=len(self._plans),
            kept=tuple(places[name] for name in places if name in kept),
            formats=tuple((places[name], formats) for name, formats in ruled.items() if formats),
            returned=places.get(self._returned) if self._returned is not None else None,
            content_type=places.get("content-type"),
            length=places.get("content-length"),
            coded="content-encoding" in places,
        )

    def _format(self, content_type: str) -> str | None:
        """The format of a media type; None if it has none that is read."""
        if content_type not in self._media_types:
            codec = find_codec(content_type)
            if len(self._media_types) >= _REMEMBERED:
                self._media_types.clear()
            is_stream = media_essence(content_type) == STREAM
            name = codec.name if codec is not None else None
            self._media_types[content_type] = STREAM if is_stream else name
        return self._media_types[content_type]


def _fields(headers: object) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Names and values of header fields; None if there are none. Raises _Unclear."""
    if headers is None:
        return None
    if isinstance(headers, dict):
        values = tuple(headers.values())
        if _STRING.issuperset(map(type, values)):
            return tuple(headers), values
    elif not isinstance(headers, list):
        raise _Unclear
    fields = header_fields(headers) or ()
    return tuple(name for name, _ in fields), tuple(value for _, value in fields)


_Keys = tuple[str, ...]
"""The keys of a pointer, outermost first."""


class _Kind(NamedTuple):
    """A kind of records with the keys of its pointers; None for a part that it does not have."""

    number: int
    when: tuple[tuple[_Keys, str], ...]
    status: _Keys
    url: _Keys
    method: _Keys | None
    route: _Keys | None
    elapsed: _Keys | None
    time: _Keys | None
    service: _Keys | None
    unit: float
    asked: _Keys | None
    sent: _Keys | None
    answered: _Keys | None
    body: _Keys | None
    slots: tuple[_Keys, ...]

    def value(self, record: Mapping[str, object], keys: _Keys | None) -> object:
        """The plain value at keys; None if there is none. Raises _Unclear where it takes more to
        look it up.
        """
        value: object = record if keys is not None else None
        for key in keys or ():
            if type(value) is not dict:
                if isinstance(value, list):
                    raise _Unclear
                return None
            value = value.get(key)
            if type(value) is dict and is_typed(value):
                raise _Unclear
        return value


class _Group(NamedTuple):
    """Kinds of records that stand in lines in the same way. ``form``: the name of a text format;
    None for JSON.
    """

    kinds: tuple[_Kind, ...]
    form: str | None

    def parse(self, line: bytes) -> Mapping[str, object] | None:
        """The record in a line; None if the line has another form."""
        if self.form is not None:
            text = line.decode("utf-8", "replace").strip("\r\n")
            found = LINE_FORMATS[self.form].fullmatch(text)
            return None if found is None else present_parts(found)
        if not line.startswith(b"{"):
            return None
        value = _DECODE(line.decode())
        if TYPED.issuperset(value) or has_too_many_values(line) or is_too_deep(line, value):
            raise _Unclear
        return value  # type: ignore[no-any-return]  # a text that begins so is an object


def _groups(contract: Contract) -> tuple[_Group, ...]:
    """The kinds of records up to the first that takes more to read."""
    telemetry = contract.taxonomy.telemetry
    rules = telemetry.records.values() if telemetry is not None else ()
    groups: list[_Group] = []
    for path, same in groupby(enumerate(rules), lambda numbered: numbered[1].unwrap):
        if len(path) > 1 or not LINE_FORMATS.keys() >= set(path):
            break
        kinds: list[_Kind] = []
        for number, rule in same:
            kind = _kind(number, rule)
            if kind is None:
                break
            kinds.append(kind)
        groups.append(_Group(tuple(kinds), path[0] if path else None))
    return tuple(groups)


def _kind(number: int, rule: RecordingRule) -> _Kind | None:
    """A kind of records; None if it takes more to read."""
    elapsed, unit = rule.elapsed or (None, 1.0)
    request, response = rule.request, rule.response
    parts = (rule.method, rule.route, elapsed, rule.time, rule.service, *request, *response)
    if any(not pointer or ".." in steps(pointer) for pointer in rule.pointers):
        return None
    if not all(isinstance(wanted, str) for wanted in rule.when.values()):
        return None
    method, route, took, moment, service, asked, sent, answered, body = map(_keys, parts)
    return _Kind(
        number=number,
        when=tuple((tuple(steps(pointer)), str(text)) for pointer, text in rule.when.items()),
        status=tuple(steps(rule.status)),
        url=tuple(steps(rule.url)),
        method=method,
        route=route,
        elapsed=took,
        time=moment,
        service=service,
        unit=unit,
        asked=asked,
        sent=sent,
        answered=answered,
        body=body,
        slots=tuple(tuple(steps(pointer)) for pointer in rule.slots.values()),
    )


def _keys(pointer: str | None) -> _Keys | None:
    return tuple(steps(pointer)) if pointer else None


def _read_float(text: str) -> float:
    """A number. Raises ValueError for one that is out of range, which JSON cannot repeat."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


_DECODE = json.JSONDecoder(parse_float=_read_float, parse_constant=_refuse_constant).decode

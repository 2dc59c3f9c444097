"""The facts of a row, as SQL: what a kind of records says of its columns, and what the surfaces of
a taxonomy read in them.

The SQL is that of DuckDB with the functions of `sql_dialects`. A row that SQL does not read as the
judge does is *blind*: each clause selects it, and the judge decides.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from faultspec.contract.crashes import crash_level
from faultspec.contract.model import Claim, Contract
from faultspec.exchange.numerals import STATUS
from faultspec.language.model import Envelope, Match, Operation, RecordingRule, Taxonomy
from faultspec.language.routes import plain_route
from faultspec.runtime.nodes import Array, Object, Slot, slot_places, walk
from faultspec.runtime.pointers import steps
from faultspec.runtime.reading import DEEPEST
from faultspec.targets.sql_dialects import Dialect
from faultspec.targets.sql_expressions import any_of, text_end, translate_whole

_STATUSES = range(100, 600)

#: Characters of a body beyond which the judge searches it as raw text, or finds it too large.
_LARGEST = 200_000

_METHODS = "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE"

_SPACE = r"[ \t\r\n]*"

TRUE, FALSE = "TRUE", "FALSE"


def sql_text(text: str) -> str:
    """A literal."""
    return "'" + text.replace("'", "''") + "'"


def column(name: str) -> str:
    """The name of a column."""
    return '"' + name.replace('"', '""') + '"'


def any_true(conditions: Iterable[str]) -> str:
    """The disjunction of conditions."""
    found = list(dict.fromkeys(each for each in conditions if each != FALSE))
    if TRUE in found:
        return TRUE
    return " OR ".join(f"({each})" for each in found) or FALSE


def all_true(conditions: Iterable[str]) -> str:
    """The conjunction of conditions."""
    found = list(dict.fromkeys(each for each in conditions if each != TRUE))
    if FALSE in found:
        return FALSE
    return " AND ".join(f"({each})" for each in found) or TRUE


def is_among(expression: str, texts: Iterable[str]) -> str:
    """Whether an expression has one of the texts."""
    listed = ", ".join(map(sql_text, texts))
    return f"{expression} IN ({listed})" if listed else FALSE


def has_status(statuses: Iterable[int]) -> str:
    """Whether the status of the row is one of these."""
    runs: list[tuple[int, int]] = []
    for status in sorted(set(statuses)):
        if runs and status == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], status)
        else:
            runs.append((status, status))
    single = [str(low) for low, high in runs if low == high]
    parts = [f"faultspec_status IN ({', '.join(single)})"] if single else []
    parts += [f"faultspec_status BETWEEN {low} AND {high}" for low, high in runs if low < high]
    return any_true(parts)


def is_true(condition: str) -> str:
    """The condition, in which an unknown value counts as false. Engines read no more of a
    condition of CASE than decides it.
    """
    if condition in (TRUE, FALSE):
        return condition
    return f"CASE WHEN {condition} THEN TRUE ELSE FALSE END"


def _constant(value: object) -> str:
    """A value of `when` as the text of a column."""
    return value if isinstance(value, str) else json.dumps(value)


def json_path(pointer: str) -> str | None:
    """A JSON Pointer as a path of JSON; None if a key has signs that engines quote differently."""
    keys = steps(pointer)
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key) for key in keys):
        return None
    return "$" + "".join(f".{key}" for key in keys)


@dataclass(frozen=True)
class RowFacts:
    """The facts of the rows of one kind.

    ``kind``: says which column has what. ``contract``: that of the taxonomy.
    """

    contract: Contract
    kind: RecordingRule
    dialect: Dialect

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy."""
        return self.contract.taxonomy

    # What the kind gives.

    @property
    def has_body(self) -> bool:
        """Whether rows have whole bodies."""
        return self.kind.response.body is not None

    @property
    def has_headers(self) -> bool:
        """Whether rows have the headers of answers."""
        return self.kind.response.headers is not None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the kind reads, each once."""
        return tuple(dict.fromkeys(steps(pointer)[0] for pointer in self.kind.pointers))

    def value(self, pointer: str | None) -> str:
        """The text at a pointer of the record."""
        if pointer is None:
            return "CAST(NULL AS TEXT)"
        name, *inner = steps(pointer)
        text = f"CAST({column(name)} AS TEXT)"
        if not inner:
            return text
        return f"FS_INNER({text}, {sql_text('$' + ''.join(f'.{key}' for key in inner))})"

    def _time(self) -> str:
        """The time of an exchange, with the type of its column."""
        names = steps(self.kind.time) if self.kind.time is not None else ()
        return column(names[0]) if len(names) == 1 else self.value(self.kind.time)

    # Stages of the view.

    def source_columns(self) -> Iterator[tuple[str, str]]:
        """Name and expression of what is taken from the table."""
        status = self.value(self.kind.status)
        first = f"CAST({self.find(status, '^ ?([1-5][0-9][0-9])')} AS INTEGER)"
        yield "faultspec_status", self._choose_by_type("FS_WHOLE({})", first)
        yield "faultspec_url", self.value(self.kind.url)
        yield "faultspec_verb", self.value(self.kind.method)
        yield "faultspec_route", self.value(self.kind.route)
        yield "faultspec_service", self.value(self.kind.service)
        yield "faultspec_time", self._time()
        yield "faultspec_headers", self.value(self.kind.response.headers)
        yield "faultspec_body", self.value(self.kind.response.body)
        for slot, pointer in self.kind.slots.items():
            yield f"faultspec_slot_{slot}", self.value(pointer)

    def is_of_kind(self) -> str:
        """Whether a row of the table is a record of the kind, with the status of an answer."""
        return all_true(
            (
                self._choose_by_type(
                    f"FS_WHOLE({{}}) BETWEEN {_STATUSES[0]} AND {_STATUSES[-1]}",
                    self.matches(self.value(self.kind.status), self._status),
                ),
                f"{self.value(self.kind.url)} IS NOT NULL",
                *(
                    f"{self.value(pointer)} = {sql_text(_constant(wanted))}"
                    for pointer, wanted in self.kind.when.items()
                ),
            )
        )

    def _choose_by_type(self, whole: str, text: str) -> str:
        """An expression of the status: ``whole`` if its column, which stands for `{}`, has whole
        numbers, which an engine reads faster than their texts; ``text`` if it has others.
        """
        names = steps(self.kind.status)
        if len(names) > 1:
            return text
        name = column(names[0])
        return f"CASE WHEN FS_IS_WHOLE({name}) THEN {whole.format(name)} ELSE {text} END"

    def read_columns(self) -> Iterator[tuple[str, str]]:
        """Name and expression of what is read in the columns."""
        starts = self.matches("faultspec_url", f"^(?:{_METHODS}) ")
        yield (
            "faultspec_method",
            "UPPER(CASE WHEN COALESCE(faultspec_verb, '') <> '' THEN faultspec_verb "
            f"WHEN {starts} THEN {self.find('faultspec_url', f'^({_METHODS}) ')} "
            "ELSE faultspec_verb END)",
        )
        target = (
            f"CASE WHEN {starts} "
            f"THEN COALESCE({self.find('faultspec_url', f'^(?:{_METHODS}) ([^ ]*)')}, '') "
            "ELSE faultspec_url END"
        )
        # RFC 3986, 3: a scheme and an authority, the path, and the query or the fragment.
        path = self.find(f"({target})", r"^(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#]*)?([^?#]*)")
        yield "faultspec_path", f"COALESCE({path}, '/')"
        body = "faultspec_body"
        odd = self._has_odd_escapes(body)
        parsed = f"CASE WHEN NOT ({odd}) AND {self.matches(body, _SPACE_START)} THEN {body} END"
        if self.dialect.reads_texts:
            parsed = body
        yield "faultspec_json", f"FS_JSON({parsed})" if self.has_body else "CAST(NULL AS TEXT)"
        yield (
            "faultspec_header_names",
            f"CASE WHEN {self.matches('faultspec_headers', _OBJECT_START)} "
            f"THEN faultspec_headers END",
        )

    def surface_columns(self) -> Iterator[tuple[str, str]]:
        """Name and expression of the surface."""
        yield "faultspec_surface", self._surface()

    def fact_columns(self) -> Iterator[tuple[str, str]]:
        """Name and expression of what decides an error, and whether SQL can judge it."""
        yield "faultspec_error", self._errors()
        yield "faultspec_unrouted", is_true(self._is_unrouted())
        yield "faultspec_blind", is_true(any_true((self._is_unrouted(), self.is_unread())))

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """The slots whose values are columns: texts and flags of an error."""
        wanted = {"code", "boundary", "domain", "retriable", "details"}
        for code in self.taxonomy.every_code():
            wanted |= code.facts.keys()
        for claim in self.readable:
            wanted |= {
                slot
                for slot, schema in self.contract.slots[claim.envelopes[0].name].items()
                if schema.format or schema.pattern
            }
            wanted |= {
                rule.equals for rule in self.taxonomy.every_header_rule() if rule.equals is not None
            }
        found = {
            slot
            for claim in self.readable
            for slot in slot_places(claim.envelopes[0].shape)
            if slot in wanted and (self.has_body or slot in self.kind.slots)
        }
        return tuple(sorted(found))

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        """The paths of the slots in bodies, each once."""
        paths = (self._path_of(claim, slot) for claim in self.readable for slot in self.slots)
        return tuple(dict.fromkeys(path for path in paths if path is not None))

    def member_columns(self) -> Iterator[tuple[str, str]]:
        """Name and expression of the text of each member of a body that is a slot."""
        for number, path in enumerate(self._paths if self.has_body else ()):
            yield f"faultspec_member_{number}", f"FS_TEXT(faultspec_json, {sql_text(path)})"

    def slot_columns(self) -> Iterator[tuple[str, str]]:
        """Name and expression of the text in each slot; NULL for a value of another type."""
        for slot in self.slots:
            if slot != "details":
                yield f"faultspec_{slot}", self._slot(slot)
        for number, (path, name) in enumerate(self.flags):
            yield f"faultspec_flag_{number}", self._flag(path, name)

    @cached_property
    def flags(self) -> tuple[tuple[str, str | None], ...]:
        """The places of the retry flag: a slot, and a key in it."""
        own: tuple[tuple[str, str | None], ...] = ()
        if "retriable" in self.slots:
            own = (("retriable", None),)
        if "details" in self.slots:
            own += tuple(("details", key) for key in self.taxonomy.flag_keys)
        return own

    def has_slots(self) -> str:
        """Whether the row has a body, or a slot of the envelope."""
        if self.has_body:
            return "faultspec_body IS NOT NULL"
        return any_true(f"faultspec_slot_{slot} IS NOT NULL" for slot in self.kind.slots)

    def lacks_code(self) -> str:
        """Whether the row leaves out the code of an error; a body without one does not."""
        if self.has_body:
            return "faultspec_body IS NULL"
        return "faultspec_slot_code IS NULL" if "code" in self.kind.slots else TRUE

    # Parts of expressions.

    @property
    def _end(self) -> str:
        return text_end(self.dialect.syntax)

    @property
    def _status(self) -> str:
        """The expression of a text that is a status."""
        pattern = translate_whole(STATUS, self.dialect.syntax)
        assert pattern is not None  # it has only what the engines share
        return pattern

    def matches(self, expression: str, pattern: str) -> str:
        """Whether a part of the text matches."""
        return f"FS_MATCHES({expression}, {sql_text(pattern)})"

    def find(self, expression: str, pattern: str) -> str:
        """The first group of the first match; NULL if there is none, or it is empty."""
        return f"FS_FIND({expression}, {sql_text(pattern)})"

    def header_is_present(self, name: str) -> str:
        """Whether the answer has a header."""
        return self.matches("faultspec_header_names", f'"{self._header(name)}"{_SPACE}:')

    def header_is_plain(self, name: str) -> str:
        """Whether the header has one value, a text without escapes or a number."""
        header = self._header(name)
        value = rf'(?:"[^"\\]*"|-?[0-9.]+){_SPACE}[,\}}]'
        once = self.matches("faultspec_header_names", f'"{header}"{_SPACE}:{_SPACE}{value}')
        return f"{once} AND NOT {self._header_is_repeated(name)}"

    def header_is_once(self, name: str, value: str) -> str:
        """Whether the header has one value, a text that matches ``value``, which has no quotes."""
        pattern = f'"{self._header(name)}"{_SPACE}:{_SPACE}"{value}"'
        found = self.matches("faultspec_header_names", pattern)
        return f"{found} AND NOT {self._header_is_repeated(name)}"

    def _header_is_repeated(self, name: str) -> str:
        header = f'"{self._header(name)}"{_SPACE}:'
        return self.matches("faultspec_header_names", f"{header}(?:.|[\\r\\n])*{header}")

    def header_value(self, name: str) -> str:
        """The value of a plain header; empty if it is missing."""
        header = self._header(name)
        text = self.find("faultspec_header_names", f'"{header}"{_SPACE}:{_SPACE}"([^"\\\\]*)"')
        number = self.find("faultspec_header_names", f'"{header}"{_SPACE}:{_SPACE}(-?[0-9.]+)')
        return f"COALESCE({text}, {number}, '')"

    def _header(self, name: str) -> str:
        """The name of a header in either case."""
        return "".join(
            f"[{each.upper()}{each.lower()}]"
            if each.isalpha()
            else any_of(each, self.dialect.syntax)
            for each in name
        )

    def _has_odd_escapes(self, expression: str) -> str:
        """Whether a text has escapes that engines read differently: NUL, and halves of pairs."""
        return self.matches(expression, r"\\u(?:0000|[dD][89a-fA-F])")

    # Surfaces.

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The surfaces over HTTP, in order."""
        return tuple(each for each in self.contract.claims if each.surface.transport == "http")

    @cached_property
    def readable(self) -> tuple[Claim, ...]:
        """The surfaces whose errors SQL can read."""
        return tuple(each for each in self.claims if self.why_unreadable(each) is None)

    def why_unreadable(self, claim: Claim) -> str | None:
        """Why SQL does not read the errors of a surface, as a part of a sentence; None if it
        does.
        """
        surface = claim.surface
        if surface.batch is not None:
            return "its answers have several errors"
        if len(claim.envelopes) != 1 or claim.protocol is not None:
            return "its errors have one of several envelopes, or none"
        if surface.reason is not None or surface.foreign or surface.namespaces:
            return "it allows errors of others"
        if self._claim_condition(claim.surface.match) is None:
            return "bodies, headers or queries tell its requests apart"
        if json_path(surface.at) is None:
            return "the place of its envelope has signs that SQL does not read"
        return self._why_unread_envelope(claim.envelopes[0])

    def _why_unread_envelope(self, envelope: Envelope) -> str | None:
        if [codec.name for codec in envelope.codecs] != ["JSON"]:
            return "its envelope is not JSON alone"
        if envelope.places or envelope.name in self.contract.numberings:
            return "its code is not at one place of the body"
        for place in walk(envelope.shape):
            if (
                isinstance(place.node, Array)
                and {"code", "message"} & slot_places(place.node).keys()
            ):
                return "its envelope has a list of errors"
            if isinstance(place.node, Object) and place.node.spread is not None:
                return "details stand beside the members of its envelope"
        places = slot_places(envelope.shape)
        codes = places.get("code", ())
        if len(codes) != 1 or not isinstance(codes[0].node, Slot):
            return "its code is a part of a text, or at several places"
        if any(json_path(place.path) is None for own in places.values() for place in own):
            return "a member of its envelope has signs that SQL does not read"
        if self.contract.numbering.kinds != {"string"}:
            return "codes are numbers"
        return None

    def _claim_condition(self, match: Match) -> str | None:
        """Whether a request is that of a ``match``; None if SQL cannot decide it."""
        if match.request or match.headers or match.query:
            return None
        conditions = []
        if match.methods:
            wanted = [method.upper() for method in match.methods]
            conditions.append(is_among("COALESCE(faultspec_method, '')", wanted))
        if match.statuses:
            conditions.append(
                has_status(
                    status
                    for status in _STATUSES
                    if any(status in wanted for wanted in match.statuses)
                )
            )
        if match.routes:
            routes = [self._route_condition(route) for route in match.routes]
            if None in routes:
                return None
            conditions.append(any_true(filter(None, routes)))
        return is_true(all_true(conditions))

    def _route_condition(self, route: str) -> str | None:
        method, expression = plain_route(route)
        pattern = translate_whole(expression, self.dialect.syntax, re.DOTALL)
        if pattern is None:
            return None
        paths = (
            ["faultspec_path"] if self.kind.route is None else ["faultspec_path", "faultspec_route"]
        )
        found = any_true(is_true(self.matches(path, pattern)) for path in paths)
        if method is None:
            return found
        return all_true((found, f"COALESCE(faultspec_method, '') = {sql_text(method)}"))

    def _surface(self) -> str:
        """The surface of the row; empty if SQL cannot decide it, NULL if there is none."""
        branches = []
        for claim in self.claims:
            condition = self._claim_condition(claim.surface.match)
            if condition is None:
                branches.append(f"WHEN {self._may_claim(claim.surface.match)} THEN ''")
            else:
                branches.append(f"WHEN {condition} THEN {sql_text(claim.surface.name)}")
        if not branches:
            return "CAST(NULL AS TEXT)"
        return f"CASE {' '.join(branches)} END"

    def _may_claim(self, match: Match) -> str:
        decided = match._replace(request={}, headers={}, query={})
        return self._claim_condition(decided) or TRUE

    def is_on(self, names: Iterable[str]) -> str:
        """Whether the row is on one of the surfaces; the status alone may say it."""
        wanted = set(names)
        if not self._by_status:
            return is_among("faultspec_surface", sorted(wanted))
        found = {status for status, name in self._by_status.items() if name in wanted}
        return TRUE if found == {*_STATUSES} else has_status(found)

    @cached_property
    def _by_status(self) -> Mapping[int, str | None]:
        """The surface of each status; empty if surfaces depend on more than the status."""
        found: dict[int, str | None] = {}
        for status in _STATUSES:
            possible = [*self._possible(status)]
            if len(possible) > 1:
                return {}
            found[status] = possible[0].surface.name if possible[0] is not None else None
        return found

    def _possible(self, status: int) -> Iterator[Claim | None]:
        """The surfaces that a row with a status may have."""
        for claim in self.claims:
            match = claim.surface.match
            if match.statuses and not any(status in wanted for wanted in match.statuses):
                continue
            yield claim
            if not (match.methods or match.routes or match.reads_request):
                return
        yield None

    def _is_unrouted(self) -> str:
        """Whether the judge must find out the surface or the operation of the row."""
        unreadable = [
            claim.surface.name for claim in self.claims if self.why_unreadable(claim) is not None
        ]
        conditions = [
            self.is_on(["", *unreadable]),
            *(self._may_be(operation) for operation in self.taxonomy.operations.values()),
            *(
                all_true(
                    (self.is_on([claim.surface.name]), f"NOT ({self._is_error_status(claim)})")
                )
                for claim in self.readable
                if claim.surface.marks_bodies
            ),
        ]
        return any_true(map(is_true, conditions))

    def hides_body(self) -> str:
        """Whether the judge may read the body as JSON where SQL does not."""
        conditions = [self.hides_headers()]
        if self.has_headers:
            name = self._header("Content-Encoding")
            conditions.append(self.matches("faultspec_headers", f'"{name}"{_SPACE}:'))
        if self.has_body:
            body = "faultspec_body"
            conditions.append(
                f"NOT FS_IS_JSON(faultspec_json) AND {self.matches(body, _VALUE_START)}"
            )
        return any_true(conditions)

    def hides_headers(self) -> str:
        """Whether the headers are in a form that SQL does not read."""
        return self.matches("faultspec_headers", rf"^{_SPACE}\[") if self.has_headers else FALSE

    def is_unread(self) -> str:
        """Whether the judge must read the body or the headers of the row."""
        conditions = [
            "faultspec_method = 'HEAD' OR faultspec_status IN (204, 304) OR faultspec_status < 200",
            self.hides_body(),
        ]
        if self.has_body:
            body = "faultspec_body"
            brackets = f"REPLACE(REPLACE({body}, '{{', ''), '[', '')"
            conditions += [
                f"LENGTH({body}) > {_LARGEST}",
                f"LENGTH({body}) - LENGTH({brackets}) > {DEEPEST}",
                self.matches(body, "[0-9]{255}"),
                *(self.matches(body, pattern) for pattern in self.dialect.lenient),
                self._has_odd_escapes(body),
            ]
        if self.has_headers:
            conditions.append(self._is_cut())
        return any_true(map(is_true, conditions))

    def _is_cut(self) -> str:
        """Whether the body is shorter than the answer says, so that the log has truncated it."""
        if not self.has_body:
            return FALSE
        length = self.header_value("Content-Length")
        digits = self.matches(f"({length})", f"^[0-9]{{1,9}}{self._end}")
        longer = f"CAST({length} AS INTEGER) > FS_BYTES(faultspec_body)"
        odd = f"{self.header_is_present('Content-Length')} AND NOT {digits}"
        return f"CASE WHEN {digits} THEN {longer} ELSE {odd} END"

    def _may_be(self, operation: Operation) -> str:
        """Whether the row may be of an operation whose codes are not those of all."""
        if not (operation.errors or operation.codes is not None or operation.variants):
            return FALSE
        claimed = (
            self._may_claim(operation.match)
            if any((operation.match.routes, operation.match.methods, operation.match.statuses))
            or operation.match.reads_request
            else FALSE
        )
        names = (operation.name, operation.wire)
        named = [is_among("faultspec_url", names), is_among("faultspec_route", names)]
        if self.kind.route is not None:
            named.append(is_among("CONCAT(faultspec_method, ' ', faultspec_route)", names))
        return any_true((claimed, *map(is_true, named)))

    # Slots.

    def _slot(self, slot: str) -> str:
        """The text in a slot of an error on a readable surface; NULL for a value of
        another type."""
        found = ((claim, self._slot_on(claim, slot)) for claim in self.readable)
        return self._choose_by_surface(found)

    def _choose_by_surface(self, found: Iterable[tuple[Claim, str | None]]) -> str:
        """An expression for the surfaces that have one; NULL on others."""
        surfaces: dict[str, list[str]] = {}
        for claim, expression in found:
            if expression is not None:
                surfaces.setdefault(expression, []).append(claim.surface.name)
        branches = [f"WHEN {self.is_on(names)} THEN {each}" for each, names in surfaces.items()]
        return f"CASE {' '.join(branches)} END" if branches else "CAST(NULL AS TEXT)"

    def _slot_on(self, claim: Claim, slot: str) -> str | None:
        if not self.has_body:
            return f"faultspec_slot_{slot}" if slot in self.kind.slots else None
        path = self._path_of(claim, slot)
        if path is None:
            return None
        member = f"faultspec_member_{self._paths.index(path)}"
        return f"FS_STRING({member}, faultspec_json, {sql_text(path)})"

    def _path_of(self, claim: Claim, slot: str, key: str | None = None) -> str | None:
        places = slot_places(claim.envelopes[0].shape).get(slot, ())
        place = next((each for each in places if isinstance(each.node, Slot)), None)
        if place is None:
            return None
        return json_path(claim.surface.at + place.path + (f"/{key}" if key else ""))

    def _flag(self, slot: str, key: str | None) -> str:
        """The text of a flag, `true` or `false`; NULL if there is none."""
        if not self.has_body:
            if slot not in self.kind.slots:
                return "CAST(NULL AS TEXT)"
            text = f"faultspec_slot_{slot}"
            found = f"FS_INNER({text}, {sql_text(f'$.{key}')})" if key else text
            return f"CASE WHEN LOWER({found}) IN ('true', 'false') THEN LOWER({found}) END"
        paths = ((claim, self._path_of(claim, slot, key)) for claim in self.readable)
        return self._choose_by_surface(
            (claim, None if path is None else f"FS_BOOLEAN(faultspec_json, {sql_text(path)})")
            for claim, path in paths
        )

    def texts(self) -> Sequence[str]:
        """The columns with texts of an error: its body or its slots, and its headers."""
        found = ["faultspec_body"] if self.has_body else []
        found += [f"faultspec_slot_{slot}" for slot in self.kind.slots if not self.has_body]
        return [*found, "faultspec_headers"] if self.has_headers else found

    @property
    def pictures(self) -> list[object]:
        """The pictures of the envelopes, whose names and constants are texts of an error."""
        return [claim.envelopes[0].picture for claim in self.readable]

    def _is_error_status(self, claim: Claim) -> str:
        """Whether the status alone tells an error of the surface."""
        return has_status(each for each in _STATUSES if claim.surface.is_error_status(each))

    def _errors(self) -> str:
        """Whether the row is an error, or may be one. The statuses of errors stand first, so that
        an engine leaves out the others as it scans the table.
        """
        sure, possible = [], []
        for status in _STATUSES:
            outcomes = {self.may_be_error(claim, status) for claim in self._possible(status)}
            if True in outcomes:
                possible.append(status)
                if len(outcomes) == 1:
                    sure.append(status)
        if sure == possible:
            return has_status(possible)
        by_surface: dict[str, list[str]] = {}
        for claim in self.claims:
            statuses = [each for each in _STATUSES if self.may_be_error(claim, each)]
            by_surface.setdefault(has_status(statuses), []).append(claim.surface.name)
        conditions = [
            has_status(sure),
            *(all_true((self.is_on(names), which)) for which, names in by_surface.items()),
            f"faultspec_surface IS NULL AND faultspec_status >= {_FAILURE}",
            "faultspec_surface = ''",
        ]
        return all_true((has_status(possible), is_true(any_true(conditions))))

    def may_be_error(self, claim: Claim | None, status: int) -> bool:
        """Whether an answer with the status may be an error, or break a clause of errors."""
        if claim is None:
            return status >= _FAILURE
        surface = claim.surface
        is_crash = crash_level(self.taxonomy, None, status) is not None
        is_left = self.why_unreadable(claim) is not None and is_crash
        return surface.is_error_status(status) or surface.marks_bodies or is_left


#: The first status that is an error where no surface says it.
_FAILURE = 400

#: The beginning of a JSON object, of one or a list, and of any body that may be JSON.
_OBJECT_START = rf"^{_SPACE}\{{"
_SPACE_START = r"[^ \t\r\n]"
_VALUE_START = rf"^{_SPACE}[\{{\[]"

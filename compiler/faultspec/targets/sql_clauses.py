"""The clauses that SQL decides: a table from the address of a clause to its predicate.

A predicate holds for a row that breaks the clause. One that is not exact holds for others too,
which the judge clears. No predicate misses a row.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from faultspec.contract.clauses import Clause, service_clauses
from faultspec.contract.crashes import CLAUSE as CRASH
from faultspec.contract.crashes import crash_level
from faultspec.contract.model import Claim
from faultspec.exchange.body import strings
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.judge.bare_status import judge_bare_status
from faultspec.judge.code import judge_code_status
from faultspec.judge.collector import FindingCollector
from faultspec.judge.match_envelope import ErrorReading
from faultspec.language.conditions import ConditionFacts
from faultspec.language.formats import FORMATS
from faultspec.language.model import Code, HeaderRule, Schema, Surface
from faultspec.leaks import JOINT, detect
from faultspec.leaks.detectors import DETECTORS
from faultspec.runtime import ids
from faultspec.runtime.nodes import slot_places
from faultspec.targets.sql_expressions import Syntax, text_end, translate_whole, widen_part
from faultspec.targets.sql_facts import (
    FALSE,
    TRUE,
    RowFacts,
    all_true,
    any_true,
    has_status,
    is_among,
    is_true,
    sql_text,
)

_STATUSES = range(100, 600)

#: The weight of one expression of leaks: its characters, and ten for each time that a part is
#: repeated. RE2 searches some of twice that weight a hundred times slower: the states of their
#: automata do not fit into its memory.
_WEIGHT = 12_000
_REPEATED = 10


class Predicate(NamedTuple):
    """SQL that holds for a row that breaks a clause. ``exact``: for no other row. ``note``: which
    other ones, as a sentence. ``left``: holds for the rows that are left to the judge.
    """

    sql: str
    exact: bool = True
    note: str = ""
    left: str = "faultspec_blind"


@dataclass(frozen=True)
class SqlClause:
    """A clause that SQL decides. ``write`` returns None for a kind of records without what the
    clause reads. ``note``: which sound rows it may select, as a sentence; empty if it is always
    exact. ``always``: whether it may select some whatever the taxonomy is.
    """

    write: Callable[[RowFacts], Predicate | None]
    note: str = ""
    always: bool = False

    @property
    def verdict(self) -> str:
        """How SQL decides the clause, for any taxonomy."""
        if not self.note:
            return "exactly"
        return "over-selects" if self.always else "exactly, or over-selects"


class SqlDecision(NamedTuple):
    """How SQL decides a clause: ``exactly``, ``over-selects`` or ``cannot``. ``predicate``: None
    for the last.
    """

    clause: Clause
    verdict: str
    note: str
    predicate: str | None = None

    @property
    def column(self) -> str:
        """The column of the views that holds for rows which may break the clause."""
        return "breaks_" + re.sub(r"[^a-z0-9]+", "_", self.clause.address)

    @property
    def shown_column(self) -> str | None:
        """The column, if the views have it."""
        return None if self.predicate is None else self.column


def decide_clauses(facts: RowFacts) -> tuple[SqlDecision, ...]:
    """Every clause that applies to the taxonomy over HTTP, and how SQL decides it."""
    found = []
    for address, clause in service_clauses(facts.taxonomy).items():
        if clause.reason_not_applicable(facts.taxonomy, "http") is not None:
            continue
        known = find_clause(address)
        predicate = known.write(facts) if known is not None else None
        if known is not None and predicate is None:
            found.append(SqlDecision(clause, "cannot", _why_unwritten(facts, clause)))
        elif predicate is None:
            found.append(SqlDecision(clause, "cannot", why_not(clause)))
        else:
            broken = is_true(any_true((predicate.sql, predicate.left)))
            condition = all_true(("faultspec_error", broken))
            verdict = "exactly" if predicate.exact else "over-selects"
            found.append(SqlDecision(clause, verdict, predicate.note, condition))
    return tuple(found)


def find_clause(address: str) -> SqlClause | None:
    """How SQL decides a clause; None if it cannot."""
    known = DECIDED.get(address)
    if known is not None:
        return known
    family, _, name = address.partition("/")
    if family == "headers":
        return SqlClause(lambda facts: _judge_header(facts, name), _HEADER_NOTE, always=True)
    if family == "leaks" and name in DETECTORS:
        return SqlClause(lambda facts: _judge_leaks(facts, name), _LEAK_NOTE, always=True)
    return None


def _why_unwritten(facts: RowFacts, clause: Clause) -> str:
    if clause.address.startswith("leaks/") and _says_texts(facts):
        return "The engine would compile its many expressions anew for each row."
    return "The records do not have what it reads."


def why_not(clause: Clause) -> str:
    """Why SQL cannot decide a clause, as a sentence."""
    if clause.relation:
        return "It compares several answers."
    family = clause.address.partition("/")[0]
    if family == "document":
        return "It reads the OpenAPI document of the service."
    return _REASONS.get(clause.address) or _FAMILIES.get(family, "It reads all of the body.")


_REASONS = {
    "leaks/canary": "It needs to know what was planted in the request.",
    "leaks/echoed-tenant": "It needs to know the tenant of the caller.",
    "deadline/kept": "It compares the time with a detail.",
    "http/head-body": "An answer without content is left to the judge.",
    "success/requires": "It reads successes.",
    "success/content": "It reads successes.",
    "envelope/absent-on-success": "It reads successes.",
    "correlation/header-equals-body": "It compares the header with a member of the body.",
}

_FAMILIES = {
    "http": "It reads the request, or headers in a way that no other clause does.",
    "batch": "It reads each item of the batch.",
    "rendering": "It reads texts in the body in the form of a rendering.",
}


# Rows that are left to the judge, by what a clause reads of them. Conditions on bodies are written
# out: an engine may work out a column for all rows before it decides which of them need it.

_UNROUTED = "faultspec_unrouted"


def _left_without_code(facts: RowFacts) -> str:
    """A code that SQL reads is that of the judge, or the judge reads none."""
    hidden = all_true(("faultspec_code IS NULL", facts.hides_body()))
    return any_true((_UNROUTED, hidden))


def _left_without_headers(facts: RowFacts) -> str:
    """The body has no part in the clause."""
    return any_true((_UNROUTED, facts.hides_headers()))


# Codes.


def _wires(facts: RowFacts, codes: Iterable[Code]) -> list[str]:
    return [str(code.wire) for code in codes]


def _is_declared(facts: RowFacts) -> str:
    """Whether the code is one of the taxonomy."""
    return is_among("faultspec_code", _wires(facts, facts.taxonomy.codes.values()))


def _is_owned(facts: RowFacts) -> str:
    """Whether the code is one of an operation alone, so that the operation decides."""
    return is_among("faultspec_code", map(str, facts.contract.numbering.owners))


def _has_code(facts: RowFacts) -> bool:
    return facts.has_body or "code" in facts.kind.slots


def _judge_declared(facts: RowFacts) -> Predicate | None:
    if not _has_code(facts):
        return None
    closed = [each.surface.name for each in facts.readable if each.surface.codes is not None]
    undeclared = f"COALESCE(NOT ({_is_declared(facts)}), {is_true(facts.hides_body())})"
    return _code_predicate(facts, all_true((facts.is_on(closed), undeclared)), _UNROUTED)


def _judge_reserved(facts: RowFacts) -> Predicate | None:
    if not _has_code(facts):
        return None
    gone = [code for code in facts.taxonomy.codes.values() if not code.live]
    return _code_predicate(facts, is_among("faultspec_code", _wires(facts, gone)))


def _judge_operation(facts: RowFacts) -> Predicate | None:
    if not _has_code(facts):
        return None
    conditions = []
    for claim in facts.readable:
        if claim.surface.codes is not None:
            others = [
                code
                for code in facts.taxonomy.codes.values()
                if code.live and code.name not in claim.surface.codes
            ]
            surface = facts.is_on([claim.surface.name])
            conditions.append(
                all_true((surface, is_among("faultspec_code", _wires(facts, others))))
            )
    sql = any_true((*conditions, _is_owned(facts)))
    if sql == FALSE:
        return _code_predicate(facts, sql)
    if _is_owned(facts) == FALSE:
        return _code_predicate(facts, all_true((sql, "faultspec_method IS NOT NULL")))
    note = "A code of an operation is left to the judge."
    return Predicate(sql, exact=False, note=note, left=_left_without_code(facts))


def _code_predicate(facts: RowFacts, sql: str, left: str | None = None) -> Predicate:
    """A predicate about the code. In a body that repeats a member there is none for the judge."""
    note = "Exact where `faultspec_read` is true." if facts.has_body else ""
    return Predicate(sql, note=note, left=left or _left_without_code(facts))


def _repeats(facts: RowFacts) -> str:
    """Whether the body may repeat a member, so that the judge reads nothing of it."""
    return "faultspec_repeats" if facts.has_body else FALSE


def _judge_code_status(facts: RowFacts) -> Predicate | None:
    by_code: dict[str, list[str]] = {}
    conditions, exact = [], True
    for claim in facts.readable:
        name = claim.surface.name
        wrong, sure = _wrong_code(facts, claim)
        by_code.setdefault(wrong, []).append(name)
        exact = exact and sure
        # The judge may read no code where SQL reads one.
        unread = any_true((facts.lacks_code(), facts.is_unread(), _repeats(facts)))
        bare = _bare(facts, claim, "code/status")
        conditions.append(all_true((facts.is_on([name]), bare, unread)))
    if not _has_code(facts):
        return _code_predicate(facts, any_true(conditions), "faultspec_blind")
    wrongs = [
        all_true((facts.is_on(names), f"COALESCE({wrong}, {is_true(facts.hides_body())})"))
        for wrong, names in by_code.items()
    ]
    sql = any_true((*wrongs, *conditions))
    if exact:
        return _code_predicate(facts, sql, _UNROUTED)
    return Predicate(sql, exact=False, note=_FACTS_NOTE, left=_UNROUTED)


def _wrong_code(facts: RowFacts, claim: Claim) -> tuple[str, bool]:
    """Whether the code may not travel under the status, NULL without a code; and whether that is
    certain. It reads the code of most rows once: engines repeat the expression of a column.
    """
    live = [code for code in facts.taxonomy.codes.values() if code.live]
    exact = True
    allowed: dict[int, list[str]] = {status: [] for status in _STATUSES}
    for code in live:
        wrong, sure = _wrong_statuses(facts, claim, code)
        exact = exact and sure
        for status in {*_STATUSES}.difference(wrong):
            allowed[status].append(str(code.wire))
    statuses: dict[tuple[str, ...], list[int]] = {}
    for status, wires in allowed.items():
        if facts.may_be_error(claim, status):
            statuses.setdefault(tuple(wires), []).append(status)
    branches = [
        f"WHEN {has_status(each)} THEN {is_among('faultspec_code', wires)}"
        for wires, each in statuses.items()
        if wires
    ]
    is_live = is_among("faultspec_code", _wires(facts, live))
    if not branches:
        return is_live, exact
    return f"CASE WHEN CASE {' '.join(branches)} END THEN FALSE ELSE {is_live} END", exact


_FACTS_NOTE = "A code whose rule reads details, the operation or the caller is left to the judge."


def _wrong_statuses(facts: RowFacts, claim: Claim, code: Code) -> tuple[list[int], bool]:
    """The statuses under which the code may not travel, and whether they are certain."""
    reads = {fact for fact in code.http.reads if fact not in ("status", "cause")}
    wrong = []
    for status in _STATUSES:
        known = ConditionFacts(status=status)
        possible = code.http.decide(known)
        if reads and len(possible) > 1:
            wrong.append(status)
            continue
        exchange = Exchange(Request("GET", "/"), Response(status))
        findings = FindingCollector(facts.contract, exchange)
        error = ErrorReading(
            claim=claim, envelope=claim.envelopes[0], at="", slots={}, where={}, operation=None
        )
        judge_code_status(findings, error, code, known)
        if findings.judgement(surface=None, code=None, is_error=True).findings:
            wrong.append(status)
    return wrong, not reads


def _bare(facts: RowFacts, claim: Claim, clause: str) -> str:
    """The statuses of an error of an unknown code that break a clause."""
    broken = []
    for status in _STATUSES:
        exchange = Exchange(Request("GET", "/"), Response(status), lacks=frozenset({"code"}))
        findings = FindingCollector(facts.contract, exchange)
        judge_bare_status(findings, claim)
        judged = findings.judgement(surface=None, code=None, is_error=True)
        if any(finding.clause == clause for finding in judged.findings):
            broken.append(status)
    return has_status(broken)


def _judge_crash(facts: RowFacts) -> Predicate | None:
    taxonomy = facts.taxonomy
    pairs: dict[str, list[str]] = {}
    for code in taxonomy.codes.values() if _has_code(facts) else ():
        statuses = has_status(
            each for each in _STATUSES if crash_level(taxonomy, code, each) is not None
        )
        pairs.setdefault(statuses, []).append(str(code.wire))
    by_code = any_true(
        all_true((is_among("faultspec_code", wires), statuses)) for statuses, wires in pairs.items()
    )
    unknown = has_status(
        each for each in _STATUSES if crash_level(taxonomy, None, each) is not None
    )
    # Slots without a code say that the error has one, which the record leaves out.
    without_code = facts.has_slots() if facts.has_body else FALSE
    known = f"faultspec_code IS NOT NULL AND NOT ({_is_declared(facts)})"
    by_status = all_true(
        (any_true((known, f"faultspec_code IS NULL AND ({without_code})")), unknown)
    )
    bare = [
        all_true(
            (
                facts.is_on([claim.surface.name]),
                facts.lacks_code(),
                _bare(facts, claim, CRASH),
            )
        )
        for claim in facts.readable
    ]
    # The judge may read no code where SQL reads one.
    unknown = any_true((unknown, *(_bare(facts, claim, CRASH) for claim in facts.readable)))
    unread = any_true((facts.is_unread(), _repeats(facts)))
    left = any_true((_left_without_code(facts), all_true((unknown, unread))))
    return _code_predicate(facts, any_true((by_code, by_status, *bare)), left)


def _judge_flag(facts: RowFacts) -> Predicate | None:
    if not _has_code(facts) or not facts.flags:
        return None
    present = any_true(
        f"faultspec_flag_{number} IS NOT NULL" for number, _ in enumerate(facts.flags)
    )
    codes: dict[tuple[str, str], list[str]] = {}
    exact = True
    for code in (each for each in facts.taxonomy.codes.values() if each.live):
        reads = {fact for fact in code.retriable.reads if fact not in ("status", "cause")}
        outcomes: dict[tuple[bool, ...], list[int]] = {}
        for status in _STATUSES:
            outcome = code.retriable.decide(ConditionFacts(status=status))
            outcomes.setdefault(outcome, []).append(status)
        for outcome, statuses in outcomes.items():
            here = TRUE if len(outcomes) == 1 else has_status(statuses)
            if len(outcome) == 1:
                wrong = "false" if outcome[0] else "true"
                has_wrong = any_true(
                    f"faultspec_flag_{number} = {sql_text(wrong)}"
                    for number, _ in enumerate(facts.flags)
                )
                codes.setdefault((here, has_wrong), []).append(str(code.wire))
            elif reads and outcome:
                exact = False
                codes.setdefault((here, present), []).append(str(code.wire))
    sql = any_true(
        all_true((here, wrong, is_among("faultspec_code", wires)))
        for (here, wrong), wires in codes.items()
    )
    if exact:
        return _code_predicate(facts, sql)
    return Predicate(sql, exact=False, note=_FACTS_NOTE, left=_left_without_code(facts))


def _judge_fixed(facts: RowFacts) -> Predicate | None:
    if not _has_code(facts):
        return None
    codes: dict[tuple[str, str], list[str]] = {}
    for code in (each for each in facts.taxonomy.codes.values() if each.live):
        allowed: dict[str, tuple[object, ...]] = {
            slot: tuple(values) for slot, values in code.facts.items() if values
        }
        if code.boundaries:
            allowed["boundary"] = code.boundaries
        if code.domain is not None:
            allowed["domain"] = (code.domain,)
        for slot, values in allowed.items():
            if slot in facts.slots:
                texts = [value for value in values if isinstance(value, str)]
                wrong = f"NOT ({is_among(f'faultspec_{slot}', texts)})"
                if len(texts) < len(values):  # the others are numbers or flags
                    wrong = TRUE
                present = f"faultspec_{slot} IS NOT NULL" if texts else TRUE
                codes.setdefault((present, wrong), []).append(str(code.wire))
    sql = any_true(
        all_true((present, wrong, is_among("faultspec_code", wires)))
        for (present, wrong), wires in codes.items()
    )
    return Predicate(sql, exact=False, note=_FIXED_NOTE, left=_left_without_code(facts))


_FIXED_NOTE = "A value that no declaration has is one of `envelope/types`."


# Bodies.


def _judge_surface(_: RowFacts) -> Predicate:
    # Without the method, the judge does not decide it.
    sql = "faultspec_surface IS NULL AND faultspec_method IS NOT NULL"
    return Predicate(sql, left=_UNROUTED)


def _judge_json(facts: RowFacts) -> Predicate | None:
    if not facts.has_body:
        return None
    sql = all_true(
        (
            "faultspec_surface IS NOT NULL AND faultspec_body IS NOT NULL",
            any_true(("NOT FS_IS_JSON(faultspec_json)", "faultspec_repeats")),
        )
    )
    return Predicate(sql, exact=False, note=_JSON_NOTE)


_JSON_NOTE = "A name that occurs twice, in different objects, looks like a repeated member."


def _judge_media_type(facts: RowFacts) -> Predicate | None:
    if not facts.has_headers:
        return None
    end = text_end(facts.dialect.syntax)
    value = facts.header_value("Content-Type")
    conditions = []
    for claim in facts.readable:
        types = "|".join(_either_case(media_type) for media_type in claim.envelopes[0].media_types)
        charset = f"(?:;[ \\t]*{_either_case('charset=utf')}-?8[ \\t]*)?"
        matches = facts.matches(f"({value})", rf"^[ \t]*(?:{types})[ \t]*{charset}{end}")
        sound = is_true(all_true((facts.header_is_plain("Content-Type"), matches)))
        conditions.append(all_true((facts.is_on([claim.surface.name]), f"NOT ({sound})")))
    sql = all_true(("faultspec_header_names IS NOT NULL", any_true(conditions)))
    return Predicate(sql, exact=False, note=_MEDIA_TYPE_NOTE, left=_left_without_headers(facts))


_MEDIA_TYPE_NOTE = (
    "A body that is not JSON is one of `envelope/json`; parameters are left to the judge."
)


def _either_case(text: str) -> str:
    return "".join(
        f"[{each.upper()}{each.lower()}]"
        if each.isalpha()
        else f"\\{each}"
        if each in ".+*"
        else each
        for each in text
    )


def _judge_ids(facts: RowFacts) -> Predicate | None:
    conditions = []
    exact = True
    for claim in facts.readable:
        surface = facts.is_on([claim.surface.name])
        slots = facts.contract.slots[claim.envelopes[0].name]
        for slot, schema in slots.items():
            if slot not in slot_places(claim.envelopes[0].shape):
                continue
            nested = any(
                part is not schema and (part.format or part.pattern)
                for part in schema.nested_schemas()
            )
            if nested:
                exact = False
                conditions.append(surface)
            elif (schema.format or schema.pattern) and slot in facts.slots:
                valid = _valid_text(schema, f"faultspec_{slot}", facts)
                exact = exact and valid.exact
                present = f"faultspec_{slot} IS NOT NULL"
                conditions.append(all_true((surface, present, f"NOT ({valid.sql})")))
    if not conditions:
        return None
    sql = any_true(conditions)
    if exact:
        return _code_predicate(facts, sql)
    return Predicate(sql, exact=False, note=_FORMAT_NOTE, left=_left_without_code(facts))


_FORMAT_NOTE = "A format that no expression decides, and one inside a value, are left to the judge."


def _valid_text(schema: Schema, expression: str, facts: RowFacts) -> Predicate:
    """Whether a text surely has a format and a pattern."""
    syntax = facts.dialect.syntax
    parts, exact = [TRUE], not (schema.types and "string" not in schema.types)
    if schema.format:
        formats = _valid_formats(schema.format, expression, facts)
        exact = exact and formats.exact
        parts.append(formats.sql)
    if schema.pattern:
        pattern = _translate_anchored(schema.pattern, syntax)
        exact = exact and pattern is not None
        parts.append(FALSE if pattern is None else facts.matches(expression, pattern))
    return Predicate(all_true(parts), exact)


def _valid_formats(formats: Sequence[str], expression: str, facts: RowFacts) -> Predicate:
    """Whether a text surely has one of the formats."""
    if any(name not in FORMATS for name in formats):
        return Predicate(TRUE)
    found, exact = [], True
    for name in formats:
        pattern, sure = _format_expression(name, facts.dialect.syntax)
        exact = exact and sure
        if pattern is not None:
            found.append(facts.matches(expression, pattern))
    return Predicate(any_true(found), exact)


def _format_expression(name: str, syntax: Syntax) -> tuple[str | None, bool]:
    """An expression of texts that have a format, and whether all of them match."""
    if name in ids.PATTERNS:
        pattern = _translate_anchored(ids.PATTERNS[name], syntax)
        return pattern, pattern is not None
    write = _SURE.get(name)
    return (None if write is None else write(syntax)), False


def _translate_anchored(pattern: str, syntax: Syntax) -> str | None:
    """An anchored expression of a whole text; None if it is another, or has no translation."""
    inner = re.fullmatch(r"\^(.*)\$", pattern, re.DOTALL)
    if inner is None or re.search(r"[\^$]", re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "", inner[1])):
        return None
    try:
        re.compile(inner[1])
    except re.error:
        return None
    return translate_whole(inner[1], syntax, re.ASCII)


#: Texts that surely have a format. Others may have it too.
_SURE: Mapping[str, Callable[[Syntax], str | None]] = {
    # Up to 115 days, in seconds.
    "retry-after": lambda syntax: f"^[0-9]{{1,7}}{text_end(syntax)}",
    "etag": lambda syntax: f'^(?:W/)?"[!#-~]*"{text_end(syntax)}',
    "methods": lambda syntax: f"^[A-Z]+(?:, ?[A-Z]+)*{text_end(syntax)}",
    "challenge": lambda syntax: (
        f'^[A-Za-z]+(?: [a-z]+="[A-Za-z0-9 ._:/-]*"(?:, ?[a-z_]+="[A-Za-z0-9 ._:/-]*")*)?'
        f"{text_end(syntax)}"
    ),
    "deprecation": lambda syntax: f"^@[0-9]{{1,15}}{text_end(syntax)}",
    "uri": lambda syntax: f"^[A-Za-z][A-Za-z0-9+.-]*:[!-~]*{text_end(syntax)}",
}


# Headers.

_HEADER_NOTE = (
    "Exact for a header that is missing or forbidden, if the row has a code. A date, a list and a "
    "value in another than the simplest form are left to the judge."
)


def _judge_header(facts: RowFacts, name: str) -> Predicate | None:
    if not facts.has_headers:
        return None
    taxonomy = facts.taxonomy
    codes = [code for code in taxonomy.codes.values() if _has_own_rules(facts, code, name)]
    wires = _wires(facts, codes) if _has_code(facts) else []
    other = f"(faultspec_code IS NULL OR NOT ({is_among('faultspec_code', wires)}))"
    branches: list[tuple[Code | None, str]] = [(None, TRUE if not wires else other)]
    branches += [
        (code, is_among("faultspec_code", [str(code.wire)])) for code in (codes if wires else ())
    ]
    surfaces = [claim for claim in facts.readable if claim.surface.headers]
    plain = [claim.surface.name for claim in surfaces]
    elsewhere = f"(faultspec_surface IS NULL OR NOT ({is_among('faultspec_surface', plain)}))"
    places: list[tuple[Surface | None, str]] = [(None, TRUE if not plain else elsewhere)]
    places += [(claim.surface, facts.is_on([claim.surface.name])) for claim in surfaces]
    conditions = [
        all_true((of_code, of_surface, has_status(statuses), _breaks_rules(rules, facts)))
        for code, of_code in branches
        for surface, of_surface in places
        for rules, statuses in _rules_by_status(facts, code, surface, name)
    ]
    given = "faultspec_header_names IS NOT NULL"
    reads_error = bool(codes) or any(
        rule.name.lower() == name and rule.equals is not None
        for rule in taxonomy.every_header_rule()
    )
    return Predicate(
        all_true((given, any_true(conditions))),
        exact=False,
        note=_HEADER_NOTE,
        left="faultspec_blind" if reads_error else _left_without_headers(facts),
    )


def _has_own_rules(facts: RowFacts, code: Code, name: str) -> bool:
    rules = (*code.headers, *(rule for rule in facts.taxonomy.every_header_rule() if rule.codes))
    return any(
        rule.name.lower() == name and (rule in code.headers or code.name in rule.codes)
        for rule in rules
    )


def _rules_by_status(
    facts: RowFacts, code: Code | None, surface: Surface | None, name: str
) -> Iterator[tuple[tuple[HeaderRule, ...], list[int]]]:
    """The rules of a header, and the statuses under which they hold."""

    def rules_at(status: int) -> tuple[HeaderRule, ...]:
        return tuple(
            rule
            for rule in facts.taxonomy.header_rules(code, status, surface)
            if rule.name.lower() == name
        )

    found: dict[tuple[HeaderRule, ...], list[int]] = {}
    for status in _STATUSES:
        if rules := rules_at(status):
            found.setdefault(rules, []).append(status)
    yield from found.items()


def _breaks_rules(rules: tuple[HeaderRule, ...], facts: RowFacts) -> str:
    """Whether a header breaks its rules, or may break them."""
    name, presence = rules[-1].name, rules[-1].presence
    present = facts.header_is_present(name)
    if presence == "forbidden":
        return present
    value = facts.header_value(name)
    sound = [facts.header_is_plain(name)]
    for rule in rules:
        sound.append(_keeps_form(rule, value, facts))
    wrong = f"{present} AND NOT ({is_true(all_true(sound))})"
    broken = wrong if presence == "optional" else any_true((f"NOT ({present})", wrong))
    simple = _simple_value(rules, facts)
    if simple is None:
        return broken
    return f"CASE WHEN {facts.header_is_once(name, simple)} THEN FALSE ELSE {is_true(broken)} END"


def _simple_value(rules: tuple[HeaderRule, ...], facts: RowFacts) -> str | None:
    """An expression of values without quotes that surely keep the one rule of a header, which an
    engine finds sooner than it takes a value out; None if there is none.
    """
    (rule, *others) = rules
    if others or rule.value is not None or (rule.equals is not None and not _is_echo(rule, facts)):
        return None
    if rule.token and not rule.format and not re.search(_ODD_DIRECTIVE, rule.token.lower()):
        return f"[ \\t]*{_either_case(rule.token)}[ \\t]*"
    if rule.token or not _PLAIN_FORMATS.issuperset(rule.format):
        return None
    syntax = facts.dialect.syntax
    found = [_format_expression(name, syntax)[0] for name in rule.format]
    end = text_end(syntax)
    parts = [each.removeprefix("^").removesuffix(end) for each in found if each is not None]
    return f"(?:{'|'.join(parts)})" if parts else None


#: Directives with arguments, and one that may contradict another.
_ODD_DIRECTIVE = r'["\\=]|public'

#: Formats whose texts have no quotes.
_PLAIN_FORMATS = frozenset({"uuid", "uuid4", "uuid7", "ulid", "ksuid", "retry-after"})


def _keeps_form(rule: HeaderRule, value: str, facts: RowFacts) -> str:
    """Whether the value of a header surely keeps a rule."""
    if rule.value is not None:
        return FALSE
    parts = []
    if rule.format:
        parts.append(_valid_formats(rule.format, f"({value})", facts).sql)
    if "methods" in rule.format:
        parts.append("faultspec_status <> 405")  # it must not list the refused method
    if rule.token:
        token = re.escape(rule.token.lower()).replace("\\-", "-")
        # A list of directives without arguments, none of which contradicts another.
        end = text_end(facts.dialect.syntax)
        found = facts.matches(f"LOWER({value})", f"(?:^|,)[ \\t]*{token}[ \\t]*(?:,|{end})")
        others = facts.matches(f"LOWER({value})", _ODD_DIRECTIVE)
        parts += [found, f"NOT {others}"]
    if rule.equals is not None and not _is_echo(rule, facts):
        slot = f"faultspec_{rule.equals}"
        if rule.equals not in facts.slots:
            return FALSE
        parts.append(f"{slot} IS NOT NULL AND {slot} = {value}")
    return all_true(parts)


def _is_echo(rule: HeaderRule, facts: RowFacts) -> bool:
    """Whether another clause compares the header with the slot, wherever there is one."""
    return all(
        rule.name.lower() in {(field.echo or "").lower(), (field.mirror or "").lower()}
        for envelope in facts.taxonomy.envelopes.values()
        if (field := envelope.fields.get(rule.equals or "")) is not None
    ) and all(
        rule.equals in envelope.fields or rule.equals not in slot_places(envelope.shape)
        for envelope in facts.taxonomy.envelopes.values()
    )


# Leaks.

_LEAK_NOTE = (
    "The expressions lack what RE2 lacks, and no program checks what they find. A text with tags, "
    "escapes or an encoding is left to the judge."
)


def _judge_leaks(facts: RowFacts, kind: str) -> Predicate | None:
    if not _says_texts(facts):
        return None
    syntax = facts.dialect.syntax
    sources = [(each.expression, each.flags) for each in DETECTORS[kind]]
    if kind == "internal-name":
        sources += [(each.expression, each.flags) for each in facts.contract.names]
    found: list[str] = []
    for expression, flags in sources:
        part = widen_part(expression, syntax, flags)
        if part is None:
            return Predicate(TRUE, exact=False, note=_LEAK_NOTE)
        found.append(part)
    most = facts.dialect.most_leaks
    if most is not None and sum(map(len, found)) > most:
        return None
    searched = [facts.matches("faultspec_text", "|".join(each)) for each in _chunks(found)]
    constants = JOINT.join(text for picture in facts.pictures for _, text in strings(picture))
    leaks = TRUE if detect(constants, (kind,), facts.contract.names) else FALSE
    sql = any_true(("faultspec_dressed", leaks, *searched))
    return Predicate(sql, exact=False, note=_LEAK_NOTE)


def _says_texts(facts: RowFacts) -> bool:
    """Whether the records have what leaks are searched in."""
    return facts.has_body or "message" in facts.kind.slots


def _chunks(parts: Iterable[str]) -> Iterator[list[str]]:
    """Parts of one expression each, none of them too long to search fast."""
    chunk: list[str] = []
    weight = 0
    for part in dict.fromkeys(parts):
        if chunk and weight + _weigh(part) > _WEIGHT:
            yield chunk
            chunk, weight = [], 0
        chunk.append(part)
        weight += _weigh(part)
    if chunk:
        yield chunk


def _weigh(part: str) -> int:
    return len(part) + _REPEATED * sum(map(int, re.findall(r"\{(\d+),\}", part)))


def searches_texts(facts: RowFacts) -> bool:
    """Whether a clause about leaks applies, and rows have what it reads."""
    privacy = facts.taxonomy.privacy
    return privacy is not None and bool(privacy.detectors) and _says_texts(facts)


DECIDED: Mapping[str, SqlClause] = {
    "surface/known": SqlClause(_judge_surface),
    CRASH: SqlClause(_judge_crash),
    "envelope/media-type": SqlClause(_judge_media_type, _MEDIA_TYPE_NOTE, always=True),
    "envelope/json": SqlClause(_judge_json, _JSON_NOTE, always=True),
    "code/declared": SqlClause(_judge_declared),
    "code/reserved": SqlClause(_judge_reserved),
    "code/operation": SqlClause(_judge_operation, "A code of an operation is left to the judge."),
    "code/status": SqlClause(_judge_code_status, _FACTS_NOTE),
    "boundary/allowed": SqlClause(_judge_fixed, _FIXED_NOTE, always=True),
    "retriable/agrees": SqlClause(_judge_flag, _FACTS_NOTE),
    "ids/format": SqlClause(_judge_ids, _FORMAT_NOTE),
}
"""The clauses that SQL decides, but for those of headers and leaks, which `find_clause` adds."""

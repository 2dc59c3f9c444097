"""The SQL target: views over a team's own table of exchanges, which say for each row which clauses
it breaks or may break.

A kind of records of the taxonomy (`telemetry: records:`) maps the columns, so a row that SQL
selects is a record that `faultspec audit` reads.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import NamedTuple

from faultspec.contract.model import build_contract
from faultspec.diagnostics.model import Diagnostic
from faultspec.language.model import RecordingRule, Taxonomy
from faultspec.targets.model import Model
from faultspec.targets.sql_clauses import SqlDecision, decide_clauses, searches_texts
from faultspec.targets.sql_dialects import DIALECTS, ESCAPED_NAME, NAME, Dialect
from faultspec.targets.sql_facts import (
    FALSE,
    RowFacts,
    any_true,
    column,
    is_true,
    sql_text,
)

#: Rows of one combination that the view of odd ones has: a finding of the audit shows as many
#: places.
_SAMPLE = 5

#: Characters of the shape of a body: enough to tell envelopes apart.
_SHAPE = 500


class ClauseRow(NamedTuple):
    """A clause, how SQL decides it, and which sound rows it may select or why it cannot.
    ``column``: that of the views; None if SQL cannot decide the clause.
    """

    address: str
    verdict: str
    note: str
    column: str | None = None

    @property
    def line(self) -> str:
        """The clause as a line of a table in a comment."""
        return f"{self.address:31} {self.verdict:13} {self.note}".rstrip()


class SqlFile(NamedTuple):
    """The views of one kind of records. ``statements``: SQL without the semicolon at the end.
    ``surfaces``: those whose rows are all left to the judge, with the reason.
    """

    name: str
    dialect: str
    table: str
    remarks: tuple[str, ...]
    clauses: tuple[ClauseRow, ...]
    surfaces: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]


class SqlView(NamedTuple):
    """One file for each kind of records, or for the one that the project names."""

    files: tuple[SqlFile, ...]


class SqlSettings(NamedTuple):
    """How the views are written. ``table``: None for one with the name of the kind of records.
    ``record``: the kind; None for all.
    """

    dialect: str = "duckdb"
    table: str | None = None
    record: str | None = None


def view(taxonomy: Taxonomy, model: Model, settings: Mapping[str, str]) -> SqlView | None:
    """The views, or None without kinds of records that have columns.

    Raises TargetError without sqlglot.
    """
    from faultspec.targets import TargetError

    if find_spec("sqlglot") is None:
        message = "sqlglot is not installed: pip install 'faultspec[sql]'"
        raise TargetError(Diagnostic("missing-package", message, model.source))
    chosen = SqlSettings(**settings)
    kinds = taxonomy.telemetry.records.values() if taxonomy.telemetry is not None else ()
    used = [
        kind
        for kind in kinds
        if why_no_columns(kind) is None and chosen.record in (None, kind.name)
    ]
    contract = build_contract(taxonomy)
    dialect = DIALECTS[chosen.dialect]
    files = [_file(RowFacts(contract, kind, dialect), chosen) for kind in used]
    return SqlView(tuple(files)) if files else None


def why_no_columns(kind: RecordingRule) -> str | None:
    """Why a kind of records cannot be one of rows of a table, as the predicate of a sentence; None
    if it can.
    """
    if kind.unwrap:
        return "unwraps lines, which a table does not have"
    if any(pointer in ("", "/") or "/../" in f"{pointer}/" for pointer in kind.pointers):
        return "reads what is around the record, which a table does not have"
    return None


def _file(facts: RowFacts, settings: SqlSettings) -> SqlFile:
    kind, dialect = facts.kind, facts.dialect
    decisions = decide_clauses(facts)
    table = settings.table or kind.name
    drops = [f"DROP VIEW IF EXISTS {column(name)}" for name in reversed(_view_names(kind.name))]
    statements = [
        *dialect.preamble,
        *(() if dialect.replaces_views else drops),
        *(
            dialect.translate(statement)
            for statement in (
                _exchange_view(facts, decisions, table),
                _classified_view(facts, decisions),
                _combination_view(kind),
                _odd_view(kind),
            )
        ),
    ]
    unread = [
        (claim.surface.name, reason)
        for claim in facts.claims
        if (reason := facts.why_unreadable(claim)) is not None
    ]
    rows = [
        ClauseRow(each.clause.address, each.verdict, each.note, each.shown_column)
        for each in decisions
        if not each.clause.relation
    ]
    return SqlFile(
        name=kind.name,
        dialect=dialect.name,
        table=table,
        remarks=(dialect.remark,) if dialect.remark else (),
        clauses=tuple(rows),
        surfaces=tuple(unread),
        statements=tuple(statements),
    )


def _view_names(kind: str) -> list[str]:
    return [f"{kind}_{end}" for end in ("exchanges", "classified", "combinations", "odd")]


def _select(columns: Iterable[tuple[str, str]], source: str, *, keep: bool = True) -> str:
    listed = [f"{expression} AS {name}" for name, expression in columns]
    return f"SELECT {', '.join(['*', *listed] if keep else listed)} FROM {source}"


def _exchange_view(facts: RowFacts, decisions: tuple[SqlDecision, ...], table: str) -> str:
    """The statement of the view with a row for each row of the table that is an exchange, and all
    clauses but those of leaks: engines compile their expressions for each query of a view that has
    them, whether the query reads them or not.
    """
    kept = [*map(column, facts.columns)]
    source = _select(facts.source_columns(), _table_name(table), keep=False)
    source = source.replace("SELECT ", f"SELECT {', '.join(kept)}, ", 1)
    broken = [
        (each.column, each.predicate)
        for each in decisions
        if each.predicate is not None and not _is_leak(each)
    ]
    searched = ("faultspec_blind", "faultspec_text", "faultspec_dressed")
    shown = [
        *kept,
        *_SHOWN,
        *(searched if any(map(_is_leak, decisions)) and searches_texts(facts) else ()),
        *(name for name, _ in broken),
    ]
    stages = {
        "source_rows": f"{source} WHERE {facts.is_of_kind()}",
        "read_rows": _select(facts.read_columns(), "source_rows"),
        "surface_rows": _select(facts.surface_columns(), "read_rows"),
        "fact_rows": _select((*facts.fact_columns(), *facts.member_columns()), "surface_rows"),
        "slot_rows": _select((*facts.slot_columns(), *_text_columns(facts)), "fact_rows"),
        "error_rows": _select(_error_columns(facts), "slot_rows"),
        "clause_rows": _select(broken, "error_rows"),
    }
    written = ", ".join(f"{name} AS ({query})" for name, query in stages.items())
    return (
        f"CREATE OR REPLACE VIEW {column(facts.kind.name + '_exchanges')} AS "
        f"WITH {written} SELECT {', '.join(shown)} FROM clause_rows"
    )


def _is_leak(decision: SqlDecision) -> bool:
    return decision.clause.address.startswith("leaks/")


def _classified_view(facts: RowFacts, decisions: tuple[SqlDecision, ...]) -> str:
    """The statement of the view with all clauses of each exchange."""
    kept = [*map(column, facts.columns)]
    flagged = [each for each in decisions if each.predicate is not None]
    leaks = [(each.column, each.predicate or FALSE) for each in flagged if _is_leak(each)]
    exchanges = column(facts.kind.name + "_exchanges")
    stages = {
        "leak_rows": _select(leaks, exchanges),
        "named_rows": _select((("faultspec_clauses", _clauses(flagged)),), "leak_rows"),
    }
    written = ", ".join(f"{name} AS ({query})" for name, query in stages.items())
    shown = [*kept, *_SHOWN, *(each.column for each in flagged), "faultspec_clauses"]
    return (
        f"CREATE OR REPLACE VIEW {column(facts.kind.name + '_classified')} AS "
        f"WITH {written} SELECT {', '.join(shown)} FROM named_rows"
    )


_SHOWN = (
    "faultspec_service",
    "faultspec_time",
    "faultspec_surface",
    "faultspec_method",
    "faultspec_path",
    "faultspec_status",
    "faultspec_code",
    "faultspec_flag",
    "faultspec_shape",
    "faultspec_error",
    "faultspec_read",
)


def _table_name(table: str) -> str:
    return ".".join(column(part) for part in table.split("."))


def _text_columns(facts: RowFacts) -> Iterator[tuple[str, str]]:
    """The texts of an error, as clauses read them."""
    if "code" not in facts.slots:
        yield "faultspec_code", "CAST(NULL AS TEXT)"
    body = "faultspec_body"
    # Two names may be equal where one is written with an escape.
    repeats = f"FS_REPEATS({body}, {sql_text(NAME)})"
    escaped = facts.matches(body, ESCAPED_NAME)
    yield "faultspec_repeats", is_true(any_true((repeats, escaped)))
    yield "faultspec_shape", _shape(facts)
    if searches_texts(facts):
        texts = " || FS_CHARACTER(10) || ".join(f"COALESCE({each}, '')" for each in facts.texts())
        yield "faultspec_text", _unescape(f"({texts})")


def _unescape(text: str) -> str:
    """A text of JSON without its escapes.

    The judge searches a value together with its name if that is the name of a secret, and a list of
    texts as one text. So a text with such a name or list stands there again, in that form.
    """
    marked = f"REPLACE(REPLACE({text}, '\\\\', FS_CHARACTER(1)), '\\\"', FS_CHARACTER(2))"
    members = f"FS_REPLACE({marked}, {sql_text(_COLON)}, {sql_text(': ' + chr(34))})"
    lines = f"FS_REPLACE({marked}, {sql_text(_COMMA)}, FS_CHARACTER(10))"
    named = _if_matches(text, _SECRET_NAME, members)
    listed = _if_matches(text, _LIST, lines)
    found = f"({marked} || {named} || {listed})"
    for escape, code in (("\\n", 10), ("\\r", 13), ("\\t", 9), ("\\/", 47)):
        found = f"REPLACE({found}, {sql_text(escape)}, FS_CHARACTER({code}))"
    return f"REPLACE(REPLACE({found}, FS_CHARACTER(2), {sql_text(chr(34))}), FS_CHARACTER(1), '\\')"


def _if_matches(text: str, pattern: str, then: str) -> str:
    found = f"FS_CHARACTER(10) || {then}"
    return f"CASE WHEN FS_MATCHES(LOWER({text}), {sql_text(pattern)}) THEN {found} ELSE '' END"


_WS = r"[ \t\r\n]*"
_COLON = f'"{_WS}:{_WS}"'
_COMMA = f'"{_WS},{_WS}"'
_LIST = rf'\[{_WS}"'

#: The words of names under which the judge searches a value with its name, and shorter ones.
_SECRET_NAME = (
    "passw|pwd|passphrase|secret|token|key|credential|authorization|national|pesel|ssn|birth"
    "|insurance|passport|diagnos"
)


def _shape(facts: RowFacts) -> str:
    """The body without its values, so that bodies of one shape are one combination."""
    if not facts.has_body:
        return "CAST(NULL AS TEXT)"
    texts = f"FS_REPLACE(faultspec_body, {sql_text(_VALUE)}, {sql_text(': ' + chr(34) + chr(34))})"
    numbers = f"FS_REPLACE({texts}, '[0-9]+', '0')"
    return f"CASE WHEN FS_IS_JSON(faultspec_json) THEN SUBSTRING({numbers}, 1, {_SHAPE}) END"


_VALUE = rf':{_WS}"(?:[^"\\]|\\.)*"'


def _error_columns(facts: RowFacts) -> Iterator[tuple[str, str]]:
    json = "FS_IS_JSON(faultspec_json) AND NOT faultspec_repeats" if facts.has_body else "TRUE"
    empty = f"NOT ({facts.has_slots()})"
    yield "faultspec_read", is_true(f"NOT faultspec_blind AND (({json}) OR {empty})")
    flags = ", ".join(f"faultspec_flag_{number}" for number, _ in enumerate(facts.flags))
    yield "faultspec_flag", f"COALESCE({flags})" if flags else "CAST(NULL AS TEXT)"
    if searches_texts(facts):
        yield "faultspec_dressed", is_true(_is_dressed(facts.dialect))


_PARAMETER = "[?&][A-Za-z0-9_.-]+="


def _is_dressed(dialect: Dialect) -> str:
    """Whether a text may have a tag, an escape, base64 or the parameters of a URL, under which the
    judge finds more (``faultspec.leaks.layers.is_dressed``).
    """
    run = "[A-Za-z0-9+/_\\-]"
    text = "faultspec_text"
    # Runs in one case, such as identifiers, are not base64.
    without = text
    for letters in ("a-z", "A-Z"):
        pattern = f"(^|[^A-Za-z0-9+/_\\-])[{letters}0-9+/_\\-]{{22,}}($|[^A-Za-z0-9+/_\\-])"
        without = f"FS_REPLACE({without}, {sql_text(pattern)}, '  ')"
    return any_true(
        (
            f"FS_MATCHES({text}, {sql_text('[%&<]')})",
            f"FS_MATCHES({text}, {sql_text(chr(92) * 2)})",
            f"FS_MATCHES({text}, {sql_text('[+]')}) AND FS_MATCHES({text}, {sql_text(_PARAMETER)})",
            f"FS_MATCHES({without}, {sql_text(run + '{22,}')})",
            f"FS_MATCHES({text}, {sql_text('(?:[2-7][0-9a-fA-F]|0[aAdD9]){16}')})",
        )
    )


def _clauses(decisions: Iterable[SqlDecision]) -> str:
    """The addresses of the clauses that a row may break, in one text."""
    parts = [
        f"CASE WHEN {each.column} THEN {sql_text(each.clause.address + ' ')} ELSE '' END"
        for each in decisions
    ]
    return f"TRIM({' || '.join(parts)})" if parts else "''"


def _combination(kind: RecordingRule) -> list[str]:
    return [
        *(() if kind.service is None else ("faultspec_service",)),
        "faultspec_surface",
        "faultspec_method",
        "faultspec_status",
        "faultspec_code",
        "faultspec_flag",
        "faultspec_shape",
        "faultspec_read",
        "faultspec_clauses",
    ]


def _combination_view(kind: RecordingRule) -> str:
    """The statement of the view with a row for each combination of facts of errors."""
    keys = ", ".join(_combination(kind))
    seen = ""
    if kind.time is not None:
        seen = ", MIN(faultspec_time) AS first_seen, MAX(faultspec_time) AS last_seen"
    return (
        f"CREATE OR REPLACE VIEW {column(kind.name + '_combinations')} AS "
        f"SELECT {keys}, COUNT(*) AS exchanges{seen} "
        f"FROM {column(kind.name + '_classified')} WHERE faultspec_error GROUP BY {keys}"
    )


def _odd_view(kind: RecordingRule) -> str:
    """The statement of the view with a few errors of each combination, for the judge."""
    keys = ", ".join(_combination(kind))
    return (
        f"CREATE OR REPLACE VIEW {column(kind.name + '_odd')} AS SELECT * FROM (SELECT *, "
        f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY faultspec_path) AS faultspec_number "
        f"FROM {column(kind.name + '_classified')} WHERE faultspec_error) AS numbered "
        f"WHERE faultspec_number <= {_SAMPLE}"
    )

"""Waivers: known failures, each with its reason, its owner and the day on which it expires."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from faultspec.contract.clauses import client_clauses, service_clauses
from faultspec.diagnostics.model import Diagnostic, sort_diagnostics
from faultspec.diagnostics.model import Path as Place
from faultspec.exchange.finding import Finding
from faultspec.language import grammar
from faultspec.language.grammar import Either, Flag, Integer, Key, Many, Named, Record, Text
from faultspec.language.model import Taxonomy
from faultspec.source import UNREADABLE, Document, SourceError, load_document


@dataclass(frozen=True, slots=True)
class Waiver:
    """A known failure. ``clause`` is an address or a pattern such as ``leaks/*``; a field that is
    None matches anything. ``cause``: the fingerprint of the finding. ``flaky``: the failure may or
    may not occur, so an unused waiver is not reported.

    ``condition``: environment variables with patterns of their values. Elsewhere the waiver is not
    in force.
    """

    clause: str
    reason: str
    owner: str
    expires: date
    operation: str | None = None
    code: str | None = None
    status: int | None = None
    condition: tuple[tuple[str, str], ...] = ()
    cause: str | None = None
    flaky: bool = False

    def holds(self, environment: Mapping[str, str]) -> bool:
        """Whether the waiver is in force: every variable of its condition matches the pattern."""
        return all(
            fnmatchcase(environment.get(name, ""), pattern) for name, pattern in self.condition
        )

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is the known failure."""
        return (
            fnmatchcase(finding.clause, self.clause)
            and (self.operation is None or fnmatchcase(finding.operation or "", self.operation))
            and self.code in (None, finding.code)
            and self.status in (None, finding.status)
            and (self.cause is None or self.cause in finding.fingerprints)
        )

    def __str__(self) -> str:
        parts = (self.clause, self.cause, self.operation, self.code, self.status)
        return " ".join(str(part) for part in parts if part)


#: Days for which a suggested waiver holds: a quarter, after which somebody looks again.
DAYS = 90

#: The reason and the owner of a suggested waiver.
TO_FILL_IN = "fill in"

#: Texts that need no quotes in flow YAML: words with the punctuation of addresses and codes.
_PLAIN = r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z/][A-Za-z0-9_./-]*)*"

#: Words that YAML reads as another type (YAML 1.1 has more of them than 1.2).
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})

_DAY = Text(r"\d{4}-\d\d-\d\d", "a day such as 2026-12-31")
WAIVER = Record(
    "a waiver",
    {
        "clause": Key(
            Text(), "The address of the clause that fails, or a pattern such as `leaks/*`.", True
        ),
        "cause": Key(
            Text(r"[0-9a-f]{12}", "a fingerprint such as 0123456789ab"),
            "The fingerprint of the finding; the waiver covers no other cause.",
        ),
        "operation": Key(Text(), "The operation that fails, such as `GET /orders/{id}`."),
        "code": Key(Text(), "The code of the failing answer."),
        "status": Key(Integer(100, 599), "The status of the failing answer."),
        "reason": Key(Text(), "Why the failure is known and accepted for now.", True),
        "owner": Key(Text(), "The person or team that will fix it.", True),
        "expires": Key(_DAY, "The last day on which the failure is accepted.", True),
        "flaky": Key(
            Flag(), "The failure may or may not occur; the waiver is never reported as unused."
        ),
        "condition": Key(
            Named(Text()),
            (
                "Environment variables, each with a value or a pattern; the waiver holds only "
                "where all match."
            ),
        ),
    },
)
LIST = Many(WAIVER)
FILE = Either(
    (LIST, Record("the file of waivers", {"waivers": Key(LIST, "The known failures.", True)}))
)


class LoadedWaivers(NamedTuple):
    """The waivers of a file. If ``diagnostics`` has an error, broken waivers are left out.

    ``data`` is the list in the document, at ``place``. ``sources``: the text by file name, for
    printers.
    """

    waivers: tuple[Waiver, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    document: Document | None = None
    data: object = None
    place: Place = ()
    sources: Mapping[str, str] = MappingProxyType({})


@grammar.bounded_suggestions()
def read_waivers(path: str) -> LoadedWaivers:
    """Read the waivers of a file: a list, or the list under `waivers`, as in a conformance file."""
    before: tuple[Diagnostic, ...] = ()
    try:
        document = load_document(path)
    except SourceError as error:
        if error.document is None:
            sources = {} if error.text is None else {path: error.text}
            return LoadedWaivers(diagnostics=error.diagnostics, sources=sources)
        document, before = error.document, error.diagnostics
    data = document.data
    place: Place = ()
    if isinstance(data, dict):
        if "target" not in data:  # in a conformance file, `config` reports what is around the list
            problems = grammar.problem_diagnostics(document, grammar.check_data(FILE, data))
            before += tuple(each for each in problems if each.pointer[:1] != ("waivers",))
        data, place = data.get("waivers", []), ("waivers",)
    waivers, found = parse_waivers(document, data, place)
    return LoadedWaivers(
        waivers=waivers,
        diagnostics=sort_diagnostics((*before, *found)),
        document=document,
        data=data,
        place=place,
        sources={path: document.text},
    )


def parse_waivers(
    document: Document, data: object, place: Place
) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """The waivers of the list at ``place`` of a document, without the broken ones, and their
    diagnostics.
    """
    found = grammar.problem_diagnostics(document, grammar.check_data(LIST, data, place))
    broken = {diagnostic.pointer[: len(place) + 1] for diagnostic in found}
    waivers: list[Waiver] = []
    for index, item in enumerate(data if isinstance(data, list) else ()):
        unreadable = not isinstance(item, dict) or UNREADABLE in (*item, *item.values())
        if unreadable or (*place, index) in broken:
            continue
        try:
            expires = date.fromisoformat(item["expires"])
        except ValueError:
            found.append(
                document.diagnostic(
                    "bad-value",
                    f"`{item['expires']}` is not a day of the calendar",
                    (*place, index, "expires"),
                    key=False,
                    hint="write year, month and day, such as 2026-12-31",
                )
            )
            continue
        condition = tuple(item.get("condition", {}).items())
        waivers.append(Waiver(**{**item, "expires": expires, "condition": condition}))
    return tuple(waivers), sort_diagnostics(found)


#: A method and a path, or a pattern that may match both.
_OPERATION = re.compile(r"[A-Z]+ [/*?\[]|[^ ]*[*?\[]")


def check_waivers(loaded: LoadedWaivers, taxonomy: Taxonomy) -> Iterator[Diagnostic]:
    """The faults of waivers by the taxonomy: unknown clauses, operations that are not requests,
    unknown codes.

    An unknown code is a warning only: a service may send an undeclared code, and that may be a
    known failure.
    """
    if loaded.document is None:
        return
    diagnostic = loaded.document.diagnostic
    addresses = (*service_clauses(taxonomy), *client_clauses(taxonomy))
    codes = tuple(
        dict.fromkeys(
            name for code in taxonomy.every_code() for name in (code.name, str(code.wire))
        )
    )
    named = any(surface.transport in ("jsonrpc", "mcp") for surface in taxonomy.surfaces.values())
    for index, item in enumerate(loaded.data if isinstance(loaded.data, list) else ()):
        at: Place = (*loaded.place, index)
        clause, operation, code = (_text(item, key) for key in ("clause", "operation", "code"))
        if clause is not None and not any(fnmatchcase(address, clause) for address in addresses):
            hint = grammar.closest(clause, addresses) or (
                "write an address such as leaks/sql, or a pattern such as leaks/*; "
                "reports list the clauses"
            )
            message = f"`{clause}` is not a clause"
            yield diagnostic("unknown-clause", message, (*at, "clause"), key=False, hint=hint)
        if operation is not None and not named and not _OPERATION.match(operation):
            message = f"`{operation}` is not an operation"
            hint = "write a method and a path, such as `GET /orders/{id}`, or a pattern of both"
            yield diagnostic("bad-value", message, (*at, "operation"), key=False, hint=hint)
        unfilled = [key for key in ("reason", "owner") if _text(item, key) == TO_FILL_IN]
        for key in unfilled:
            message = f"the {key} of the waiver is not filled in"
            hint = f"write the {key} in place of `{TO_FILL_IN}`"
            yield diagnostic(
                "bad-value", message, (*at, key), key=False, severity="warning", hint=hint
            )
        if code is not None and code not in codes:
            yield diagnostic(
                "unknown-code",
                f"the taxonomy {taxonomy.name} has no code `{code}`",
                (*at, "code"),
                key=False,
                severity="warning",
                hint=grammar.closest(code, codes)
                or "keep it only if the service sends this undeclared code",
            )


def _text(item: object, key: str) -> str | None:
    """The text under a key of a waiver; None for other values and empty texts."""
    value = item.get(key) if isinstance(item, dict) else None
    return value if isinstance(value, str) and value else None


def unknown_clauses(waivers: Iterable[Waiver], known: Iterable[str]) -> Iterator[str]:
    """A sentence for each waiver that names no known clause."""
    addresses = tuple(known)
    for waiver in waivers:
        if not any(fnmatchcase(address, waiver.clause) for address in addresses):
            is_pattern = re.search(r"[*?\[]", waiver.clause) is not None
            hint = None if is_pattern else grammar.closest(waiver.clause, addresses)
            yield f"the waiver {waiver} names an unknown clause" + (f"; {hint}" if hint else "")


def waivers_in_force(
    waivers: Iterable[Waiver], environment: Mapping[str, str]
) -> tuple[Waiver, ...]:
    """The waivers whose condition holds in the environment."""
    return tuple(waiver for waiver in waivers if waiver.holds(environment))


def apply_waivers(
    finding: Finding, waivers: Iterable[Waiver], used: Counter[Waiver], times: int = 1
) -> str | None:
    """The reason of the first waiver that covers the finding, or None. The waiver's use is counted
    in ``used``. ``times``: how often the finding comes.
    """
    waiver = next((waiver for waiver in waivers if waiver.covers(finding)), None)
    if waiver is None:
        return None
    used[waiver] += times
    return waiver.reason


def expired_waivers(used: Mapping[Waiver, int], today: date) -> Iterator[str]:
    """A sentence for each expired waiver that covers a finding. One finding is enough."""
    for waiver, times in used.items():
        if times and waiver.expires < today:
            yield (
                f"the waiver {waiver} expired on {waiver.expires} ({waiver.owner}): {waiver.reason}"
            )


def waiver_line(finding: Finding, operations: Sequence[str], day: date) -> str:
    """A waiver of one cause, as an item of a list in YAML. It holds for ``DAYS`` after ``day``.

    A cause on several operations has one line without an operation.
    """
    (operation,) = operations if len(operations) == 1 else (None,)
    values = {
        "clause": _escape_pattern(finding.clause),
        "cause": finding.fingerprint,
        "operation": None if operation is None else _escape_pattern(operation),
        "code": finding.code_of_cause,
        "status": finding.status_of_cause,
        "reason": TO_FILL_IN,
        "owner": TO_FILL_IN,
    }
    written = (f"{key}: {_scalar(value)}" for key, value in values.items() if value is not None)
    return f"- {{{', '.join(written)}, expires: {day + timedelta(DAYS)}}}"


def _escape_pattern(text: str) -> str:
    return re.sub(r"[*?\[]", r"[\g<0>]", text)


def _scalar(value: str | int) -> str:
    """A value in flow YAML: plain if it can only be a text, else in double quotes."""
    if isinstance(value, int) or (re.fullmatch(_PLAIN, value) and value.lower() not in _WORDS):
        return str(value)
    return f'"{"".join(map(_escape, value))}"'


def _escape(character: str) -> str:
    """A character in a double-quoted text of YAML."""
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def unused_waivers(used: Mapping[Waiver, int], exercised: Iterable[str]) -> Iterator[str]:
    """A sentence for each waiver that covers no finding although its clause was exercised."""
    addresses = tuple(exercised)
    for waiver, times in used.items():
        if (
            not times
            and not waiver.flaky
            and any(fnmatchcase(address, waiver.clause) for address in addresses)
        ):
            yield (
                f"the waiver {waiver} is no longer needed: its clause was exercised and "
                "no finding matched it"
            )

"""Known failures: each with its reason, its owner and the day it expires, so that none is forgotten."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from faultspec.diagnostic import Diagnostic, ordered
from faultspec.finding import Finding
from faultspec.language import grammar
from faultspec.language.grammar import Either, Integer, Key, Many, Record, Text
from faultspec.source import Document, SourceError, load


@dataclass(frozen=True, slots=True)
class Waiver:
    """A failure that is known. ``clause`` is an address or a pattern such as ``leaks/*``; what is None matches anything."""

    clause: str
    reason: str
    owner: str
    expires: date
    operation: str | None = None
    code: str | None = None
    status: int | None = None

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is the known failure."""
        return (
            fnmatchcase(finding.clause, self.clause)
            and (self.operation is None or fnmatchcase(finding.operation or "", self.operation))
            and (self.code is None or self.code == finding.code)
            and (self.status is None or self.status == finding.status)
        )

    def __str__(self) -> str:
        parts = [self.clause, self.operation, self.code, str(self.status) if self.status is not None else None]
        return " ".join(part for part in parts if part)


_DAY = Text(r"\d{4}-\d\d-\d\d", "a day such as 2026-12-31")
WAIVER = Record(
    "a waiver",
    {
        "clause": Key(Text(), "The address of the clause that fails, or a pattern such as `leaks/*`.", True),
        "operation": Key(Text(), "Where it fails, such as `GET /orders/{id}`."),
        "code": Key(Text(), "The code it fails with."),
        "status": Key(Integer(100, 599), "The status it fails with."),
        "reason": Key(Text(), "Why the failure is known and left alone for now.", True),
        "owner": Key(Text(), "Who will see to it.", True),
        "expires": Key(_DAY, "The last day on which it is excused.", True),
    },
)
LIST = Many(WAIVER)
FILE = Either((LIST, Record("the file of waivers", {"waivers": Key(LIST, "The known failures.", True)})))


def read(path: str) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """The waivers of a file: a list, or the list under `waivers` (as in the configuration itself)."""
    try:
        document = load(path)
    except SourceError as error:
        return (), error.diagnostics
    data = document.data
    if isinstance(data, dict) and "target" in data:  # the configuration itself, with the list in it
        return understand(document, data["waivers"], ("waivers",))
    found = _problems(document, FILE, data, ())
    if found:
        return (), found
    place: tuple[str | int, ...] = ("waivers",) if isinstance(data, dict) else ()
    return understand(document, data["waivers"] if isinstance(data, dict) else data, place)


def understand(
    document: Document, data: object, place: tuple[str | int, ...]
) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """The waivers of a list that stands at ``place`` of a document."""
    found = list(_problems(document, LIST, data, place))
    waivers: list[Waiver] = []
    if not found and isinstance(data, list):
        for index, each in enumerate(data):
            try:
                expires = date.fromisoformat(each["expires"])
            except ValueError:
                message = f"`{each['expires']}` is no day of the calendar"
                found.append(document.diagnostic("bad-value", message, (*place, index, "expires"), key=False))
                continue
            waivers.append(
                Waiver(
                    clause=each["clause"],
                    reason=each["reason"],
                    owner=each["owner"],
                    expires=expires,
                    operation=each.get("operation"),
                    code=each.get("code"),
                    status=each.get("status"),
                )
            )
    return tuple(waivers), ordered(found)


def unknown_clauses(waivers: Iterable[Waiver], known: Iterable[str]) -> Iterator[str]:
    """Sentences about waivers whose clause there is not."""
    addresses = tuple(known)
    for waiver in waivers:
        if not any(fnmatchcase(each, waiver.clause) for each in addresses):
            hint = grammar.closest(waiver.clause, addresses) if not re.search(r"[*?\[]", waiver.clause) else None
            yield f"the waiver {waiver} names a clause that there is not" + (f"; {hint}" if hint else "")


def stale(
    waivers: Iterable[Waiver], used: Mapping[Waiver, int], exercised: Iterable[str], today: date
) -> Iterator[str]:
    """Sentences about waivers that have run out, or that nothing needs although their clause was exercised."""
    occasions = tuple(exercised)
    for waiver in waivers:
        if used.get(waiver) and waiver.expires < today:
            yield f"the waiver {waiver} expired on {waiver.expires} ({waiver.owner}): {waiver.reason}"
        elif not used.get(waiver) and any(fnmatchcase(each, waiver.clause) for each in occasions):
            yield f"the waiver {waiver} is not needed any more: its clause was exercised and nothing it names failed"


def _problems(
    document: Document, wanted: grammar.Type, data: object, place: tuple[str | int, ...]
) -> tuple[Diagnostic, ...]:
    return ordered(
        document.diagnostic(each.code, each.message, each.path, key=each.on_key, hint=each.hint)
        for each in grammar.problems(wanted, data, place)
    )

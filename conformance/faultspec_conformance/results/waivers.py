"""Known failures: each with its reason, its owner and the day it expires, so that none is forgotten."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from faultspec.contract.clauses import client_clauses, service_clauses
from faultspec.diagnostics.model import Diagnostic, ordered
from faultspec.diagnostics.model import Path as Place
from faultspec.exchange.finding import Finding
from faultspec.language import grammar
from faultspec.language.grammar import Either, Integer, Key, Many, Named, Record, Text
from faultspec.language.model import Taxonomy
from faultspec.source import UNREADABLE, Document, SourceError, load_document


@dataclass(frozen=True, slots=True)
class Waiver:
    """A failure that is known. ``clause`` is an address or a pattern such as ``leaks/*``; what is None matches anything.

    ``condition``: variables of the environment, each with a pattern of the values under which the failure is known.
    """

    clause: str
    reason: str
    owner: str
    expires: date
    operation: str | None = None
    code: str | None = None
    status: int | None = None
    condition: tuple[tuple[str, str], ...] = ()

    def holds(self, environment: Mapping[str, str]) -> bool:
        """Whether it is in force here: each variable that its condition names has a value of that pattern."""
        return all(
            fnmatchcase(environment.get(name, ""), pattern) for name, pattern in self.condition
        )

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is the known failure."""
        return (
            fnmatchcase(finding.clause, self.clause)
            and (self.operation is None or fnmatchcase(finding.operation or "", self.operation))
            and (self.code is None or self.code == finding.code)
            and (self.status is None or self.status == finding.status)
        )

    def __str__(self) -> str:
        parts = [
            self.clause,
            self.operation,
            self.code,
            str(self.status) if self.status is not None else None,
        ]
        return " ".join(part for part in parts if part)


_DAY = Text(r"\d{4}-\d\d-\d\d", "a day such as 2026-12-31")
WAIVER = Record(
    "a waiver",
    {
        "clause": Key(
            Text(), "The address of the clause that fails, or a pattern such as `leaks/*`.", True
        ),
        "operation": Key(Text(), "Where it fails, such as `GET /orders/{id}`."),
        "code": Key(Text(), "The code it fails with."),
        "status": Key(Integer(100, 599), "The status it fails with."),
        "reason": Key(Text(), "Why the failure is known and left alone for now.", True),
        "owner": Key(Text(), "Who will see to it.", True),
        "expires": Key(_DAY, "The last day on which it is excused.", True),
        "condition": Key(
            Named(Text()),
            "Where it is known: variables of the environment, each with its value or a pattern of it. Elsewhere it is none.",
        ),
    },
)
LIST = Many(WAIVER)
FILE = Either(
    (LIST, Record("the file of waivers", {"waivers": Key(LIST, "The known failures.", True)}))
)


class LoadedWaivers(NamedTuple):
    """What came of reading known failures; with an error among the diagnostics, some of them are missing.

    ``data`` is the list as the document has it, at ``place``. ``sources``: the text by file name, for printers.
    """

    waivers: tuple[Waiver, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    document: Document | None = None
    data: object = None
    place: Place = ()
    sources: Mapping[str, str] = MappingProxyType({})


def read(path: str) -> LoadedWaivers:
    """The waivers of a file: a list, or the list under `waivers` (as in the configuration itself)."""
    before: tuple[Diagnostic, ...] = ()
    try:
        document = load_document(path)
    except SourceError as error:
        if error.document is None:
            return LoadedWaivers(
                diagnostics=error.diagnostics,
                sources={} if error.text is None else {path: error.text},
            )
        document, before = error.document, error.diagnostics
    data = document.data
    place: Place = ()
    if isinstance(data, dict):
        if (
            "target" not in data
        ):  # else it is the configuration, and what is wrong around the list is told with it
            around = (
                each
                for each in _problems(document, FILE, data, ())
                if each.pointer[:1] != ("waivers",)
            )
            before = (*before, *around)
        data, place = data.get("waivers", []), ("waivers",)
    waivers, found = understand(document, data, place)
    return LoadedWaivers(
        waivers, ordered((*before, *found)), document, data, place, {path: document.text}
    )


def understand(
    document: Document, data: object, place: Place
) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """The waivers of a list that stands at ``place`` of a document; those that are broken are reported and left out."""
    found = list(_problems(document, LIST, data, place))
    broken = {each.pointer[: len(place) + 1] for each in found}
    waivers: list[Waiver] = []
    for index, each in enumerate(data if isinstance(data, list) else ()):
        if (
            (*place, index) in broken
            or not isinstance(each, dict)
            or UNREADABLE in (*each, *each.values())
        ):
            continue
        try:
            expires = date.fromisoformat(each["expires"])
        except ValueError:
            message = f"`{each['expires']}` is no day of the calendar"
            hint = "write year, month and day, such as 2026-12-31"
            found.append(
                document.diagnostic(
                    "bad-value", message, (*place, index, "expires"), key=False, hint=hint
                )
            )
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
                condition=tuple(each.get("condition", {}).items()),
            )
        )
    return tuple(waivers), ordered(found)


def problems(loaded: LoadedWaivers, taxonomy: Taxonomy) -> Iterator[Diagnostic]:
    """What is wrong with waivers in the light of the taxonomy: a clause that there is not, an operation that is no request.

    A code that the taxonomy does not have is a warning: what a service sends undeclared may be a known failure too.
    """
    if loaded.document is None:
        return
    say = loaded.document.diagnostic
    addresses = (*service_clauses(taxonomy), *client_clauses(taxonomy))
    codes = tuple(
        dict.fromkeys(
            name for each in taxonomy.every_code() for name in (each.name, str(each.wire))
        )
    )
    for index, each in enumerate(loaded.data if isinstance(loaded.data, list) else ()):
        at: Place = (*loaded.place, index)
        clause, operation, code = (
            value if isinstance(value, str) and value else None
            for value in (
                each.get(key) if isinstance(each, dict) else None
                for key in ("clause", "operation", "code")
            )
        )
        if clause is not None and not any(fnmatchcase(address, clause) for address in addresses):
            hint = (
                grammar.closest(clause, addresses)
                or "write an address such as leaks/sql, or a pattern such as leaks/*; the report lists them"
            )
            yield say(
                "unknown-clause",
                f"there is no clause `{clause}`",
                (*at, "clause"),
                key=False,
                hint=hint,
            )
        named = any(
            surface.transport in ("jsonrpc", "mcp") for surface in taxonomy.surfaces.values()
        )
        if operation is not None and not named and not _OPERATION.match(operation):
            message = f"`{operation}` is no operation"
            hint = "write a method and a path, such as `GET /orders/{id}`, or a pattern of both"
            yield say("bad-value", message, (*at, "operation"), key=False, hint=hint)
        if code is not None and code not in codes:
            message = f"the taxonomy {taxonomy.name} has no code `{code}`"
            hint = (
                grammar.closest(code, codes)
                or "that is right only for what the service sends undeclared"
            )
            yield say(
                "unknown-code", message, (*at, "code"), key=False, severity="warning", hint=hint
            )


#: A method and a path, or a pattern that may match both.
_OPERATION = re.compile(r"[A-Z]+ /|[^ ]*[*?\[]")


def unknown_clauses(waivers: Iterable[Waiver], known: Iterable[str]) -> Iterator[str]:
    """Sentences about waivers whose clause there is not."""
    addresses = tuple(known)
    for waiver in waivers:
        if not any(fnmatchcase(each, waiver.clause) for each in addresses):
            hint = (
                grammar.closest(waiver.clause, addresses)
                if not re.search(r"[*?\[]", waiver.clause)
                else None
            )
            yield f"the waiver {waiver} names a clause that there is not" + (
                f"; {hint}" if hint else ""
            )


def in_force(waivers: Iterable[Waiver], environment: Mapping[str, str]) -> tuple[Waiver, ...]:
    """The waivers whose condition holds in the environment."""
    return tuple(waiver for waiver in waivers if waiver.holds(environment))


def excused(finding: Finding, waivers: Iterable[Waiver], used: Counter[Waiver]) -> str | None:
    """The reason of the first waiver that covers the finding, which is counted; None where none does."""
    waiver = next((each for each in waivers if each.covers(finding)), None)
    if waiver is None:
        return None
    used[waiver] += 1
    return waiver.reason


def expired(used: Mapping[Waiver, int], today: date) -> Iterator[str]:
    """Sentences about waivers that cover something and have run out: one look at the failure is enough to tell."""
    for waiver, times in used.items():
        if times and waiver.expires < today:
            yield f"the waiver {waiver} expired on {waiver.expires} ({waiver.owner}): {waiver.reason}"


def needless(used: Mapping[Waiver, int], exercised: Iterable[str]) -> Iterator[str]:
    """Sentences about waivers that nothing needs although their clause was exercised."""
    occasions = tuple(exercised)
    for waiver, times in used.items():
        if not times and any(fnmatchcase(each, waiver.clause) for each in occasions):
            yield f"the waiver {waiver} is not needed any more: its clause was exercised and nothing it names failed"


def _problems(
    document: Document, wanted: grammar.Type, data: object, place: Place
) -> tuple[Diagnostic, ...]:
    return ordered(
        document.diagnostic(each.code, each.message, each.path, key=each.on_key, hint=each.hint)
        for each in grammar.check_data(wanted, data, place)
    )

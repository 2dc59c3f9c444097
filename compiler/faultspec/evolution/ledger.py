"""The ledger: breaking changes that a team accepted, each with its reason and its owner."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from faultspec.diagnostics.model import Diagnostic, sort_diagnostics
from faultspec.evolution.model import Change
from faultspec.language import grammar
from faultspec.language.grammar import Key, Many, Record, Text
from faultspec.source import Document, SourceError, load_document

ACCEPTED_CHANGE = Record(
    "an accepted change",
    {
        "change": Key(
            Text(r"[0-9a-f]{12}", "a fingerprint of twelve hexadecimal digits"),
            "The fingerprint of the change, which `faultspec diff` prints.",
            required=True,
        ),
        "reason": Key(Text(), "Why the change is worth what it breaks.", required=True),
        "owner": Key(Text(), "The person or team that answers for it.", required=True),
        "what": Key(Text(), "The change in words, for readers."),
    },
)

LEDGER = Record(
    "a ledger",
    {"accepted": Key(Many(ACCEPTED_CHANGE), "The accepted changes.", required=True)},
)


class AcceptedChange(NamedTuple):
    """An entry of a ledger. ``position``: in the file, from 0."""

    change: str
    reason: str
    owner: str
    position: int


class LoadedLedger(NamedTuple):
    """The entries of a ledger, and the mistakes in its file. Errors leave no entries."""

    document: Document | None
    entries: tuple[AcceptedChange, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str] = {}


def fingerprint(change: Change) -> str:
    """Twelve hexadecimal digits of the rule, all places, and the values before and after.

    A change at one place more is another change, which nobody has accepted yet.
    """
    places = ",".join(sorted(change.places))
    content = "|".join((change.rule, places, change.identity))
    return hashlib.sha256(content.encode()).hexdigest()[:12]


@grammar.bounded_suggestions()
def read_ledger(path: str) -> LoadedLedger:
    """Read a ledger. Mistakes are diagnostics; none is raised."""
    try:
        document = load_document(path)
    except SourceError as error:
        sources = {} if error.text is None else {path: error.text}
        return LoadedLedger(error.document, (), sort_diagnostics(error.diagnostics), sources)
    problems = list(grammar.check_data(LEDGER, document.data))
    found = [*grammar.problem_diagnostics(document, problems)]
    found += [] if problems else _repeated_entries(document)
    diagnostics = sort_diagnostics(found)
    entries = (
        ()
        if diagnostics
        else tuple(
            AcceptedChange(entry["change"], entry["reason"], entry["owner"], index)
            for index, entry in enumerate(document.data["accepted"])
        )
    )
    return LoadedLedger(document, entries, diagnostics, {path: document.text})


def _repeated_entries(document: Document) -> Iterator[Diagnostic]:
    """An error for each entry with the fingerprint of an earlier one: which reason counts?"""
    first: dict[str, int] = {}
    for index, entry in enumerate(document.data["accepted"]):
        name = entry["change"]
        if name in first:
            before = document.related_place("first here", ("accepted", first[name]), key=False)
            yield document.diagnostic(
                "duplicate-acceptance",
                f"the change {name} is accepted twice",
                ("accepted", index),
                key=False,
                hint="keep one of the two",
                related=(before,),
            )
        first.setdefault(name, index)


def find_stale(ledger: LoadedLedger, changes: Iterable[Change]) -> tuple[Diagnostic, ...]:
    """An error for each entry that matches none of the changes."""
    present = {fingerprint(change) for change in changes}
    if ledger.document is None:
        return ()
    return tuple(
        ledger.document.diagnostic(
            "stale-acceptance",
            f"no change has the fingerprint {entry.change}",
            ("accepted", entry.position),
            key=False,
            hint="remove the entry: the change was released, or it was made otherwise",
        )
        for entry in ledger.entries
        if entry.change not in present
    )


def ledger_entry(change: Change) -> str:
    """The line of a ledger that accepts a change, with the reason and the owner to fill in."""
    return f'- {{change: "{fingerprint(change)}", reason: fill in, owner: fill in}}'

"""The reference of the language: every construct by its address, and the generated page."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import fill

from faultspec.language.catalog import CODES
from faultspec.language.constructs import DOCUMENT
from faultspec.language.constructs.parts import POINTER, SCHEMA_KEYS
from faultspec.language.examples import EXAMPLES
from faultspec.language.formats import FORMATS
from faultspec.language.grammar import (
    Anything,
    Choice,
    DeferredKind,
    Either,
    Flag,
    Integer,
    Key,
    Many,
    Named,
    Nothing,
    Number,
    Record,
    Text,
    Type,
)
from faultspec.language.schema import SHARED
from faultspec.source import CODES as SOURCE_CODES


@dataclass(frozen=True, slots=True)
class Construct:
    """A key of the language.

    `address` is its path without the names that authors choose, as `codes.retriable.when.if`.
    `record`: the mapping that has the key.
    """

    address: str
    key: Key
    record: str

    @property
    def name(self) -> str:
        """The key itself."""
        return self.address.rpartition(".")[2]

    @property
    def shared_address(self) -> str:
        """The address, the same wherever the key is repeated: in every schema, header rule, match
        and code.
        """
        return shared_address(self.address, self.record, self.name)


#: Records that occur in several places, and the address that their keys share.
_SHARED_RECORDS: Mapping[str, str] = {
    "a schema": "schema",
    "a member": "schema",
    "a header rule": "header_rules",
    "a match": "match",
    "a source": "source",
    "a term": "terms",
    "defaults of codes": "codes",
}


_OWN_OF_TERMS = (("a recovery action", "sends_again"), ("a domain", "defaults"))


def shared_address(address: str, record: str, name: str) -> str:
    """The address of a key of a record, the same wherever the key is repeated."""
    if name == "source":
        return "source"
    above = _SHARED_RECORDS.get(record)
    if record in ("a detail key", "a field") and name in SCHEMA_KEYS:
        above = "schema"
    if (record, name) in _OWN_OF_TERMS:
        above = None
    elif record in ("a recovery action", "a domain"):
        above = "terms"
    if above is not None:
        return f"{above}.{name}"
    return re.sub(r"^operations\.(errors|codes)\.", "codes.", address)


def constructs(grammar: Type = DOCUMENT) -> Mapping[str, Construct]:
    """Every construct of a file by address, in the order of its grammar; recursive types are
    entered once.
    """
    return {construct.address: construct for construct in _walk(grammar, "", ())}


def address_of(grammar: Type, written: str) -> str | None:
    """The address of a key as an author writes it, with names that they chose or with `*`, such as
    `resources.order.create`; None if the file has no such key.
    """
    return next(_addresses(grammar, tuple(written.split(".")), ()), None)


def _addresses(type: Type, steps: tuple[str, ...], address: tuple[str, ...]) -> Iterator[str]:
    if not steps:
        yield ".".join(address)
        return
    match type:
        case Record(_, keys) if steps[0] in keys:
            yield from _addresses(keys[steps[0]].type, steps[1:], (*address, steps[0]))
        case Either(branches):
            for branch in branches:
                yield from _addresses(branch, steps, address)
        case Many(inner):
            yield from _addresses(inner, steps, address)
            if steps[0] == "*" or steps[0].isdigit():
                yield from _addresses(inner, steps[1:], address)
        case Named(inner):
            yield from _addresses(inner, steps, address)
            yield from _addresses(inner, steps[1:], address)
        case DeferredKind(_, get):
            yield from _addresses(get(), steps, address)


def _walk(type: Type, above: str, entered: tuple[str, ...]) -> Iterator[Construct]:
    for record in nested_records(type):
        if record.name in entered:
            continue
        for name, key in record.keys.items():
            address = f"{above}.{name}" if above else name
            yield Construct(address, key, record.name)
            yield from _walk(key.type, address, (*entered, record.name))


def nested_records(type: Type) -> Iterator[Record]:
    """The records of a type, also in its lists and named values, each once."""
    yield from {id(record): record for record in _records(type)}.values()


def _records(type: Type) -> Iterator[Record]:
    match type:
        case Record():
            yield type
        case Either(branches):
            for branch in branches:
                yield from _records(branch)
        case Many(inner) | Named(inner):
            yield from _records(inner)
        case DeferredKind(_, get):
            yield from _records(get())


#: Shared types that have a section of their own, below the constructs.
EXPLAINED = ("source", "schema", "header_rules", "condition", "duration", "status")


def _explanation(type: Type) -> str | None:
    return next((name for name in EXPLAINED if SHARED[name] == type), None)


_PLAIN: Mapping[type, str] = {
    Flag: "`true` \\| `false`",
    Nothing: "`null`",
    Anything: "anything",
}


def describe_type(type: Type) -> str:
    """The values of a type, in words, in Markdown."""
    name = _explanation(type)
    if name is not None:
        return f"[{name}](#{name})"
    words = _PLAIN.get(type.__class__, "")
    match type:
        case Text(_, words) | Record(words):
            pass
        case Choice(values):
            words = " \\| ".join(f"`{value}`" for value in values)
        case Integer(low, high):
            words = "a whole number" + _range_text(low, high)
        case Number(low):
            words = "a number" + _range_text(low, None)
        case Many(item):
            words = f"a list, each item {describe_type(item)}"
        case Named(value, key, optional):
            mark = ", optional ones ending in `?`" if optional else ""
            subject = "JSON Pointers" if key == POINTER else "names"
            words = f"{subject}{mark}, each with {describe_type(value)}"
        case Either(branches):
            words = ", or ".join(_describe_branches(branches))
        case DeferredKind(_, get):
            words = describe_type(get())
    return words


def _range_text(low: float | None, high: float | None) -> str:
    upper = f" to {high:g}" if high else ""
    return "" if low is None else f" from {low:g}{upper}"


def _describe_branches(branches: tuple[Type, ...]) -> Iterator[str]:
    status = SHARED["status"]
    assert isinstance(status, Either)
    before: tuple[Type, ...] = ()
    if branches[: len(status.branches)] == status.branches:
        yield describe_type(status)
        branches = branches[len(status.branches) :]
        before = (status,)
    for branch in branches:
        repeated = len(before) == 1 and isinstance(branch, Many) and branch.item == before[0]
        yield "a list of them" if repeated else describe_type(branch)
        before = (*before, branch)


_INTRODUCTION = """\
# The language

<!-- generated by `python -m faultspec.docs.pages docs`; the text comes from the grammar -->

A taxonomy is one YAML file. Keys in **bold** are required. Most constructs may have a `source`.
For completion and checks in an editor, begin a taxonomy with
`# yaml-language-server: $schema=` and the path of `faultspec.schema.json`.

YAML is read strictly: `NO`, `012`, `1:30` and dates are text, keys are unique, and anchors,
aliases and tags are not allowed. A key such as `limit?` in braces is valid YAML 1.2; YAML 1.1
readers in Python (`yaml.safe_load`, yamllint) need it in quotes, or on a line of its own.

The last column links the clauses that can fail because of a key, or has in italics why no clause
does. What a clause checks is in the [kill matrix](kill-matrix.md).

| key | meaning | judged by |
|---|---|---|"""


Judged = Callable[[str], str]
"""The clauses that judge a key, in Markdown, by its shared address."""


def reference_page(judged: Judged) -> str:
    """The reference page, in Markdown."""
    out = [_INTRODUCTION]
    for name, key in DOCUMENT.keys.items():
        out.append(f"| [{_bold(name, key)}](#{name}) | {key.doc} | {judged(name)} |")
    for name, key in DOCUMENT.keys.items():
        out += ["", f"## {name}", "", fill(key.doc, 100), ""]
        out += ["```yaml", EXAMPLES[name].rstrip(), "```"]
        out += (
            tables(key.type, name, (), judged)
            if name != "headers"
            else ("", "Each header has [header_rules](#header_rules).")
        )
    out += ["", "# Parts of many constructs"]
    for name in EXPLAINED:
        out += ["", f"## {name}", "", _SHARED_DOCS[name]]
        out += tables(SHARED[name], name, (), judged)
    out += ["", "## slot", "", "The slots that every `shape` of an envelope may use:", ""]
    out += ["| slot | value |", "|---|---|"]
    out += [f"| `${slot}` | {meaning} |" for slot, meaning in _SLOT_DOCS.items()]
    out += ["", "`fields` of the envelope, `slots` and `facts` of codes declare others."]
    out += ["", "## format", "", "The values of `format` in a schema and in a header rule:", ""]
    out += ["| format | the text is |", "|---|---|"]
    out += [f"| `{name}` | {_cell(format.description)} |" for name, format in FORMATS.items()]
    out += ["", "# Diagnostic codes", "", "| code | condition |", "|---|---|"]
    out += [
        f"| `{code}` | {_cell(condition)} |"
        for code, condition in {**SOURCE_CODES, **CODES}.items()
    ]
    return "\n".join(out) + "\n"


_SHARED_DOCS: Mapping[str, str] = {
    "source": "The origin of a construct. A text or a list of texts are statement ids:\n"
    "`source: [C7, C9]`.",
    "schema": "A schema in a closed subset of JSON Schema, which every target language supports.",
    "header_rules": "The rules for a response header: a presence alone (`Retry-After: required`),\n"
    "one rule, or a list of rules.",
    "condition": "Facts and their allowed values, all of which must hold:\n"
    "`{status: [429, 5xx], details.retries: 0}`.\n\n"
    "| fact | values |\n|---|---|\n"
    "| `status` | a status of the code, a class or a range ([status](#status)) |\n"
    "| `cause` | any text, such as `timeout`: the service names its causes itself, and no answer "
    "shows them. The rules of one code use one spelling; the service passes the text to the "
    "generated constructor |\n"
    "| `operation.idempotent` | `true` \\| `false`: whether the failed operation may be repeated "
    "without a second effect |\n"
    "| `caller.authenticated` | `true` \\| `false`: whether the credentials of the caller were "
    "accepted |\n"
    "| `details.<key>` | a text, a number, `true` or `false` that the schema of the detail key "
    "allows |\n\nA list of values means any of them.",
    "duration": "A number with a unit (`250ms`, `2s`, `5m`, `24h`, `7d`), a number of seconds,\n"
    "or ISO 8601 (`PT24H`).",
    "status": "An HTTP status (`429`), a class (`5xx`) or a range (`502-504`).",
}


#: By `scope.WELL_KNOWN_SLOTS`.
_SLOT_DOCS: Mapping[str, str] = {
    "code": "the code, as `wire` writes it",
    "message": "the message of this failure",
    "summary": "the `summary` of the code",
    "status": "the HTTP status of the answer",
    "retriable": "the retry flag: what `retriable` of the code gives",
    "boundary": "the boundary that produced the error",
    "domain": "the `domain` of the code",
    "details": "an object with the `details` of the code",
    "actions": "the list of suggested `actions`",
    "request_id": "the correlation id of the request",
    "grpc_status": "the gRPC status of the code, as `on` has it",
    "grpc_code": "the number of that status (google.rpc.Code)",
}

#: Records with a table of their own elsewhere on the page.
_ONCE = ("a source", "a schema", "a header rule", "a code")


def tables(
    type: Type, address: str, entered: tuple[str, ...] = (), judged: Judged | None = None
) -> Iterator[str]:
    """The keys of the records of a type, in Markdown. ``entered``: records above it. ``judged``:
    fills a column with the clauses that judge a key.
    """
    for record in nested_records(type):
        if record.name in entered or (entered and record.name in _ONCE):
            continue
        yield from (
            "",
            f"`{address}` is {record.name}:"
            if entered
            else f"{record.name[0].upper()}{record.name[1:]}:",
            "",
        )
        yield "| key | takes | meaning |" + (" judged by |" if judged is not None else "")
        yield "|---|---|---|" + ("---|" if judged is not None else "")
        extends = record.name != "a schema" and record.keys.keys() >= SCHEMA_KEYS.keys()
        keys = {
            name: key for name, key in record.keys.items() if not (extends and name in SCHEMA_KEYS)
        }
        for name, key in keys.items():
            what = _cell(describe_type(key.type)), _cell(key.doc)
            shared = shared_address(f"{address}.{name}", record.name, name)
            by = f" {judged(shared)} |" if judged is not None else ""
            yield f"| {_bold(name, key)} | {what[0]} | {what[1]} |{by}"
        if extends:
            yield "| … | | all keys of a [schema](#schema) | |"
        for name, key in keys.items():
            if _explanation(key.type) is None:
                below = (*entered, record.name)
                yield from tables(key.type, f"{address}.{name}", below, judged)


def _bold(name: str, key: Key) -> str:
    return f"**`{name}`**" if key.required else f"`{name}`"


def _cell(text: str) -> str:
    return text.replace("\n", " ")

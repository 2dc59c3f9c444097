"""One code of a taxonomy, from its bodies in all envelopes."""

from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from faultspec.importers import Data, Report, registry, rules
from faultspec.importers.envelopes import one_or_all
from faultspec.importers.examples import (
    MADE_MESSAGE,
    CodeUse,
    PlacedExample,
    make_example,
    make_value,
    read_examples,
    shown_status,
)
from faultspec.importers.inference import CodeFacts
from faultspec.openapi.nodes import mapping
from faultspec.targets import conditions
from faultspec.targets import schema as schemas

T = TypeVar("T")

#: Descriptions of responses that say no more than the status.
_PHRASES = frozenset(status.phrase for status in HTTPStatus)


class ImportedCode(NamedTuple):
    """A code as data, and the places of each of its examples."""

    data: Data
    example_pointers: tuple[tuple[str, ...], ...] = ()


class CodeContext(NamedTuple):
    """The values that the codes share.

    ``envelopes``: their number. ``flag_keys``: details keys that are retry flags.
    ``makes_examples``: whether a code without an example gets one.
    """

    envelopes: int
    flag_keys: frozenset[str]
    makes_examples: bool
    lose: Report


def build_code(
    uses: Sequence[CodeUse],
    *,
    members: Data,
    statuses: list[Any],
    name: str,
    context: CodeContext,
) -> ImportedCode:
    """A code. ``members``: its details, as the registry leaves them."""
    wire = uses[0].body.wire
    data: Data = {"summary": _summary(uses)}
    if name != wire:
        data["wire"] = wire
    facts = [use.envelope.facts[use.body] for use in uses]
    if domain := _first_value(fact.domain for fact in facts):
        data["domain"] = domain
    if boundaries := _first_value(fact.boundaries for fact in facts):
        data["boundary"] = one_or_all(boundaries)
    data |= _http(uses, statuses)
    names = [use.envelope.name for use in uses]
    if len(names) < context.envelopes:
        data["envelope"] = one_or_all(names)
    data |= _retriable(uses, facts, context)
    if terms := {slot: listed for fact in facts for slot, listed in fact.terms.items()}:
        data["facts"] = terms
    if actions := _first_value(fact.actions for fact in facts):
        data["actions"] = actions
    data |= {"details": members} if members else _foreign_schema(uses, facts, context.lose)
    if any(use.body.schema.get("deprecated") is True for use in uses):
        data["lifecycle"] = "deprecated"
    examples = read_examples(uses, data, context.lose)
    if not examples and context.makes_examples:
        examples = [PlacedExample(_made_example(uses[0], data), ())]
    return with_examples(data, examples)


def _made_example(use: CodeUse, code: Data) -> Data:
    """An example with a value for each required member."""
    envelope = use.envelope
    made = make_example(envelope.shape, envelope.data.get("fields", {}), MADE_MESSAGE)
    details = make_value({"type": "object", "properties": code.get("details", {})})
    return {**made, **({"details": details} if details else {})}


def with_examples(data: Data, examples: Sequence[PlacedExample]) -> ImportedCode:
    """The code with its examples."""
    if not examples:
        return ImportedCode(data)
    listed = one_or_all([example.data for example in examples])
    pointers = tuple(example.pointers for example in examples)
    return ImportedCode({**data, "example": listed}, pointers)


def _first_value(values: Iterable[T]) -> T | None:
    return next(filter(None, values), None)


def details_of(uses: Iterable[CodeUse]) -> registry.Details | None:
    """The details of a code, from the first envelope that has any."""
    return _first_value(use.envelope.details.get(use.body) for use in uses)


def _summary(uses: Sequence[CodeUse]) -> str:
    """The description of a code; a mere reason phrase comes after the title of its problems."""
    described = [use.body.schema.get("description") for use in uses]
    described += [use.body.description for use in uses]
    texts = [text for text in described if isinstance(text, str) and text.strip()]
    own = (text for text in texts if text not in _PHRASES)
    phrases = (text for text in texts if text in _PHRASES)
    return next(chain(own, _titles(uses), phrases), f"The code {uses[0].body.wire}.")


def _titles(uses: Iterable[CodeUse]) -> Iterator[str]:
    """The title of all examples: the problems of one kind have one (RFC 9457, 3.1.3)."""
    titles = [mapping(sample.value).get("title") for use in uses for sample in use.body.samples]
    title = titles[0] if titles else None
    if isinstance(title, str) and title.strip() and all(each == title for each in titles):
        yield title


def _http(uses: Sequence[CodeUse], statuses: list[Any]) -> Data:
    if not statuses:
        return {"http": None, "http_reason": "The document has no response with it."}
    if not any(use.body.rules.spans for use in uses):
        # The default comes first, and is the status that an example shows.
        shown = (shown_status(use, sample) for use in uses for sample in use.body.samples)
        first = next((status for status in shown if status in statuses), None)
        if first is not None:
            statuses = [first, *(status for status in statuses if status != first)]
    return {"http": one_or_all(statuses)}


def _retriable(uses: Sequence[CodeUse], facts: Sequence[CodeFacts], context: CodeContext) -> Data:
    """The retry flag: fixed in a body or in its details, by condition, or left to the caller."""
    flags = [fact.retriable for fact in facts if fact.flagged]
    for use in uses:
        details = use.envelope.details.get(use.body)
        if details is not None and details.flag:
            flags.append(details.flag[1])
    fixed = next((flag for flag in flags if flag is not None), None)
    if flags and fixed is None:
        return {"retriable": _retry_rule(uses, context) or "caller"}
    for use in uses:
        if use.envelope.conditions[use.body]:
            reason = "these conditions are not a rule of the retry flag"
            context.lose(f"{use.body.pointer}/allOf", "condition", reason)
    return {"retriable": fixed} if flags else {}


def _types(field: Data) -> tuple[str, ...]:
    """The types of a field of an envelope."""
    found = field.get("type", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _retry_rule(uses: Sequence[CodeUse], context: CodeContext) -> Data | None:
    """The rule of the retry flag, from the conditions of the bodies."""
    for use in uses:
        listed = use.envelope.conditions[use.body]
        if not listed:
            continue
        details = use.envelope.details.get(use.body)
        facts = conditions.places(schemas.branch_point(use.envelope.shape))
        flags = [facts["retriable"]] if "retriable" in facts else []
        if "details" in facts and details is not None and details.flag is None:
            names = [key.removesuffix("?") for key in details.members or ()]
            flags += [(*facts["details"], name) for name in names if name in context.flag_keys]
        types = {slot: _types(field) for slot, field in use.envelope.data.get("fields", {}).items()}
        found = rules.retry_rule(listed, facts, flags, types)
        if found is not None and not found.hidden_fact:
            return found.data
        reason = "these conditions are not a simple rule of the retry flag"
        if found is not None:
            reason = (
                "the flag also depends on a fact that bodies do not show; "
                "`operation.idempotent` stands in its place"
            )
        context.lose(f"{use.body.pointer}/allOf", "condition", reason)
        if found is not None:
            return found.data
    return None


def _foreign_schema(uses: Sequence[CodeUse], facts: Sequence[CodeFacts], lose: Report) -> Data:
    """The details as a JSON Schema, if the language cannot write them as members."""
    details = details_of(uses)
    if details is None or details.members is not None:
        return {}
    if any(fact.details_required for fact in facts):
        reason = "the details are required; with an imported schema they are optional"
        lose(uses[0].body.pointer, "details", reason)
    return {"schema": dict(details.schema)}

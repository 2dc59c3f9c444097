"""Checks that every example obeys its code."""

from collections.abc import Callable, Iterable, Iterator

from faultspec.diagnostics.model import Severity
from faultspec.language import formats, header_syntax, values
from faultspec.language.carriers import carriers, http_carriers
from faultspec.language.grammar import GrammarProblem, Path
from faultspec.language.model import (
    IMPLIED,
    Code,
    Envelope,
    Example,
    HeaderRule,
    Schema,
    Strictness,
    Taxonomy,
)


def check_examples(
    taxonomy: Taxonomy, codes: Iterable[tuple[Path, Code, bool]], lost: Callable[[Path], bool]
) -> Iterator[GrammarProblem]:
    """Every way in which an example breaks details, fields of slots, statuses or header rules.

    `codes` are codes with their paths, and whether their examples are in a list. `lost` tells
    whether a path of the document was lost; problems that may only follow from that are skipped.
    """
    vocabularies = values.vocabularies(taxonomy)
    unsure = _unsure(lost)
    for path, code, listed in codes:
        envelopes = carriers(taxonomy, code, of_operation=path[0] == "operations")
        strict = _strictness(envelopes)
        for index, example in enumerate(code.examples):
            at: Path = (*path, "example", index) if listed else (*path, "example")
            if lost(at):
                continue
            for problem in _detail_problems(code, example, strict, vocabularies):
                if problem.keyword not in unsure:
                    yield _details_problem(problem, code, at)
            if not any(lost((section,)) for section in ("envelopes", "surfaces", "vocabularies")):
                yield from _check_slots(example, at, envelopes, vocabularies)
                yield from _check_facts(code, example, at)
            yield from _check_status(code, example, at)
            surfaces = http_carriers(taxonomy, code, of_operation=path[0] == "operations")
            # An example is an answer of one of the surfaces.
            problems = (
                list(_check_headers(code, example, at, (*taxonomy.headers, *theirs)))
                for theirs in (surface.headers if surface else () for surface in surfaces)
            )
            yield from min(problems, key=len)


def _strictness(envelopes: Iterable[Envelope]) -> Strictness:
    """The strictest treatment of undeclared details; details that are not objects are skipped."""
    fields = [
        envelope.fields["details"].schema for envelope in envelopes if "details" in envelope.fields
    ]
    found = {field.additional for field in fields if not field.types or "object" in field.types}
    order: tuple[Strictness, ...] = ("forbid", "warn")
    return next((strictness for strictness in order if strictness in found), "allow")


def _unsure(lost: Callable[[Path], bool]) -> frozenset[str]:
    """The keywords of problems that may follow from lost sections."""
    keywords = set()
    if any(lost((section,)) for section in ("envelopes", "surfaces", "detail_keys")):
        keywords.add("additional")
    if lost(("vocabularies",)):
        keywords.add("vocabulary")
    return frozenset(keywords)


def _detail_problems(
    code: Code, example: Example, strict: Strictness, vocabularies: values.Vocabularies
) -> Iterator[values.ValueProblem]:
    """Where the details break their declaration; if there are none, the required members."""
    schema = code.details_schema or Schema(
        types=("object",), properties=code.details, additional=strict
    )
    if example.details is None:
        for name, member in code.details.items():
            if member.presence == "required":
                yield values.ValueProblem((name,), "", "absent")
        return
    for problem in values.check_value(schema, example.details, vocabularies):
        # `expected` is a recommendation to services; an example may show the other case.
        if problem.severity == "error" or problem.keyword != "missing":
            yield problem


def _details_problem(problem: values.ValueProblem, code: Code, path: Path) -> GrammarProblem:
    if problem.keyword == "absent":
        message = f"the example lacks `details.{problem.path[0]}`, which `{code.name}` requires"
        return _bad(path, message, on_key=True)
    undeclared = problem.keyword == "additional"
    hint = f"change the example, or the declared details of `{code.name}`"
    if undeclared:
        hint = f"declare it under `details:` of `{code.name}`, or in `detail_keys`"
    place = _place(problem)
    return _bad(
        (*path, "details", *place),
        f"the example breaks its own code: {_sentence(problem, 'details')}",
        hint,
        on_key=undeclared or place == (),
        severity=problem.severity,
    )


def _check_slots(
    example: Example, path: Path, envelopes: Iterable[Envelope], vocabularies: values.Vocabularies
) -> Iterator[GrammarProblem]:
    """Slots that break their fields in every envelope; an example is of one of them."""
    filled = {slot: ((*path, "slots", slot), value) for slot, value in example.slots.items()}
    if example.message is not None:
        filled["message"] = ((*path, "message"), example.message)
    for slot, (at, value) in filled.items():
        declared = [
            envelope.fields[slot].schema if slot in envelope.fields else IMPLIED.get(slot)
            for envelope in envelopes
        ]
        found = [
            tuple(values.check_value(schema, value, vocabularies))
            for schema in declared
            if schema is not None
        ]
        for problem in min(found, key=len, default=()):
            message = f"the example breaks the field `{slot}`: {_sentence(problem, slot)}"
            hint = "change the example, or the envelope's `fields`"
            place = (*at, *_place(problem))
            yield _bad(place, message, hint, severity=problem.severity)


def _check_facts(code: Code, example: Example, path: Path) -> Iterator[GrammarProblem]:
    """Slots whose values the code itself declares."""
    for slot, terms in {"boundary": code.boundaries, **code.facts}.items():
        value = example.slots.get(slot)
        if terms and slot in example.slots and not _is_among(value, terms):
            message = f"`{slot}` of `{code.name}` is {' or '.join(f'`{term}`' for term in terms)}"
            yield _bad((*path, "slots", slot), message, "change the example, or the code")


def _is_among(value: object, terms: Iterable[object]) -> bool:
    return any(values.are_equal(value, term) for term in terms)


def _sentence(problem: values.ValueProblem, whole: str) -> str:
    return f"`{'.'.join(map(str, problem.path)) or whole}` {problem.problem}"


def _place(problem: values.ValueProblem) -> Path:
    """The path in the document; of a missing member, that of its object."""
    return problem.path[:-1] if problem.keyword == "missing" else problem.path


def _check_status(code: Code, example: Example, path: Path) -> Iterator[GrammarProblem]:
    if example.status is not None and not code.http.allows(example.status):
        allowed = ", ".join(map(str, code.http.statuses)) or "none"
        message = f"`{code.name}` never has the status {example.status}"
        yield _bad((*path, "status"), message, f"its statuses: {allowed}")


def _check_headers(
    code: Code, example: Example, path: Path, general: Iterable[HeaderRule]
) -> Iterator[GrammarProblem]:
    status = example.status or code.http.default
    for name, value in example.headers.items():
        at: Path = (*path, "headers", name)
        for rule in (*general, *code.headers):
            if rule.name.lower() != name.lower() or not rule.applies(code.name, status):
                continue
            if rule.presence == "forbidden":
                yield _bad(at, f"`{name}` is forbidden here", on_key=True)
            elif formats.format_problem(rule.format, value) is not None:
                yield _bad(at, f"`{value}` is not {formats.describe_formats(rule.format)}")
            elif (wrong := _first_problem(rule, value)) is not None:
                yield _bad(at, f"`{name}` {wrong}")
            elif rule.token and rule.token.lower() not in header_syntax.directives(value):
                yield _bad(at, f"`{name}` must contain `{rule.token}`")
            elif rule.equals is not None and str(example.slots.get(rule.equals, value)) != value:
                slot = f"`${rule.equals}`, which is `{example.slots[rule.equals]}` here"
                yield _bad(at, f"`{name}` must repeat {slot}")


def _first_problem(rule: HeaderRule, value: str) -> str | None:
    """The first problem of a header's value under its schema."""
    return next((each.problem for each in values.check_header_text(rule, value)), None)


def _bad(
    path: Path,
    message: str,
    hint: str = "change the example, or the rule it breaks",
    *,
    on_key: bool = False,
    severity: Severity = "error",
) -> GrammarProblem:
    return GrammarProblem("bad-example", path, message, hint, on_key=on_key, severity=severity)

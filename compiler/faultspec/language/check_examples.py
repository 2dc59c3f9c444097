"""Does every example obey the code it is an example of?"""

from collections.abc import Callable, Iterable, Iterator

from faultspec.language import formats, header_syntax, values
from faultspec.language.carriers import carriers
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


def problems(
    taxonomy: Taxonomy, codes: Iterable[tuple[Path, Code, bool]], lost: Callable[[Path], bool]
) -> Iterator[GrammarProblem]:
    """Every way in which an example of `codes` breaks its details, the fields of its slots, a status or a header rule.

    Each code comes with its path and with whether its examples stand in a list. `lost`: whether something at a path of
    the document could not be read; what might follow only from that is not said.
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
            for misfit in _misfits(code, example, strict, vocabularies):
                if misfit.keyword not in unsure:
                    yield _in_details(misfit, code, at)
            if not lost(("envelopes",)) and not lost(("surfaces",)) and not lost(("vocabularies",)):
                yield from _slots(example, at, envelopes, vocabularies)
                yield from _facts(code, example, at)
            yield from _status(code, example, at)
            yield from _headers(code, example, at, taxonomy.headers)


def _strictness(envelopes: Iterable[Envelope]) -> Strictness:
    """How undeclared details are taken where they are taken worst; details that are no object are no code's."""
    fields = [
        envelope.fields["details"].schema for envelope in envelopes if "details" in envelope.fields
    ]
    found = {field.additional for field in fields if not field.types or "object" in field.types}
    order: tuple[Strictness, ...] = ("forbid", "warn")
    return next((each for each in order if each in found), "allow")


def _unsure(lost: Callable[[Path], bool]) -> frozenset[str]:
    """The keywords of misfits that might follow from what was lost; a lost schema has no keywords to break."""
    declared = any(lost((each,)) for each in ("envelopes", "surfaces", "detail_keys"))
    return frozenset({"additional"} if declared else ()) | frozenset(
        {"vocabulary"} if lost(("vocabularies",)) else ()
    )


def _misfits(
    code: Code, example: Example, strict: Strictness, vocabularies: values.Vocabularies
) -> Iterator[values.ValueProblem]:
    """Where the details leave what is declared; without any, what they lack."""
    schema = code.details_schema or Schema(
        types=("object",), properties=code.details, additional=strict
    )
    if example.details is None:
        for name, member in code.details.items():
            if member.presence == "required":
                yield values.ValueProblem((name,), "", "absent")
        return
    for misfit in values.problems(schema, example.details, vocabularies):
        if misfit.severity == "warning" and misfit.keyword == "missing":
            continue  # `expected` is a wish to services; an example may show the other case
        yield misfit


def _in_details(misfit: values.ValueProblem, code: Code, path: Path) -> GrammarProblem:
    if misfit.keyword == "absent":
        return _bad(
            path,
            f"the example lacks `details.{misfit.path[0]}`, which `{code.name}` requires",
            on_key=True,
        )
    undeclared = misfit.keyword == "additional"
    hint = (
        f"declare it under `details:` of `{code.name}`, or in `detail_keys`"
        if undeclared
        else f"the details of `{code.name}` are declared otherwise: change one of the two"
    )
    return GrammarProblem(
        "bad-example",
        (*path, "details", *_there(misfit)),
        f"the example breaks its own code: {_said(misfit, 'details')}",
        hint,
        undeclared or _there(misfit) == (),
        misfit.severity,
    )


def _slots(
    example: Example, path: Path, envelopes: Iterable[Envelope], vocabularies: values.Vocabularies
) -> Iterator[GrammarProblem]:
    """What is wrong with a slot in every envelope that has it: an example shows the code in one of them."""
    filled = {slot: ((*path, "slots", slot), value) for slot, value in example.slots.items()}
    if example.message is not None:
        filled["message"] = ((*path, "message"), example.message)
    for slot, (at, value) in filled.items():
        declared = [
            envelope.fields[slot].schema if slot in envelope.fields else IMPLIED.get(slot)
            for envelope in envelopes
        ]
        schemas = [each for each in declared if each is not None]
        found = [tuple(values.problems(schema, value, vocabularies)) for schema in schemas]
        for misfit in min(found, key=len, default=()):
            message = f"the example breaks the field `{slot}`: {_said(misfit, slot)}"
            hint = "the envelope's `fields` say what the slot holds"
            yield GrammarProblem(
                "bad-example", (*at, *_there(misfit)), message, hint, False, misfit.severity
            )


def _facts(code: Code, example: Example, path: Path) -> Iterator[GrammarProblem]:
    """The slots of which the code itself says what they hold."""
    for slot, terms in {"boundary": code.boundaries, **code.facts}.items():
        value = example.slots.get(slot)
        if terms and slot in example.slots and value not in terms:
            message = f"`{slot}` of `{code.name}` is {' or '.join(f'`{term}`' for term in terms)}"
            yield _bad(
                (*path, "slots", slot),
                message,
                "change the example, or what the code says of the slot",
            )


def _said(misfit: values.ValueProblem, whole: str) -> str:
    return f"`{'.'.join(map(str, misfit.path)) or whole}` {misfit.problem}"


def _there(misfit: values.ValueProblem) -> Path:
    """Where it is in the document: what is missing is missing in the object around it."""
    return misfit.path[:-1] if misfit.keyword == "missing" else misfit.path


def _status(code: Code, example: Example, path: Path) -> Iterator[GrammarProblem]:
    if example.status is not None and not code.http.allows(example.status):
        allowed = ", ".join(map(str, code.http.statuses)) or "none"
        message = f"`{code.name}` never travels as {example.status}"
        yield _bad((*path, "status"), message, f"its statuses: {allowed}")


def _headers(
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
            elif formats.problem(rule.format, value) is not None:
                yield _bad(
                    at, f"`{value}` is no {name}: it must be {formats.described(rule.format)}"
                )
            elif rule.token is not None and rule.token.lower() not in header_syntax.directives(
                value
            ):
                yield _bad(at, f"`{name}` must contain `{rule.token}`")
            elif rule.equals is not None and str(example.slots.get(rule.equals, value)) != value:
                yield _bad(
                    at,
                    f"`{name}` must repeat `${rule.equals}`, which is `{example.slots[rule.equals]}` here",
                )


def _bad(
    path: Path, message: str, hint: str | None = None, *, on_key: bool = False
) -> GrammarProblem:
    return GrammarProblem(
        "bad-example", path, message, hint or "change the example, or the rule it breaks", on_key
    )

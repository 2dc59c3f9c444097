"""Lint rules about conditions: each can hold, and none is hidden by an earlier one."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from faultspec.diagnostics.model import Path
from faultspec.language import values
from faultspec.language.conditions import ConditionalRule, StatusRange, Test
from faultspec.language.model import Code, Schema, Taxonomy
from faultspec.lint.places import codes_of_policy
from faultspec.lint.rule import Remark, Subject, rule


class _Conditions(NamedTuple):
    """A list of conditional rules, each with its path, and the codes that it applies to."""

    path: Path
    rules: Sequence[tuple[Path, ConditionalRule]]
    codes: Sequence[Code]


def _all_conditions(subject: Subject) -> Iterator[_Conditions]:
    taxonomy = subject.taxonomy
    for path, code in subject.codes():
        yield _conditions_at(subject, (*path, "http"), code.http.rules, (code,))
        yield _conditions_at(subject, (*path, "retriable", "when"), code.retriable.rules, (code,))
    for policy in taxonomy.retry_policies.values():
        path = ("retry_policies", policy.name, "eligible_when")
        codes = codes_of_policy(taxonomy, policy)
        yield _conditions_at(subject, path, policy.eligible_when, codes)


def _conditions_at(
    subject: Subject, path: Path, rules: Sequence[ConditionalRule], codes: Sequence[Code]
) -> _Conditions:
    written = subject.value_at(path)
    if isinstance(written, dict):
        return _Conditions(path, [(path, condition) for condition in rules], codes)
    entries = enumerate(written if isinstance(written, list) else ())
    # `http:` mixes rules with plain statuses.
    places: list[Path] = [(*path, index) for index, entry in entries if isinstance(entry, dict)]
    return _Conditions(path, list(zip(places, rules, strict=False)), codes)


@rule("condition-twice", severity="error")
def condition_twice(subject: Subject) -> Iterator[Remark]:
    """The first condition that holds decides, so no earlier one covers a later one.

    Bad::

        codes:
          upstream:
            summary: Another service failed.
            http: [502, 503]
            retriable: {when: [{if: {status: 5xx}, then: false}, {if: {status: 503}, then: true}],
                else: false}

    Good::

        codes:
          upstream:
            summary: Another service failed.
            http: [502, 503]
            retriable: {when: [{if: {status: 503}, then: true}, {if: {status: 5xx}, then: false}],
                else: false}
    """
    for conditions in _all_conditions(subject):
        for number, (path, later) in enumerate(conditions.rules):
            earlier = conditions.rules[:number] if later.when else ()
            cover = next((place for place, other in earlier if _covers(other, later)), None)
            if cover is not None:
                message = "this rule is never reached: a rule above holds whenever it does"
                hint = "remove it, narrow the rule above, or put this one first"
                related = (("the rule above is here", cover),)
                yield Remark(path, message, hint, on_key=False, related=related)


def _covers(earlier: ConditionalRule, later: ConditionalRule) -> bool:
    """Whether the earlier rule holds whenever the later one does."""
    return all(any(_includes(test, other) for other in later.when) for test in earlier.when)


def _includes(one: Test, other: Test) -> bool:
    return (
        one.fact == other.fact
        and all(map(one.includes, other.values))
        and all(any(outer.covers(inner) for outer in one.ranges) for inner in other.ranges)
    )


@rule("condition-impossible", severity="error")
def condition_impossible(subject: Subject) -> Iterator[Remark]:
    """A condition can hold: the code may have the detail, the value and the status it asks for.

    Bad::

        codes:
          away:
            summary: Nobody is there.
            http: 503
            retriable: {when: [{if: {status: 404}, then: false}], else: true}

    Good::

        codes:
          away:
            summary: Nobody is there.
            http: [503, 404]
            retriable: {when: [{if: {status: 404}, then: false}], else: true}
    """
    vocabularies = values.vocabularies(subject.taxonomy)
    for conditions in _all_conditions(subject):
        for where, condition in conditions.rules if conditions.codes else ():
            for test in condition.when:
                path: Path = (*where, "if", test.fact)
                asked = _asked_values(subject.value_at(path), path, test)
                if test.fact == "status":
                    yield from _impossible_statuses(subject.taxonomy, conditions.codes, asked)
                elif test.fact.startswith("details."):
                    schemas = _detail_schemas(subject.taxonomy, conditions.codes, test.fact)
                    if not schemas:
                        yield _missing_detail(path, test.fact, conditions.codes)
                    else:
                        yield from _impossible_details(test.fact, schemas, asked, vocabularies)
                elif test.fact != "cause":
                    yield from _impossible_flags(test.fact, asked)


@rule("condition-unknowable", severity="warning")
def condition_unknowable(subject: Subject) -> Iterator[Remark]:
    """A condition on a status or a retry flag reads a fact that an observer can know.

    Bad::

        codes:
          away:
            summary: Nobody is there.
            http: 503
            retriable: {when: [{if: {cause: timeout}, then: false}], else: true}

    Good::

        codes:
          away:
            summary: Nobody is there.
            http: [503, 504]
            retriable: {when: [{if: {status: 504}, then: false}], else: true}
    """
    for path, code in subject.codes():
        for at, rules in (((*path, "http"), code.http.rules), _flag_rules(path, code)):
            for where, condition in _conditions_at(subject, at, rules, (code,)).rules:
                for test in condition.when:
                    problem = _unknowable(subject.taxonomy, test.fact)
                    if problem is not None:
                        message = f"nothing that is observed decides this: {problem}"
                        yield Remark((*where, "if", test.fact), message, _KNOWABLE)


_KNOWABLE = "test a status or a detail of the answer instead, or write `retriable: caller`"


def _flag_rules(path: Path, code: Code) -> tuple[Path, Sequence[ConditionalRule]]:
    return (*path, "retriable", "when"), code.retriable.rules


def _unknowable(taxonomy: Taxonomy, fact: str) -> str | None:
    """Why no construct of the taxonomy, the configuration and the protocol can supply a fact; None
    if one can.
    """
    on_http = any(surface.transport == "http" for surface in taxonomy.surfaces.values())
    if fact == "cause":
        return "a cause is never visible from outside"
    if fact == "caller.authenticated" and not on_http:
        return "only requests over HTTP have credentials"
    declared = any(operation.idempotent is not None for operation in taxonomy.operations.values())
    if fact == "operation.idempotent" and not on_http and not declared:
        return "no operation declares `idempotent`, and only methods of HTTP imply it"
    return None


Asked = Iterator[tuple[Path, object]]

_HINT = "ask for a possible value, or remove the rule"


def _asked_values(written: object, path: Path, test: Test) -> Asked:
    """Each value that a test asks for, with its path; a range of numbers is one value."""
    ranges = iter(test.ranges)
    for index, value in enumerate(written if isinstance(written, list) else [written]):
        place = (*path, index) if isinstance(written, list) else path
        yield place, next(ranges) if isinstance(value, str) and value not in test.values else value


def _describe(value: object) -> str:
    return str(value) if isinstance(value, StatusRange) else values.show(value)


def _impossible_statuses(
    taxonomy: Taxonomy, codes: Sequence[Code], asked: Asked
) -> Iterator[Remark]:
    spans = dict.fromkeys(span for code in codes for span in _possible_statuses(taxonomy, code))
    subjects = f"`{codes[0].name}` never" if len(codes) == 1 else "none of its codes ever"
    for place, value in asked:
        if not any(_is_within(value, span) for span in spans):
            message = f"{subjects} travels as {_describe(value)}, so this never holds"
            hint = f"possible statuses: {', '.join(map(str, spans)) or 'none'}"
            yield Remark(place, message, hint, on_key=False)


def _possible_statuses(taxonomy: Taxonomy, code: Code) -> tuple[StatusRange, ...]:
    """The statuses under which a code may travel, its fallbacks included."""
    fallbacks = (fallback.on for fallback in taxonomy.fallbacks if fallback.code == code.name)
    return (*code.http.carried_statuses, *fallbacks)


def _is_within(value: object, span: StatusRange) -> bool:
    if isinstance(value, StatusRange):
        return value.meets(span)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return span.low <= value <= span.high


def _missing_detail(path: Path, fact: str, codes: Sequence[Code]) -> Remark:
    key = fact.removeprefix("details.")
    subjects = f"`{codes[0].name}` has" if len(codes) == 1 else "none of its codes has"
    message = f"{subjects} no detail `{key}`, so this never holds"
    return Remark(path, message, f"declare `{key}` among its details")


def _impossible_details(
    fact: str, schemas: list[Schema], asked: Asked, vocabularies: values.Vocabularies
) -> Iterator[Remark]:
    for place, value in asked:
        refusals = [_refusal(schema, value, vocabularies) for schema in schemas]
        if all(refusals):
            yield Remark(place, f"`{fact}` never {refusals[0]}", _HINT, on_key=False)


def _impossible_flags(fact: str, asked: Asked) -> Iterator[Remark]:
    for place, value in asked:
        if not isinstance(value, bool):
            message = f"`{fact}` is true or false, never {_describe(value)}"
            yield Remark(place, message, _HINT, on_key=False)


def _detail_schemas(taxonomy: Taxonomy, codes: Sequence[Code], fact: str) -> list[Schema]:
    """The schemas of a detail in the codes that may have it."""
    key = fact.removeprefix("details.")
    schemas = (_detail_schema(taxonomy, code, key) for code in codes)
    return [schema for schema in schemas if schema is not None]


def _detail_schema(taxonomy: Taxonomy, code: Code, key: str) -> Schema | None:
    member, registered = code.details.get(key), taxonomy.detail_keys.get(key)
    if member is not None:
        return member.schema if member.presence != "forbidden" else None
    if code.details_schema is not None:
        return Schema()  # an imported schema may declare any key
    if registered is None:
        return None
    required = any(key in surface.requires_details for surface in taxonomy.surfaces.values())
    return registered.schema if registered.everywhere or required else None


def _refusal(schema: Schema, value: object, vocabularies: values.Vocabularies) -> str | None:
    """Why the schema refuses a value, or all values of a range; None if it accepts one."""
    if not isinstance(value, StatusRange):
        problems = values.check_value(schema, value, vocabularies)
        errors = (problem.problem for problem in problems if problem.severity == "error")
        return next(errors, None)
    numeric = not schema.types or {"integer", "number"} & {*schema.types}
    if not numeric or schema.vocabulary is not None:
        return f"lies in {value}: it is not a number"
    below = schema.minimum is not None and schema.minimum > value.high
    above = schema.maximum is not None and schema.maximum < value.low
    excluded = schema.enum and not any(_is_within(item, value) for item in schema.enum)
    if below or above or excluded:
        return f"lies in {value}: its bounds or its listed values exclude that"
    return None

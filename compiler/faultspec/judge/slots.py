"""The slots of an error: their types, and the values that the code decides."""

from collections.abc import Iterator, Sequence

from faultspec.judge.code import one_of
from faultspec.judge.collector import FindingCollector, quote_pointer
from faultspec.judge.facts import why_undecided
from faultspec.judge.language import answer_locale
from faultspec.judge.match_envelope import ErrorReading, is_inside_text, shares_status, status_of
from faultspec.language.conditions import ConditionFacts
from faultspec.language.model import Code, Constant, Schema, Source
from faultspec.language.values import ValueProblem, are_equal, check_value, show, spell
from faultspec.runtime.nodes import child, slot_places


def value_problems(
    findings: FindingCollector, schema: Schema, value: object
) -> Iterator[ValueProblem]:
    """The problems of a value in a body. A format that the taxonomy declares is required."""
    return check_value(schema, value, findings.contract.terms)


def judge_types(findings: FindingCollector, error: ErrorReading) -> None:
    """Check the type, value and format of each slot."""
    schemas = findings.contract.slots[error.envelope.name]
    has_own_details = error.code is not None and error.code.details_schema is not None
    for slot, value in error.slots.items():
        schema = schemas.get(slot)
        if schema is None or (slot == "details" and has_own_details):
            continue
        if isinstance(value, str) and (schema.format or schema.pattern):
            findings.exercise("ids/format")
        source = (error.envelope.fields.get(slot) or error.envelope).source
        for problem in value_problems(findings, schema, value):
            is_format = problem.keyword in ("format", "pattern")
            clause = "ids/format" if is_format else "envelope/types"
            findings.add_problem(clause, problem, error.where[slot], source=source)


def judge_status_slot(findings: FindingCollector, error: ErrorReading) -> None:
    """Check that the status inside the body is that of the response."""
    value = error.value("status")
    if isinstance(value, bool) or not isinstance(value, int | str) or findings.status is None:
        return
    findings.exercise("envelope/status")
    if error.beside and status_of(error, None) is not None:
        own = error.code is None or error.code.http.allows(findings.status)
        if own or shares_status(error, findings.status):
            return
    if str(value) != str(findings.status):
        findings.add_at(
            "envelope/status",
            error.where["status"],
            f"is {findings.show(value, error.where['status'])}; the status of the response is "
            f"{findings.status}",
            source=error.envelope.source,
        )


def judge_fixed_slots(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check the slots whose values the code declares: boundary, domain, summary and facts."""
    allowed: dict[str, tuple[Constant, ...]] = {
        slot: values for slot, values in code.facts.items() if values
    }
    if code.boundaries:
        allowed["boundary"] = code.boundaries
    if code.domain is not None:
        allowed["domain"] = (code.domain,)
    if answer_locale(findings, code) is None:  # else the summary may be in that language
        allowed.setdefault("summary", (code.summary,))
    for slot, values in allowed.items():
        if slot not in error.slots:
            continue
        value, pointer = error.slots[slot], error.where[slot]
        if findings.has(("envelope/types", "ids/format"), pointer):
            continue
        findings.exercise("boundary/allowed")
        if not any(are_equal(value, each) for each in _spell_values(error, pointer, values)):
            findings.add_at(
                "boundary/allowed",
                pointer,
                f"is {findings.show(value, pointer)}; `{code.name}` requires "
                f"{one_of(list(map(spell, values)))}",
                source=code.source,
                # RFC 9457 section 3.1.3: a title should not change, except for its language.
                level="warning" if slot == "summary" else "error",
            )


def _spell_values(
    error: ErrorReading, pointer: str, values: tuple[Constant, ...]
) -> tuple[Constant, ...]:
    """The values as they stand at the pointer: inside a string each is spelled out."""
    if is_inside_text(error.envelope, pointer[len(error.at) :]):
        return tuple(map(spell, values))
    return values


def judge_retry_flag(
    findings: FindingCollector, error: ErrorReading, code: Code, facts: ConditionFacts
) -> None:
    """Check each retry flag that the code and the known facts decide."""
    flags = [flag for flag in _retry_flags(findings, error) if isinstance(flag[0], bool)]
    if not flags:
        return
    possible = code.retriable.decide(facts)
    if len(possible) != 1:
        if code.retriable.rules:
            reason = why_undecided(code.retriable.rules, facts)
            findings.undecide("retriable/agrees", reason)
        return
    findings.exercise("retriable/agrees")
    expected = possible[0]
    verdict = "retriable" if expected else "not retriable"
    if code.retriable.fixed is None:
        verdict += " here"  # other errors with the code may differ
    for value, pointer, source in flags:
        if value is not expected:
            findings.add_at(
                "retriable/agrees",
                pointer,
                f"is {findings.show(value, pointer)}; `{code.name}` is {verdict}, expected "
                f"{findings.show(expected, pointer)}",
                source=source if source.statements else code.source,
            )


def judge_actions(findings: FindingCollector, error: ErrorReading, code: Code) -> None:
    """Check that actions are the code's, all of them if its list is exact, and that a retriable
    error ``sends_again``.
    """
    suggested, sending = error.value("actions"), findings.contract.taxonomy.retry_actions
    if code.exact_actions and (suggested is None or isinstance(suggested, list)):
        _judge_dropped_actions(findings, error, code, suggested or [])
    if not isinstance(suggested, list):
        return
    if code.limits_actions:
        findings.exercise("actions/agree")
    for index, action in enumerate(suggested if code.limits_actions else ()):
        pointer = child(error.where["actions"], index)
        known = action in code.actions
        repeated = known and code.exact_actions and action in suggested[:index]
        if (known and not repeated) or findings.has(("envelope/types",), pointer):
            continue
        allowed = f"allows {one_of(code.actions)}" if code.actions else "suggests no action"
        findings.add_at(
            "actions/agree",
            pointer,
            f"repeats {findings.show(action, pointer)}"
            if repeated
            else f"is {findings.show(action, pointer)}; `{code.name}` {allowed}",
            source=code.source,
        )
    flag = next((flag for flag in _retry_flags(findings, error) if flag[0] is True), None)
    if not sending or flag is None:
        return
    findings.exercise("actions/agree")
    if not any(action in sending for action in suggested):
        findings.add(
            "actions/agree",
            f"{quote_pointer(flag[1])} is true, but no suggested action sends the request again; "
            f"expected {one_of(sending)}",
            pointer=error.where["actions"],
            source=findings.contract.taxonomy.actions[sending[0]].source,
        )


def _judge_dropped_actions(
    findings: FindingCollector, error: ErrorReading, code: Code, suggested: Sequence[object]
) -> None:
    """Check that an error suggests every action of a code with an exact list."""
    place = slot_place(error, "actions")
    if place is None:
        return
    findings.exercise("actions/agree")
    dropped = [action for action in code.actions if action not in suggested]
    if dropped and not findings.has(("envelope/shape",), place):
        findings.add_at(
            "actions/agree",
            place,
            f"lacks {', '.join(map(show, dropped))}; `{code.name}` suggests exactly "
            f"{', '.join(map(show, code.actions))}",
            source=code.source,
        )


def slot_place(error: ErrorReading, slot: str) -> str | None:
    """The pointer of a slot, present or not; None if the shape does not have it. In a list, the
    item with the code has it.
    """
    if slot in error.where:
        return error.where[slot]
    places = slot_places(error.envelope.shape)
    if slot not in places:
        return None
    if "code" not in places:
        return error.at + places[slot][0].path
    wanted, code = places[slot][0].path.split("/"), error.where["code"].split("/")
    for place in places["code"]:
        drawn = place.path.split("/")
        above = len(code) - len(drawn) + 1
        if above < 1:
            continue
        # The shape draws every item of a list as item 0.
        found = code[above:]
        if all(key in (real, "0") for real, key in zip(found, drawn[1:], strict=False)):
            shared = next(
                (n for n, (a, b) in enumerate(zip(drawn, wanted, strict=False)) if a != b),
                len(wanted),
            )
            return "/".join([*code[:above], *found[: shared - 1], *wanted[shared:]])
    return None


def _retry_flags(
    findings: FindingCollector, error: ErrorReading
) -> Iterator[tuple[object, str, Source]]:
    """The retry flags in the envelope and its details, each with its place and source."""
    # A flag inside a string has no schema of its own.
    if "retriable" in error.slots and "retriable" in findings.contract.slots[error.envelope.name]:
        source = (error.envelope.fields.get("retriable") or error.envelope).source
        yield error.slots["retriable"], error.where["retriable"], source
    details = error.value("details")
    if isinstance(details, dict):
        for key in findings.contract.taxonomy.detail_keys.values():
            if key.role == "retriable" and key.name in details:
                yield details[key.name], child(error.where["details"], key.name), key.source

"""Lint rules about the examples of codes."""

from collections.abc import Iterable, Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.conditions import ConditionFacts
from faultspec.language.model import Code, Envelope, Example, HeaderRule
from faultspec.lint.places import envelopes_of, http_surfaces_of
from faultspec.lint.rule import Remark, Subject, rule
from faultspec.lint.rules.headers import REQUEST_ONLY
from faultspec.runtime.nodes import slot_places


@rule("example-missing", severity="warning")
def example_missing(subject: Subject) -> Iterator[Remark]:
    """Every live code has an example: readers copy it, and the compiler checks it.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}

    Good::

        codes:
          failed: {summary: It failed., http: 500,
              example: {message: Something went wrong on our side}}
    """
    for path, code in subject.live_codes():
        if not code.examples:
            message = f"`{code.name}` has no example"
            yield Remark(path, message, "add `example: {message: …, details: {…}}`")


@rule("example-incomplete", severity="warning")
def example_incomplete(subject: Subject) -> Iterator[Remark]:
    """An example fills every required slot of one of its code's envelopes, except those that the
    service fills.

    Bad::

        envelopes:
          error: {shape: {code: $code, next: $next}, fields: {next: {type: array}}}
        codes:
          refused: {summary: It was refused., http: 409,
              example: {summary: There was another first.}}

    Good::

        envelopes:
          error: {shape: {code: $code, next: $next}, fields: {next: {type: array}}}
        codes:
          refused: {summary: It was refused., http: 409, example: {slots: {next: [wait]}}}
    """
    for path, code in subject.live_codes():
        envelopes = envelopes_of(subject.taxonomy, path, code)
        for where, example in subject.examples(path, code):
            missing = [_missing_slots(envelope, code, example) for envelope in envelopes]
            if missing and all(missing):
                slots = ", ".join(f"`${slot}`" for slot in min(missing, key=len))
                message = f"the example lacks {slots}, which every envelope of `{code.name}` has"
                hint = "add `slots:` (or `message:`), or make the member optional"
                yield Remark(where, message, hint)


#: Slots that the code or, for the request id, the request fills.
_FILLED = frozenset(
    {
        "code",
        "summary",
        "status",
        "domain",
        "boundary",
        "actions",
        "details",
        "request_id",
    }
)


def _missing_slots(envelope: Envelope, code: Code, example: Example) -> list[str]:
    known = {*_FILLED, *example.slots}
    known |= {slot for slot, terms in code.facts.items() if len(terms) == 1}
    known |= {slot for slot, field in envelope.fields.items() if field.echo}
    if code.message or example.message:
        known.add("message")
    if not code.retriable.answer_decides:
        known.add("retriable")
    return [
        slot
        for slot, places in slot_places(envelope.shape).items()
        if slot not in known and any(place.required for place in places)
    ]


@rule("example-without-header", severity="warning")
def example_without_header(subject: Subject) -> Iterator[Remark]:
    """An example shows the headers that its code requires; an example with `headers` shows all
    required ones.

    Bad::

        codes:
          stale: {summary: It changed., http: 412, headers: {ETag: required},
              example: {message: It changed.}}

    Good::

        codes:
          stale: {summary: It changed., http: 412, headers: {ETag: required},
              example: {headers: {ETag: '"7"'}}}
    """
    for path, code in subject.live_codes():
        for where, example in subject.examples(path, code):
            status = example.status or code.http.default
            # An example is an answer of one of the surfaces.
            surfaces = http_surfaces_of(subject.taxonomy, path, code)
            found = (subject.taxonomy.header_rules(code, status, surface) for surface in surfaces)
            if "headers" not in subject.mapping_at(*where):
                found = (tuple(rule for rule in rules if rule in code.headers) for rules in found)
            missing = min((_missing_headers(example, rules) for rules in found), key=len)
            if missing:
                message = (
                    f"the example lacks {', '.join(missing)}, which every `{code.name}` answer has"
                )
                hint = "add it under `headers:` of the example, or do not require it"
                yield Remark(where, message, hint)


def _missing_headers(example: Example, rules: Iterable[HeaderRule]) -> list[str]:
    """The required headers that an example lacks, as code."""
    # The last rule for a header decides. `request-header` reports those of requests.
    decisive = {header.name.lower(): header for header in rules}
    shown = {name.lower() for name in example.headers}
    return [
        f"`{header.name}`"
        for name, header in decisive.items()
        if header.presence == "required" and not header.equals and not header.constant
        if name not in shown and name not in REQUEST_ONLY
    ]


@rule("example-contradicts-flag", severity="error", local=True)
def example_contradicts_flag(subject: Subject) -> Iterator[Remark]:
    """The retry flag of an example is the flag of its code.

    Bad::

        detail_keys:
          retryable: {type: boolean, role: retriable, everywhere: true}
        codes:
          refused:
            summary: It was refused.
            http: 400
            retriable: false
            example: {details: {retryable: true}}

    Good::

        detail_keys:
          retryable: {type: boolean, role: retriable, everywhere: true}
        codes:
          refused:
            summary: It was refused.
            http: 400
            retriable: false
            example: {details: {retryable: false}}
    """
    for path, code in subject.codes():
        for where, example in subject.examples(path, code):
            details = example.details or {}
            facts = ConditionFacts(status=example.status, details=details)
            flags = code.retriable.decide(facts)
            if len(flags) != 1:
                continue
            (expected,) = flags
            shown: list[tuple[Path, object]] = [
                ((*where, "slots", "retriable"), example.slots.get("retriable"))
            ]
            for key in subject.taxonomy.flag_keys:
                shown.append(((*where, "details", key), details.get(key)))
            condition = "" if code.retriable.fixed is not None else " with these details"
            for place, flag in shown:
                if isinstance(flag, bool) and flag is not expected:
                    message = (
                        f"the flag of the example is {str(flag).lower()}, but `{code.name}` is"
                        f" {'retriable' if expected else 'not retriable'}{condition}"
                    )
                    hint = "change the example, or make the code `retriable: caller`"
                    yield Remark(place, message, hint, on_key=False)

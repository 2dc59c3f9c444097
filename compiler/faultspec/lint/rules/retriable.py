"""Lint rules about the retry flag: whether it agrees with statuses, actions and effects."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.conditions import ConditionFacts
from faultspec.language.model import Code
from faultspec.lint.places import envelopes_of, may_have_detail, slots_of
from faultspec.lint.rule import Remark, Subject, rule


@rule("action-contradicts-flag", severity="error", local=True)
def action_contradicts_flag(subject: Subject) -> Iterator[Remark]:
    """Clients retry a code that is always retriable, and do not retry a code that never is.

    Bad::

        codes:
          busy: {summary: Too much to do., http: 503, retriable: false, client_action: retry}

    Good::

        codes:
          busy: {summary: Too much to do., http: 503, retriable: true, client_action: retry}
    """
    for path, code in subject.codes():
        if code.retriable.fixed is False and code.retryable:
            message = f"`{code.name}` is not retriable, but its client action is `retry`"
        elif code.retriable.fixed and not code.retryable:
            message = f"`{code.name}` is retriable, but its client action is `{code.client_action}`"
        else:
            continue
        hint = "change one of them; `retriable: caller` leaves the flag to the service"
        yield Remark(subject.first_written(path, "client_action", "retriable"), message, hint)


@rule("retry-unsafe", severity="warning")
def retry_unsafe(subject: Subject) -> Iterator[Remark]:
    """If an error may have taken effect, clients retry it only if an idempotency key or an
    idempotent operation makes that safe.

    Bad::

        codes:
          timeout: {summary: It took too long., http: 504, retriable: true, effect: unknown}

    Good::

        idempotency: {key: Idempotency-Key, window: 24h}
        codes:
          timeout: {summary: It took too long., http: 504, retriable: true, effect: unknown}
    """
    taxonomy = subject.taxonomy
    keys = taxonomy.idempotency or taxonomy.upstream
    default = keys.default if keys is not None else "not_idempotent"
    # Keys of callers make repeats safe unless the rule denies it; those upstream if it says so.
    if default is None and taxonomy.idempotency is not None:
        default = "idempotent"
    if default != "idempotent":
        for name, code in taxonomy.codes.items():
            if code.live and _is_unsafe(code):
                message = (
                    f"`{name}` may have taken effect and is retried, but no key makes that safe"
                )
                hint = (
                    "declare `idempotency:`, make `retriable` depend on `operation.idempotent`, or"
                    " write `effect: none`"
                )
                path: Path = ("codes", name)
                yield Remark(subject.first_written(path, "effect", "retriable"), message, hint)
    for operation in taxonomy.operations.values():
        for name, code in operation.errors.items() if operation.idempotent is False else ():
            if _is_unsafe(code):
                path = ("operations", operation.name, "errors", name)
                message = (
                    f"`{name}` may have taken effect and is retried, but `{operation.name}` is not"
                    " idempotent"
                )
                hint = "make `retriable` depend on `operation.idempotent`, or write `effect: none`"
                where = subject.first_written(path, "retriable", "client_action")
                yield Remark(where, message, hint)


def _is_unsafe(code: Code) -> bool:
    if not code.retryable or code.effect == "none":
        return False
    # A flag that is false for every operation that is not idempotent spares writes.
    return code.retriable.decide(ConditionFacts(idempotent=False)) != (False,)


#: 4xx after which the same request may succeed: 408 (RFC 9110, section 15.5.9), 425 (RFC 8470,
#: section 5.2) and 429 (RFC 6585, section 4).
_TEMPORARY = (408, 425, 429)


@rule("retriable-status", severity="warning")
def retriable_status(subject: Subject) -> Iterator[Remark]:
    """The flag agrees with the HTTP status: a 429 can be retried, other 4xx except 408 and 425
    cannot.

    Bad::

        codes:
          limited: {summary: Too many requests., http: 429, retriable: false}

    Good::

        codes:
          limited: {summary: Too many requests., http: 429, retriable: true}
    """
    for path, code in subject.live_codes():
        final = [
            str(span)
            for span in code.http.statuses
            if 400 <= span.low < 500 and span.low not in _TEMPORARY
        ]
        if code.http.allows(429) and code.retriable.fixed is False:
            message = f"`{code.name}` is not retriable, but 429 asks clients to come back later"
            hint = "make it retriable, or use 403 for a limit that never lifts"
        elif code.retriable.fixed and final:
            message = (
                f"`{code.name}` is retriable, but {', '.join(final)} rejects the request itself"
            )
            hint = "use 408, 429 or 503, or `client_action: refetch` with `retriable: caller`"
        else:
            continue
        where = subject.first_written(path, "retriable", "client_action", "http")
        yield Remark(where, message, hint)


#: gRPC statuses after which the same call fails again until something changes. Only UNAVAILABLE
#: says that clients should simply repeat the call (grpc/grpc, doc/statuscodes.md).
_FINAL_ON_GRPC = (
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "FAILED_PRECONDITION",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


@rule("retriable-grpc-status", severity="warning")
def retriable_grpc_status(subject: Subject) -> Iterator[Remark]:
    """The flag agrees with the gRPC status: UNAVAILABLE can be retried, INVALID_ARGUMENT and
    similar statuses cannot.

    Bad::

        codes:
          away: {summary: Nobody is there., http: 503, on: {grpc: UNAVAILABLE}, retriable: false}

    Good::

        codes:
          away: {summary: Nobody is there., http: 503, on: {grpc: UNAVAILABLE}, retriable: true}
    """
    for path, code in subject.live_codes():
        if code.grpc == "UNAVAILABLE" and code.retriable.fixed is False:
            message = f"`{code.name}` is not retriable, but UNAVAILABLE asks for another attempt"
            hint = "make it retriable, or use INTERNAL or FAILED_PRECONDITION"
        elif code.grpc in _FINAL_ON_GRPC and code.retriable.fixed:
            message = f"`{code.name}` is retriable, but {code.grpc} means that the call fails again"
            hint = "use UNAVAILABLE, ABORTED or RESOURCE_EXHAUSTED, or write `retriable: false`"
        else:
            continue
        where = subject.first_written(path, "retriable", "client_action", "on")
        yield Remark(where, message, hint)


@rule("retriable-without-else", severity="warning")
def retriable_without_else(subject: Subject) -> Iterator[Remark]:
    """A flag with conditions has an `else`.

    Bad::

        codes:
          upstream: {summary: Another service failed., http: 502,
              retriable: {when: [{if: {status: 502}, then: true}]}}

    Good::

        codes:
          upstream: {summary: Another service failed., http: 502,
              retriable: {when: [{if: {status: 502}, then: true}], else: false}}
    """
    for path, code in subject.codes():
        written = subject.mapping_at(*path, "retriable")
        if written.get("when") and "else" not in written:
            message = f"`{code.name}` has no flag if no condition holds"
            yield Remark((*path, "retriable"), message, "add `else: true` or `else: false`")


@rule("retriable-without-action", severity="error")
def retriable_without_action(subject: Subject) -> Iterator[Remark]:
    """If actions declare `sends_again`, a code that may be retriable suggests such an action.

    Bad::

        actions:
          retry: {summary: Run it again., sends_again: true}
          settings: Open the settings.
        codes:
          away: {summary: Nobody is there., http: 503, retriable: true, actions: [settings]}
          refused: {summary: It was refused., http: 400, retriable: false, actions: [retry]}

    Good::

        actions:
          retry: {summary: Run it again., sends_again: true}
          settings: Open the settings.
        codes:
          away: {summary: Nobody is there., http: 503, retriable: true, actions: [retry, settings]}
    """
    again = subject.taxonomy.retry_actions
    places = [
        *subject.live_codes(),
        *(((*path[:2], "codes", path[3]), code) for path, code in subject.taxonomy.variants()),
    ]
    for path, code in places if again else ():
        if path[0] == "operations" and "actions" not in subject.mapping_at(*path):
            continue  # those of the shared code, which are reported there
        if not (code.retriable.may_be_retried and code.limits_actions):
            continue
        if not {*code.actions} & {*again, code.retriable.until}:
            message = f"`{code.name}` may be retriable, but none of its actions sends again"
            hint = f"add {' or '.join(f'`{action}`' for action in again)}"
            yield Remark((*path, "actions"), message, hint)


@rule("flag-without-place", severity="warning")
def flag_without_place(subject: Subject) -> Iterator[Remark]:
    """A flag that each answer decides (`retriable: caller`) has a place in an envelope of its code.

    Bad::

        codes:
          busy: {summary: Too much to do., http: 503, retriable: caller}

    Good::

        envelopes:
          error: {shape: {code: $code, retry: $retriable}}
        codes:
          busy: {summary: Too much to do., http: 503, retriable: caller}
    """
    taxonomy = subject.taxonomy
    for path, code in subject.live_codes():
        if not code.retriable.answer_decides:
            continue
        slots = slots_of(envelopes_of(taxonomy, path, code))
        in_details = "details" in slots and any(
            may_have_detail(taxonomy, code, key) for key in taxonomy.flag_keys
        )
        if "retriable" not in slots and not in_details:
            message = (
                f"each answer decides whether `{code.name}` is retriable, but none of its envelopes"
                " has a place for the flag"
            )
            hint = (
                "add `$retriable` to an envelope or a detail with `role: retriable` to the code, or"
                " write the flag here"
            )
            yield Remark((*path, "retriable"), message, hint, on_key=False)


@rule("unknown-contradicts-flag", severity="error")
def unknown_contradicts_flag(subject: Subject) -> Iterator[Remark]:
    """An unknown or undeclared error is not retriable if the code that it becomes never is.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, retriable: false}
        unknown: {becomes: failed, retriable: true}

    Good::

        codes:
          failed: {summary: It failed., http: 500, retriable: false}
        unknown: {becomes: failed, retriable: false}
    """
    taxonomy = subject.taxonomy
    for section, becomes in (("unknown", taxonomy.unknown), ("undeclared", taxonomy.undeclared)):
        if becomes is None or not becomes.retriable:
            continue
        code = taxonomy.codes.get(becomes.becomes)
        if code is not None and code.retriable.fixed is False:
            errors = f"{section} errors are declared retriable"
            message = f"{errors}, but `{code.name}`, which they become, is not"
            hint = "write `retriable: false`, or name another code"
            related = ((f"`{code.name}` is here", ("codes", code.name)),)
            yield Remark((section, "retriable"), message, hint, on_key=False, related=related)

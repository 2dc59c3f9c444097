"""Lint rules about idempotency keys and replays."""

from collections.abc import Iterator

from faultspec.lint.rule import Remark, Subject, rule


@rule("idempotency-left-open", severity="note")
def idempotency_left_open(subject: Subject) -> Iterator[Remark]:
    """`idempotency` names the methods that accept the key, and the code of one key with two bodies
    (or `unspecified`).

    Bad::

        idempotency: {key: Idempotency-Key, methods: [POST]}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified}
        codes:
          failed: {summary: It failed., http: 500}
    """
    for key, what in (
        ("methods", "which methods accept the key"),
        ("mismatch", "which code answers one key with two bodies"),
    ):
        if "idempotency" in subject.data and key not in subject.data["idempotency"]:
            message = f"`idempotency` does not declare {what}"
            yield Remark(("idempotency",), message, f"add `{key}:`")


@rule("mismatch-retriable", severity="error")
def mismatch_retriable(subject: Subject) -> Iterator[Remark]:
    """The code of one key with two bodies is not retriable: the same request never succeeds.

    Bad::

        idempotency: {key: Idempotency-Key, methods: [POST], mismatch: reused}
        codes:
          reused: {summary: The key came with another body., http: 409, retriable: true}

    Good::

        idempotency: {key: Idempotency-Key, methods: [POST], mismatch: reused}
        codes:
          reused: {summary: The key came with another body., http: 409, retriable: false}
    """
    idempotency = subject.taxonomy.idempotency
    code = subject.taxonomy.codes.get((idempotency.mismatch if idempotency else None) or "")
    if code is not None and (code.retriable.fixed or code.retryable):
        message = (
            f"`{code.name}` is retriable, but the same body with the same key is refused every time"
        )
        hint = "name a code that is not retriable, or give the mismatch its own code"
        related = ((f"`{code.name}` is here", ("codes", code.name)),)
        yield Remark(("idempotency", "mismatch"), message, hint, on_key=False, related=related)


@rule("replay-echo", severity="note")
def replay_echo(subject: Subject) -> Iterator[Remark]:
    """If replays have equal bodies, the body contains no id that differs from request to request.

    Bad::

        envelopes:
          error:
            shape: {code: $code, request_id: $request_id}
            fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id,
                invalid_inbound: replace}}
        idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified,
            replay: {equal: [status, body]}}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        envelopes:
          error:
            shape: {code: $code, request_id: $request_id}
            fields: {request_id: {type: string, format: uuid7, echo: X-Request-Id,
                invalid_inbound: replace}}
        idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified,
            replay: {equal: [status]}}
        codes:
          failed: {summary: It failed., http: 500}
    """
    if "body" not in subject.mapping_at("idempotency", "replay").get("equal", ()):
        return
    for envelope in subject.taxonomy.envelopes.values():
        for slot, field in envelope.fields.items():
            if field.echo is not None:
                message = (
                    f"a replay has an equal body, but `${slot}` in it is the `{field.echo}` of each"
                    " request"
                )
                hint = "add a ruling that says which of the two holds if the ids differ"
                related = (
                    (f"`${slot}` is echoed here", ("envelopes", envelope.name, "fields", slot)),
                )
                yield Remark(("idempotency", "replay", "equal"), message, hint, related=related)

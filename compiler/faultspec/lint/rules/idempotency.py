"""Lint rules about idempotency keys and replays."""

import re
from collections.abc import Iterator

from faultspec.language.grammar import Path, closest
from faultspec.language.model import Idempotency, Match, Operation, Surface, Taxonomy
from faultspec.language.routes import compile_route
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


@rule("key-parameter-missing", severity="error")
def key_parameter_missing(subject: Subject) -> Iterator[Remark]:
    """If the key is in the path, some route has its placeholder. Routes with `*` may have any.

    Bad::

        surfaces:
          api: {transport: http, match: {routes: ["PUT /payments/{id}"]},
              error_when: {status: [4xx, 5xx]}, envelope: error}
        idempotency: {key: {path: key}, methods: [PUT], mismatch: unspecified}
        codes:
          failed: {summary: It failed., http: 500}

    Good::

        surfaces:
          api: {transport: http, match: {routes: ["PUT /payments/{key}"]},
              error_when: {status: [4xx, 5xx]}, envelope: error}
        idempotency: {key: {path: key}, methods: [PUT], mismatch: unspecified}
        codes:
          failed: {summary: It failed., http: 500}
    """
    for path, keys, matches in _declared_places(subject.taxonomy):
        routes = [route for match in matches for route in match.routes if _takes_key(route, keys)]
        names = tuple(dict.fromkeys(name for route in routes for name in _placeholders(route)))
        open_ended = not routes or any("*" in route for route in routes)
        if keys.key.kind == "path" and not open_ended and keys.key.at not in names:
            methods = ", ".join(keys.methods)
            message = f"no route of {methods} has the placeholder `{{{keys.key.at}}}`"
            hint = closest(keys.key.at, names) or "put the key into a route, or name its place"
            yield Remark(path, message, hint, on_key=False)


@rule("operation-without-key", severity="warning")
def operation_without_key(subject: Subject) -> Iterator[Remark]:
    """If the key is in the path, the routes of a write that is declared idempotent have it, since
    the write is repeated under no other key.

    Bad::

        operations:
          pay: {match: {routes: ["POST /payments"]}, idempotent: true,
              errors: {failed: {summary: It failed., http: 500, retriable: true}}}
        idempotency: {key: {path: key}, methods: [POST], mismatch: unspecified}
        codes:
          lost: {summary: It is lost., http: 503}

    Good::

        operations:
          pay: {match: {routes: ["POST /payments/{key}"]}, idempotent: true,
              errors: {failed: {summary: It failed., http: 500, retriable: true}}}
        idempotency: {key: {path: key}, methods: [POST], mismatch: unspecified}
        codes:
          lost: {summary: It is lost., http: 503}
    """
    for operation in subject.taxonomy.operations.values():
        rule = subject.taxonomy.key_rule(_surface_of(subject.taxonomy, operation), operation)
        if rule is None or rule.key.kind != "path":
            continue
        routes = [route for route in operation.match.routes if _takes_key(route, rule)]
        bare = [
            route
            for route in routes
            if "*" not in route and rule.key.at not in _placeholders(route)
        ]
        # PUT and DELETE have one effect however often they are sent (RFC 9110 section 9.2.2).
        writes = [route for route in bare if route.partition(" ")[0] in ("POST", "PATCH")]
        if operation.idempotent and writes:
            message = (
                f"`{operation.name}` is declared idempotent, but `{writes[0]}` has no"
                f" `{{{rule.key.at}}}`, which is the key"
            )
            hint = (
                "put the key into the route, write `idempotent: false`, or give the operation the"
                " place of its own key (`idempotency_key`)"
            )
            path: Path = ("operations", operation.name, "idempotent")
            yield Remark(path, message, hint, on_key=False)


@rule("unused-key-place", severity="warning")
def unused_key_place(subject: Subject) -> Iterator[Remark]:
    """A place of the key of an operation or a surface is one that some request has: `idempotency`
    is declared, and a route takes one of its methods.

    Bad::

        operations:
          pay: {match: {routes: ["PUT /payments/{id}"]}, idempotency_key: {body: /token},
              errors: {failed: {summary: It failed., http: 500}}}
        idempotency: {key: Idempotency-Key, methods: [POST], mismatch: unspecified}
        codes:
          lost: {summary: It is lost., http: 503}

    Good::

        operations:
          pay: {match: {routes: ["PUT /payments/{id}"]}, idempotency_key: {body: /token},
              errors: {failed: {summary: It failed., http: 500}}}
        idempotency: {key: Idempotency-Key, methods: [POST, PUT], mismatch: unspecified}
        codes:
          lost: {summary: It is lost., http: 503}
    """
    taxonomy = subject.taxonomy
    for holder, _ in taxonomy.own_key_places():
        section = "surfaces" if isinstance(holder, Surface) else "operations"
        path: Path = (section, holder.name, "idempotency_key")
        rule = taxonomy.idempotency
        if rule is None:
            message = f"`{holder.name}` has the place of a key, but there is no `idempotency`"
            yield Remark(path, message, "add `idempotency:` with the rule about keys, or remove it")
        elif not _takes_keys(holder.match, rule):
            methods = ", ".join(rule.methods)
            what = "route" if holder.match.routes else "request"
            message = f"no {what} of `{holder.name}` has a method that accepts the key ({methods})"
            yield Remark(path, message, "add its method to `idempotency.methods`, or remove it")


def _declared_places(
    taxonomy: Taxonomy,
) -> Iterator[tuple[Path, Idempotency, tuple[Match, ...]]]:
    """Each declared place of the key as a rule, with its path and the matches of its requests."""
    general = taxonomy.idempotency
    if general is None:
        return
    surfaces, operations = taxonomy.surfaces.values(), taxonomy.operations.values()
    rest = [each.match for each in surfaces if each.key is None]
    rest += [each.match for each in operations if each.key is None]
    yield ("idempotency", "key"), general, tuple(rest)
    for holder, place in taxonomy.own_key_places():
        section = "surfaces" if isinstance(holder, Surface) else "operations"
        matches = [holder.match]
        if isinstance(holder, Surface):  # routes of its operations, too
            matches += [each.match for each in taxonomy.operations.values() if each.key is None]
        path: Path = (section, holder.name, "idempotency_key")
        yield path, general._replace(key=place), tuple(matches)


def _surface_of(taxonomy: Taxonomy, operation: Operation) -> Surface | None:
    """The first surface over HTTP that has a route of the operation."""
    if not operation.match.routes:
        return None
    method, _, path = operation.match.routes[0].rpartition(" ")
    return next(
        (
            surface
            for surface in taxonomy.surfaces.values()
            if surface.transport == "http"
            and (
                not surface.match.routes
                or any(
                    compile_route(route).claims(method.upper(), (path,))
                    for route in surface.match.routes
                )
            )
        ),
        None,
    )


def _takes_key(route: str, rule: Idempotency) -> bool:
    method, _, _ = route.rpartition(" ")
    return not method or method.upper() in rule.methods


def _takes_keys(match: Match, rule: Idempotency) -> bool:
    """Whether a match claims requests with a method that accepts the key."""
    of_match = {*map(str.upper, match.methods)} or {*rule.methods}
    of_routes = (route.rpartition(" ")[0].upper() for route in match.routes or ("/**",))
    return any(
        method in rule.methods
        for own in of_routes
        for method in (of_match & {own} if own else of_match)
    )


def _placeholders(route: str) -> list[str]:
    return re.findall(r"{([^{}]*)}", route)

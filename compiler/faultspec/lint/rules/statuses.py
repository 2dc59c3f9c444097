"""Lint rules about the HTTP map: statuses, codes and fallbacks."""

from collections.abc import Iterator

from faultspec.diagnostics.model import Path
from faultspec.language.conditions import StatusRange
from faultspec.language.model import Code, Taxonomy
from faultspec.lint.places import surfaces_of
from faultspec.lint.rule import Remark, Subject, rule

#: Statuses that frameworks, servers and proxies answer without calling a handler.
_MADE_BY_FRAMEWORKS = (400, 404, 405, 406, 408, 411, 413, 414, 415, 417, 431, *range(500, 506))


@rule("unmapped-status", severity="warning")
def unmapped_status(subject: Subject) -> Iterator[Remark]:
    """Every error status that frameworks and proxies answer by themselves has a code or a fallback.

    Bad::

        codes:
          failed: {summary: It failed., http: 500}

    Good::

        fallback:
          4xx: {code: refused, reason: Whatever else a framework refuses.}
          5xx: {code: failed, reason: Whatever else a proxy answers.}
        codes:
          refused: {summary: It was refused., http: 400}
          failed: {summary: It failed., http: 500}
    """
    taxonomy = subject.taxonomy
    if not any(
        surface.transport == "http" and surface.envelopes and surface.codes is not None
        for surface in taxonomy.surfaces.values()
    ):
        return
    claimed = [span for _, code in subject.live_codes() for span in code.http.statuses]
    claimed += [fallback.on for fallback in taxonomy.fallbacks]
    missing = [
        str(status) for status in _MADE_BY_FRAMEWORKS if not any(status in span for span in claimed)
    ]
    if missing:
        statuses = ", ".join(missing)
        message = f"frameworks generate {statuses} themselves; these have no code and no fallback"
        hint = "add `fallback: {4xx: {code: …, reason: …}, 5xx: {code: …, reason: …}}`"
        yield Remark(("fallback",) if taxonomy.fallbacks else ("codes",), message, hint)


#: Statuses that frameworks and gateways answer without any detail of the request.
_BARE = (401, 404, 405, 406, 413, 415, 429, 500, 502, 503, 504)


@rule("status-without-bare-code", severity="note")
def status_without_bare_code(subject: Subject) -> Iterator[Remark]:
    """Every status that frameworks generate themselves has a code without required details, because
    a framework cannot supply details.

    Bad::

        codes:
          missing: {summary: It is not there., http: 404, details: {id: {type: string}}}

    Good::

        codes:
          missing: {summary: It is not there., http: 404, details: {id?: {type: string}}}
    """
    taxonomy = subject.taxonomy
    asking: dict[tuple[str, ...], list[str]] = {}
    for status in _BARE:
        names = taxonomy.codes_for(status)
        if names and all(_requires_details(taxonomy.codes[name]) for name in names):
            asking.setdefault(names, []).append(str(status))
    for names, statuses in asking.items():
        listed = " and ".join(f"`{name}`" for name in names)
        subjects = listed if len(names) < 3 else f"all {len(names)} codes of the status"
        message = (
            f"{subjects} {'requires' if len(names) == 1 else 'require'} details, but a framework"
            f" that generates a {', '.join(statuses)} itself cannot supply them"
        )
        hint = (
            "make them optional, add a code without details, or pass `choose` to the generated"
            " ErrorBoundary"
        )
        yield Remark(("codes", names[0]), message, hint)


def _requires_details(code: Code) -> bool:
    opaque = code.details_schema.opaque if code.details_schema is not None else None
    if opaque is not None:
        return isinstance(opaque, dict) and bool(opaque.get("required"))
    return any(member.presence == "required" for member in code.details.values())


@rule("fallback-requires-details", severity="warning")
def fallback_requires_details(subject: Subject) -> Iterator[Remark]:
    """The code of a fallback for 4xx has no required details. A framework that answers by itself
    cannot supply them, so the generated boundaries make a 500 of an unknown route.

    Bad::

        fallback:
          4xx: {code: refused, reason: Whatever else a framework refuses.}
        codes:
          refused: {summary: It was refused., http: 400, details: {field: {type: string}}}

    Good::

        fallback:
          4xx: {code: refused, reason: Whatever else a framework refuses.}
        codes:
          refused: {summary: It was refused., http: 400, details: {field?: {type: string}}}
    """
    codes = subject.taxonomy.codes
    for fallback in subject.taxonomy.fallbacks:
        code = codes.get(fallback.code) if fallback.code is not None else None
        if code is None or fallback.on.low >= 500 or not _requires_details(code):
            continue
        yield Remark(
            ("fallback",),
            f"`{code.name}` requires details, which a framework that refuses a request cannot"
            " supply: the boundary answers with a 500",
            "make them optional, or give the fallback a code without details",
        )


@rule("failure-without-error-status", severity="warning")
def failure_without_error_status(subject: Subject) -> Iterator[Remark]:
    """A failure travels as 4xx or 5xx: caches, proxies and monitoring read the status only.

    Bad::

        codes:
          failed: {summary: It failed., http: 200}

    Good::

        codes:
          failed: {summary: It failed., http: 500}
    """
    for path, code in subject.live_codes():
        wrong = [str(span) for span in code.http.statuses if span.low < 400]
        if wrong and not _is_recognised_by_body(subject.taxonomy, path, code):
            message = (
                f"`{code.name}` travels as {', '.join(wrong)}, which means success or redirection"
            )
            yield Remark((*path, "http"), message, "use a status of 400 or above", on_key=False)


def _is_recognised_by_body(taxonomy: Taxonomy, path: Path, code: Code) -> bool:
    """Whether an HTTP surface of the code recognises errors by the body, such as that of a job
    that failed.
    """
    surfaces = [
        surface
        for surface in surfaces_of(taxonomy, path, code)
        if surface.transport == "http" and surface.envelopes
    ]
    return any(surface.marks_bodies for surface in surfaces)


#: Statuses of a client's error that a service may cause: timing and load (RFC 9110, 15.5).
_SHARED_STATUSES = (408, 421, 425, 429)


@rule("fault-against-status", severity="warning")
def fault_against_status(subject: Subject) -> Iterator[Remark]:
    """The side whose fault a code is fits its status (RFC 9110, 15): 4xx the caller, 5xx the
    service or a dependency.

    Bad::

        codes:
          broken: {summary: A part is broken., http: 400, fault: service}

    Good::

        codes:
          broken: {summary: A part is broken., http: 503, fault: service}
    """
    for path, code in subject.live_codes():
        fault, status = code.support.fault, code.http.default
        if fault is None or status is None or status < 400 or status in _SHARED_STATUSES:
            continue
        if (fault == "caller") != (status < 500):
            side = "the client" if status < 500 else "the server"
            message = f"`{code.name}` is the fault of the {fault}, but {status} says: of {side}"
            yield Remark(
                subject.first_written(path, "fault", "http"),
                message,
                "use a status of 500 or above" if status < 500 else "use a status from 400 to 499",
            )


@rule("ambiguous-status", severity="note")
def ambiguous_status(subject: Subject) -> Iterator[Remark]:
    """Codes with the same status differ in more than their names.

    Bad::

        codes:
          missing: {summary: It is not there., http: 404}
          gone: {summary: It is not there any more., http: 404}

    Good::

        codes:
          missing: {summary: It is not there., http: 404}
          gone: {summary: It is not there any more., http: 410}
    """
    first_codes: dict[str, tuple[Path, Code]] = {}
    for path, code in subject.live_codes():
        if path[0] == "operations" or code.http.default is None:
            continue
        facts = (
            code.http,
            code.domain,
            code.boundaries,
            code.retriable,
            code.client_action,
            code.retry,
            code.effect,
            code.grpc,
            code.mcp,
            code.envelopes,
            code.deadline,
            code.details,
            code.details_schema,
            code.headers,
            code.actions,
            code.exact_actions,
        )
        other_path, other = first_codes.setdefault(repr(facts), (path, code))
        if other is not code:
            message = (
                f"`{code.name}` and `{other.name}` share {code.http.default} and differ only in"
                " their names"
            )
            hint = "give one of them details, an action or a domain of its own, or merge them"
            related = ((f"`{other.name}` is here", other_path),)
            yield Remark(path, message, hint, related=related)


@rule("undecided-status", severity="warning")
def undecided_status(subject: Subject) -> Iterator[Remark]:
    """Codes that share several statuses prefer different ones.

    Bad::

        codes:
          timeout: {summary: It took too long., http: 502-504}
          unavailable: {summary: Something behind is away., http: 502-504}

    Good::

        codes:
          timeout: {summary: It took too long., http: [504, 502, 503]}
          unavailable: {summary: Something behind is away., http: [503, 502, 504]}
    """
    first_codes: dict[object, tuple[Path, Code]] = {}
    for path, code in subject.live_codes():
        statuses = frozenset(code.http.allowed_statuses())
        if path[0] == "operations" or len(statuses) < 2 or code.http.rules:
            continue
        other_path, other = first_codes.setdefault((statuses, code.http.default), (path, code))
        if other is not code:
            shared = ", ".join(map(str, code.http.statuses))
            message = (
                f"`{code.name}` and `{other.name}` share {shared}, and both prefer"
                f" {code.http.default}"
            )
            hint = "put the preferred status of each first: `http: [504, 502, 503]`"
            related = ((f"`{other.name}` is here", (*other_path, "http")),)
            yield Remark((*path, "http"), message, hint, on_key=False, related=related)


@rule("unreachable-fallback", severity="warning")
def unreachable_fallback(subject: Subject) -> Iterator[Remark]:
    """A fallback covers an error status that no code and no narrower fallback claims.

    Bad::

        fallback:
          404: {code: missing, reason: Unknown routes.}
        codes:
          missing: {summary: It is not there., http: 404}

    Good::

        fallback:
          405: {code: missing, reason: Unknown methods.}
        codes:
          missing: {summary: It is not there., http: 404}
    """
    fallbacks = subject.taxonomy.fallbacks
    claimed = {
        status for _, code in subject.live_codes() for status in code.http.allowed_statuses()
    }
    for key, fallback in zip(subject.data.get("fallback", {}), fallbacks, strict=False):
        others = [other.on for other in fallbacks if other is not fallback]
        narrower = [span for span in others if span.width < fallback.on.width]
        if fallback.on.low < 400:
            message = f"{key} is not an error status"
        elif _all_claimed(fallback.on, claimed, narrower):
            message = f"codes or narrower fallbacks claim all of {key}, so this one never applies"
        elif fallback.on in others:
            message = f"{key} has two fallbacks"
        else:
            continue
        yield Remark(("fallback", key), message, "remove it")


def _all_claimed(span: StatusRange, claimed: set[int], narrower: list[StatusRange]) -> bool:
    return all(
        status in claimed or any(status in other for other in narrower)
        for status in range(span.low, span.high + 1)
    )


#: Statuses of 4xx that say nothing of the caller: the server or a dependency was too slow.
_OF_NO_CALLER = frozenset({408, 424, 429})


@rule("fault-status", severity="warning", local=True)
def fault_status(subject: Subject) -> Iterator[Remark]:
    """The class of a status names the side whose fault it is: 4xx the caller, 5xx the service.

    Bad::

        codes:
          invalid: {summary: The request is invalid., http: 500, fault: caller}

    Good::

        codes:
          invalid: {summary: The request is invalid., http: 400, fault: caller}
    """
    for path, code in subject.live_codes():
        fault = code.support.fault
        if fault is None:
            continue
        for status in code.http.allowed_statuses():
            is_caller = 400 <= status < 500
            disagrees = status >= 500 if fault == "caller" else is_caller
            if disagrees and status not in _OF_NO_CALLER:
                side = "the caller" if is_caller else "the service"
                message = f"`{code.name}` is a fault of the {fault}, and {status} blames {side}"
                hint = "choose another status, or another `fault:`"
                where = subject.first_written(path, "fault", "http")
                yield Remark(where, message, hint)
                break

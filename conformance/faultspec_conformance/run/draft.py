"""A draft of `conformance.yaml` from a service's OpenAPI document and the taxonomy.

What can be inferred is written. Comments name what is missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from faultspec.diagnostics.formats.escaping import escape_line
from faultspec.language.model import Taxonomy
from faultspec.openapi.service import Description, Scheme, ServiceOperation
from faultspec_conformance.run.draft_failures import draft_recipes, draft_upstreams
from faultspec_conformance.run.draft_logins import DraftedLogin, find_login
from faultspec_conformance.run.draft_resources import (
    draft_audit,
    draft_resources,
    select_resources,
)
from faultspec_conformance.run.draft_texts import DraftTemplate, join, quote_scalar
from faultspec_conformance.session.resources import path_of


@dataclass(frozen=True, slots=True)
class DraftedCaller:
    """The caller by whose answers a service is drafted. ``headers``: with variables in place of
    secrets. ``is_set``: the environment has those variables.
    """

    headers: tuple[tuple[str, str], ...]
    is_set: bool


#: Generated requests of a sweep by default.
_SWEPT = 300

#: Requests of the probes for an operation and for a resource, generously: a run of the orders
#: service, with ten operations and one resource, sends 138, and breaks up to 24 constraints of each
#: operation.
_OF_OPERATION, _OF_RESOURCE = 30, 40

#: Requests a second of a slow service.
_SLOW = 4


def draft(
    description: Description,
    taxonomy: Taxonomy,
    *,
    http: str,
    openapi: str | None,
    taxonomy_path: str,
    caller: DraftedCaller | None = None,
) -> str:
    """The text of the file. It has no mistakes once its variables are set. ``http``: the address,
    with variables in place of its user. ``openapi``: the place of the document; None if it is where
    services commonly publish it, or there is none. With a ``caller``, a caller of another tenant is
    a comment.
    """
    source = "its answers" if description.learned else "its OpenAPI document"
    place = "" if openapi is None else f", openapi: {quote_scalar(openapi)}"
    out = [
        f"# How `faultspec conform` judges this service. This is a draft from {source}:",
        (
            "# check the values, and complete the comments. The run changes nothing until "
            "`writes` is true."
        ),
        f"taxonomy: {quote_scalar(taxonomy_path)}",
        f"target: {{http: {quote_scalar(DraftTemplate(http))}{place}}}",
        *_paths(description),
        "",
        *_identities(description, caller),
        "",
        *draft_resources(description, taxonomy),
        "",
        *draft_recipes(description, taxonomy),
        "",
        *draft_upstreams(description, taxonomy),
        *draft_audit(description, taxonomy),
        f"limits: {_limits(description)}   # true: create, change and delete resources",
        "",
        "# waivers: waivers.yaml   # known failures, each with clause, reason, owner and expires",
    ]
    # A text of the document in a comment must not end its line.
    return "".join(f"{escape_line(line)}\n" for line in out)


def _paths(description: Description) -> Iterator[str]:
    """The paths that were learned, with the ids and queries that were seen."""
    found = [
        _example_path(operation)
        for operation in description.operations
        if description.learned and operation.method == "GET"
    ]
    written = [
        operation.name
        for operation in description.operations
        if description.learned and operation.method != "GET" and operation.body is not None
    ]
    shown = [*(path for path in found if path is not None), *written]
    if shown:
        yield "# Without an OpenAPI document, the run learns routes from answers to these paths."
        yield f"paths: [{', '.join(map(quote_scalar, shown))}]"


def _example_path(operation: ServiceOperation) -> str | None:
    """The path of a learned route with the values that were seen; None if one is missing."""
    shown = [one for one in operation.parameters if one.example is not None]
    values = {one.name: one.example for one in shown if one.where == "path"}
    if not values.keys() >= set(operation.placeholders):
        return None
    path = path_of(operation.template, values)
    query = urlencode([(one.name, str(one.example)) for one in shown if one.where == "query"])
    return f"{path}?{query}" if query else path


def _limits(description: Description) -> str:
    """Limits that a whole run keeps, by the size of the document."""
    operations = _OF_OPERATION * len(description.operations)
    needed = _SWEPT + operations + _OF_RESOURCE * len(select_resources(description))
    requests = max(400, -(-needed // 100) * 100)
    return f"{{requests: {requests}, seconds: {max(120, requests // _SLOW)}, writes: false}}"


def _identities(description: Description, caller: DraftedCaller | None) -> Iterator[str]:
    # A header is preferred: addresses with credentials are in logs.
    schemes = sorted(description.schemes, key=lambda scheme: scheme.where != "header")
    if not schemes and caller is None:
        yield (
            "# The document declares no credentials. With two callers of different tenants, "
            "concealment is tested:"
        )
        yield "# identities:"
        yield '#   first: {tenant: a, headers: {Authorization: "Bearer ${FIRST_TOKEN}"}}'
        yield '#   second: {tenant: b, headers: {Authorization: "Bearer ${SECOND_TOKEN}"}}'
        return
    login = find_login(description) if schemes and schemes[0].kind != "basic" else None
    yield (
        "# The most ordinary caller comes first. `tenant`: the real id of the tenant, which no "
        "answer may contain."
    )
    if login is not None:
        yield f"# Each caller logs in by POST {login.path}; `save` is the place of the token."
    yield "identities:"
    if caller is not None and (login is None or caller.is_set):
        headers = [(name, DraftTemplate(value)) for name, value in caller.headers]
        yield f"  first: {{tenant: a, {_write_headers(headers)}}}"
    else:
        yield from _identity(schemes[0], login, "first", "a")
    second = [*_identity(schemes[0], login, "second", "b")] if schemes else []
    if caller is None:
        yield from second
    else:
        headers = [(name, _rename_variables(value)) for name, value in caller.headers]
        second = second or [f"  second: {{tenant: b, {_write_headers(headers)}}}"]
        yield "  # with a caller of another tenant, concealment is tested:"
        yield from (f"  # {line.removeprefix('  ')}" for line in second)
    if schemes:
        yield (
            f"  # reader: {{tenant: a, scopes: [read], {_credential(schemes[0], 'reader')}}}   "
            "# a caller with fewer scopes; for roles,"
        )
        yield "  # write the operations of another role: `forbidden: [POST /path, DELETE *]`"


def _write_headers(headers: Iterable[tuple[str, str]]) -> str:
    """The key of an identity for headers."""
    shown = (f"{quote_scalar(name)}: {quote_scalar(value)}" for name, value in headers)
    return f"headers: {{{', '.join(shown)}}}"


def _rename_variables(value: str) -> DraftTemplate:
    """The value of a header with the variables of a second caller."""
    return DraftTemplate(value.replace("${", "${SECOND_"))


def _identity(scheme: Scheme, login: DraftedLogin | None, name: str, tenant: str) -> Iterator[str]:
    if login is None:
        yield f"  {name}: {{tenant: {tenant}, {_credential(scheme, name)}}}"
        return
    cookie = scheme.name if scheme.where == "cookie" else None
    yield f"  {name}:"
    yield f"    tenant: {tenant}"
    yield f"    {_carry(scheme, DraftTemplate('${token}'))}"
    yield f"    login: {login.line(name, cookie)}"


def _credential(scheme: Scheme, name: str) -> str:
    return _carry(scheme, DraftTemplate("${" + f"{name.upper()}_TOKEN" + "}"))


def _carry(scheme: Scheme, secret: DraftTemplate) -> str:
    """The key of an identity for credentials of a scheme."""
    prefix = {"bearer": "Bearer ", "basic": "Basic "}.get(scheme.kind, "")
    if scheme.where == "query":
        return f"query: {{{quote_scalar(scheme.name)}: {quote_scalar(join(prefix, secret))}}}"
    if scheme.where == "cookie":
        return _write_headers([("Cookie", join(f"{scheme.name}=", secret))])
    return _write_headers([(scheme.name, join(prefix, secret))])
